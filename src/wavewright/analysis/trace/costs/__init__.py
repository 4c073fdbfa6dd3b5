"""Costs of code rows, lines, kernels and loops."""
