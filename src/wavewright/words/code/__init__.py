"""Kernels as compiled: words, tables and pictures."""
