"""Kernels that the runtime launches by itself: a capture catches them, but nobody means them."""

from __future__ import annotations

#: Starts of names. Copies, fills, schedulers and the heap's start of the HIP and OpenCL runtime: ROCm/clr,
#: rocclr/device/blitcl.cpp and rocclr/device/rocm/rocblit.cpp.
_PREFIXES = ("__amd_rocclr_",)

#: Whole names. Constructors and destructors of global variables on the device: LLVM, AMDGPUCtorDtorLowering.cpp.
_NAMES = frozenset({"amdgcn.device.init", "amdgcn.device.fini"})


def is_runtime_kernel(name: str) -> bool:
    """Whether a kernel of this name belongs to the runtime, not to the program.

    Examples
    --------
    >>> is_runtime_kernel("__amd_rocclr_fillBufferAligned.kd"), is_runtime_kernel("gemm")
    (True, False)
    """
    return name.startswith(_PREFIXES) or name.removesuffix(".kd") in _NAMES
