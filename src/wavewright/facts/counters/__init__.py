"""Hardware counters: what limits kernels, which counters must agree, bytes of L2, roofs, the memory chart."""
