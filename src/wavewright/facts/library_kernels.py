"""Kernels of libraries and of helpers, told by their names: a program runs them, but rarely are they what is tuned.

The names are those that people leave out when they look for "the" kernel of a program (spec 4.1: the list of
jhinpan/flydsl-kernel-profiling-lib), as whole words here, so that `prefill` is no fill.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from wavewright.facts.kernel_titles import kernel_title
from wavewright.facts.runtime_kernels import is_runtime_kernel


@dataclass(frozen=True)
class Origin:
    """Where a kernel comes from, as its name tells."""

    what: str  #: As "PyTorch".
    is_certain: bool  #: The name itself belongs to a library; else only a word of it suggests a helper.


_RUNTIME = Origin("the HIP runtime", is_certain=True)

#: Namespaces and starts of names -> whose they are.
_STARTS = (
    (("at::native::", "at::cuda::", "at_cuda_detail::", "c10::"), "PyTorch (ATen)"),
    (("rocprim::", "hipcub::", "cub::", "thrust::"), "rocPRIM, hipCUB or rocThrust"),
    (("Cijk_", "Custom_Cijk_"), "rocBLAS or hipBLASLt (Tensile)"),
    (("rocblas", "hipblas"), "rocBLAS or hipBLAS"),
    (("rocsparse", "rocsolver", "rocfft", "rocrand"), "a ROCm library"),
    (("ncclDevKernel", "ncclKernel", "rcclKernel"), "RCCL"),
)

#: Words in a row, of the name without its parameters, that helpers have in their names.
_WORDS = (
    ("elementwise",),
    ("reduce", "kernel"),
    ("vectorized",),
    ("memset",),
    ("memcpy",),
    ("fill",),
    ("sort",),
    ("scan",),
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def origin_of(name: str) -> Origin | None:
    """Where a kernel comes from if it is not the program's; None = nothing says so.

    Examples
    --------
    >>> origin_of("void at::native::elementwise_kernel<128, 4>(int)").what
    'PyTorch (ATen)'
    >>> origin_of("prefill_attention"), origin_of("fillBuffer").is_certain, origin_of("pa_decode_kernel_0")
    (None, False, None)
    """
    if is_runtime_kernel(name):
        return _RUNTIME
    title = kernel_title(name)
    for starts, what in _STARTS:
        if title.startswith(starts):
            return Origin(what, is_certain=True)
    words = [word.lower() for word in _WORD.findall(_without_arguments(title))]
    for phrase in _WORDS:
        places = range(len(words) - len(phrase) + 1)
        if any(tuple(words[place : place + len(phrase)]) == phrase for place in places):
            return Origin(f"a helper, as the word {' '.join(phrase)!r} in its name suggests", is_certain=False)
    return None


def _without_arguments(title: str) -> str:
    """A name without template arguments."""
    return title.partition("<")[0]
