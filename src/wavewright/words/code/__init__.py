"""Kernels as compiled: words, tables and pictures for the terminal."""
