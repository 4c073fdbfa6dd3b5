"""Kernels as compiled, without a trace: live registers, loops, waits, instruction mix, what fits on a SIMD."""
