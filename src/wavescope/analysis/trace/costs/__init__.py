"""What code rows, lines, kernels and loops cost."""
