"""Names of kernels that people can read and tell apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wavescope.codeobj.names import demangle_all

if TYPE_CHECKING:
    from collections.abc import Iterable

_MANGLED = re.compile(r"_Z[A-Z0-9]")
_PART = re.compile(r"(\d{1,3})([A-Za-z_]\w*)")
_NO_WORD = re.compile(r"[ST][0-9A-Z]*_|St|D[FB]\d+[_bx]|L[a-z]n?\d+E")  # references, types and numbers


def readable_names(names: Iterable[str]) -> dict[str, str]:
    """Recorded name -> demangled name; of a name that no demangler reads, the words that are in it.

    Examples
    --------
    >>> readable_names(["_Z5saxpyfPKfPf.kd", "gemm"])
    {'_Z5saxpyfPKfPf.kd': 'saxpy(float, float const*, float*)', 'gemm': 'gemm'}
    >>> readable_names(["_ZN4vllm4mulkIN3c104HalfETnPFT_RKS3_EXadL_ZNS_4siluIS2_EES3_S5_EEEEvPS3_i"]).popitem()[1]
    'vllm::mulk<c10::Half, silu>'
    """
    return {name: _spelled_out(text) if _MANGLED.match(text) else text for name, text in demangle_all(names).items()}


def _spelled_out(symbol: str) -> str:
    """The words of a mangled name: the function, and in brackets the names that its arguments have."""
    head: list[str] = []
    arguments: list[str] = []
    at, end = 2, -1
    body = symbol.partition("EEv")[0]  # what follows are parameters
    while at < len(body):
        skipped = _NO_WORD.match(body, at)
        part = None if skipped else _PART.match(body, at)
        if part is None:
            is_start = not head and body[at] in "NKL"
            at = skipped.end() if skipped else at + 1
            end = at if is_start else -1 if head else end
            continue
        word = part[2][: int(part[1])]
        if part.start(2) + len(word) == len(body) == len(symbol):
            word = word.removesuffix("E")  # the end of the nested name, where the length is wrong
        if not head or (not arguments and at == end):
            head.append(word)
        elif at == end:
            arguments[-1] += f"::{word}"
        else:
            arguments.append(word)
        at = end = part.start(2) + max(1, len(word))
    return symbol if not head else "::".join(head) + (f"<{', '.join(arguments)}>" if arguments else "")
