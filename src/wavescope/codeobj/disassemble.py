"""Disassembly by whoever can: LLVM's C disassembler in a child process, then llvm-objdump, then nobody.

The code comes from strangers and LLVM's AMDGPU decoder can abort on malformed words, so neither runs in this
process, and neither sees the stranger's ELF file: only the bytes of the code are handed over.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections import deque
from functools import lru_cache
from typing import TYPE_CHECKING

from wavescope.codeobj.backends import Attempt, Chunk, run_library, run_objdump
from wavescope.codeobj.elf import without_overlap
from wavescope.codeobj.listing import Listing
from wavescope.codeobj.llvm import find_tools
from wavescope.model.losses import Loss

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wavescope.codeobj.code_object import CodeObject

_MAX_LOSSES = 8
_WORD_BYTES = 4
_CACHED_LISTINGS = 8  # the runtime's own kernels come with every capture


def disassemble(code_object: CodeObject, *, ranges: Iterable[tuple[int, int]] | None = None) -> Listing:
    """Disassemble the code of a code object, all of it or only `ranges` of (ELF address, size in bytes).

    Every function begins a row of its own. Words that are no instruction are rows of `.long`. Branch operands are
    displacements in dwords, as AMD's decoder writes them. Without any disassembler the listing is empty and its
    losses say why; no input makes this raise or hang.
    """
    chunks, code = _cut(code_object, ranges)
    if not chunks:
        return Listing(b"", "none", code_object.losses)
    if code_object.target is None:
        return Listing(b"", "none", code_object.losses)
    return _disassemble(code_object.target, tuple(chunks), code, os.environ.get("WAVESCOPE_LLVM", ""))


def _cut(code_object: CodeObject, ranges: Iterable[tuple[int, int]] | None) -> tuple[list[Chunk], bytes]:
    """The code to disassemble, cut where functions start."""
    wanted = code_object.text_ranges if ranges is None else without_overlap(ranges)
    starts = [function.address for function in code_object.functions]
    pieces, chunks, total = [], [], 0
    for start, size in _intersection(code_object.text_ranges, wanted):
        inside = starts[bisect_right(starts, start) : bisect_left(starts, start + size)]
        for begin, end in zip([start, *inside], [*inside, start + size], strict=True):
            piece = code_object.bytes_at(begin, end - begin)
            if len(piece) < _WORD_BYTES:
                continue
            pieces.append(piece)
            chunks.append(Chunk(begin, total, total + len(piece)))
            total += len(piece)
    return chunks, b"".join(pieces)


def _intersection(text: Sequence[tuple[int, int]], wanted: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The parts of `wanted` inside `text`; both are (start, size), sorted and without overlap."""
    at = 0
    for start, size in wanted:
        while at < len(text) and sum(text[at]) <= start:
            at += 1
        for index in range(at, len(text)):
            text_start, text_size = text[index]
            if text_start >= start + size:
                break
            begin = max(start, text_start)
            yield begin, min(start + size, text_start + text_size) - begin


@lru_cache(maxsize=_CACHED_LISTINGS)
def _disassemble(target: str, chunks: tuple[Chunk, ...], code: bytes, _environment: str) -> Listing:
    attempt = Attempt(code, deque(chunks))
    notes, used, rejected = [], [], []
    for tool in find_tools():
        if not attempt.pending:
            break
        before = len(attempt.rows)
        result = (run_library if tool.is_library else run_objdump)(tool.path, target, attempt)
        if result.unusable:
            rejected.append(f"{tool.path}: {result.unusable}")
        notes += result.notes
        if len(attempt.rows) > before:
            used.append(result.name)
    losses = [Loss("disassembly_incomplete", detail=note) for note in notes[:_MAX_LOSSES]]
    if not used:
        return Listing(b"", "none", (*losses, Loss("no_disassembler", detail=_looked_for(rejected))))
    missing = sum(chunk.end - chunk.start for chunk in attempt.pending)
    if missing:
        first = attempt.pending[0].address
        losses.append(
            Loss("disassembly_incomplete", detail=f"{missing:,} bytes of code from {first:#x} on have no text")
        )
    attempt.rows.sort()
    return Listing(b"".join(line for _, line in attempt.rows), " + ".join(used), tuple(losses))


def _looked_for(rejected: list[str]) -> str:
    if rejected:
        return "; ".join(rejected[:3])
    named = os.environ.get("WAVESCOPE_LLVM")
    return f"WAVESCOPE_LLVM names {named}, where there is none" if named else "no libLLVM and no llvm-objdump"
