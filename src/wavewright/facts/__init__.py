"""Declared data: GPUs, metrics, rules, losses, layouts of files; `loader` reads it."""
