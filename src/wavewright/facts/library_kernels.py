"""Kernels of libraries and of helpers, told by their names: a program runs them, but rarely are they what is tuned.

`library_kernels.toml` has beginnings of names (of the runtime and of libraries) and phrases of helpers, such as
`["reduce", "kernel"]`: those that jhinpan/flydsl-kernel-profiling-lib leaves out when it looks for "the" kernel of a
program, but compared word by word here, so that `prefill` is no fill.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from wavewright.facts.kernel_titles import kernel_title
from wavewright.facts.loader import packaged


@dataclass(frozen=True)
class Origin:
    """Where a kernel comes from, as its name tells."""

    what: str  #: The library, such as "PyTorch (ATen)", or the word that suggests a helper, as sentences say it.
    is_certain: bool  #: The name itself belongs to a library; else only a word of it suggests a helper.


_RUNTIME = Origin("the HIP runtime", is_certain=True)
_NAMES = packaged("library_kernels.toml")
_RUNTIME_STARTS, _RUNTIME_NAMES = tuple(_NAMES["runtime"]["starts"]), frozenset(_NAMES["runtime"]["names"])

#: A word of a name in snake or camel case: fillBufferAligned2 -> fill, Buffer, Aligned, 2.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def is_runtime_kernel(name: str) -> bool:
    """Whether a kernel of this name belongs to the runtime: a capture catches it, but nobody means it.

    >>> is_runtime_kernel("__amd_rocclr_fillBufferAligned.kd"), is_runtime_kernel("gemm")
    (True, False)
    """
    return name.startswith(_RUNTIME_STARTS) or name.removesuffix(".kd") in _RUNTIME_NAMES


def origin_of(name: str) -> Origin | None:
    """Where a kernel comes from if it is not the program's; None = nothing says so.

    >>> origin_of("void at::native::elementwise_kernel<128, 4>(int)").what
    'PyTorch (ATen)'
    >>> origin_of("prefill_attention"), origin_of("fillBuffer").is_certain, origin_of("pa_decode_kernel_0")
    (None, False, None)
    """
    if is_runtime_kernel(name):
        return _RUNTIME
    title = kernel_title(name)
    for library, beginnings in _NAMES["libraries"].items():
        if title.startswith(tuple(beginnings)):
            return Origin(library, is_certain=True)
    words = [word.lower() for word in _WORD.findall(title.partition("<")[0])]
    for phrase in _NAMES["helpers"]["phrases"]:
        starts = range(len(words) - len(phrase) + 1)
        if any(words[start : start + len(phrase)] == phrase for start in starts):
            return Origin(f"a helper, as the word {' '.join(phrase)!r} in its name suggests", is_certain=False)
    return None
