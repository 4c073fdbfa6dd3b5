"""Declared data: GPUs, metrics."""
