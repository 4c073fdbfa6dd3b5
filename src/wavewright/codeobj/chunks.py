"""Code cut into pieces that each start with an instruction: where functions start, each with its wave size."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.elf import without_overlap
from wavewright.codeobj.targets import family_of

WORD_BYTES = 4  #: No instruction is shorter.
_EITHER_SIZE = ("gfx10", "gfx11", "gfx12")  # families whose waves have 32 or 64 lanes; gfx1250 has 32 only


class Chunk(NamedTuple):
    """Code at an ELF address, [start, end) in some bytes; its first byte starts an instruction."""

    address: int
    start: int
    end: int
    wave64: bool


def cut(code_object: CodeObject, ranges: Iterable[tuple[int, int]] | None = None) -> tuple[list[Chunk], bytes]:
    """Chunks by address and their bytes, of all code of a code object or of `ranges` of (ELF address, bytes)."""
    code_ranges = code_object.text_ranges if ranges is None else without_overlap(ranges)
    starts = [function.address for function in code_object.functions]
    is_wave64 = wave64_of(code_object)
    pieces: list[bytes] = []
    chunks: list[Chunk] = []
    total = 0
    for start, size in _intersection(code_object.text_ranges, code_ranges):
        piece = code_object.bytes_at(start, size)
        end = start + len(piece)
        inside = starts[bisect_right(starts, start) : bisect_left(starts, end)]
        for begin, behind in pairwise([start, *inside, end]):
            if behind - begin >= WORD_BYTES:
                offset = total - start
                chunks.append(Chunk(begin, offset + begin, offset + behind, is_wave64(begin)))
        pieces.append(piece)
        total += len(piece)
    return chunks, b"".join(pieces)


def wave64_of(code_object: CodeObject) -> Callable[[int], bool]:
    """A function that tells if the code at an ELF address is of waves with 64 lanes.

    Kernels are what their descriptors say. A function that is no kernel has 64 lanes where all kernels of its code
    object have, and 32 otherwise: who calls it is not known, and 32 is what compilers choose from gfx10 on.
    """
    family = family_of(code_object.target or "")
    if family not in _EITHER_SIZE:
        return lambda _: family != "gfx1250"
    kernels = {kernel.address: kernel.wave_size == 64 for kernel in code_object.kernels if kernel.wave_size}
    others = bool(kernels) and all(kernels.values())

    def is_wave64(address: int) -> bool:
        function = code_object.function_at(address)
        return kernels.get(function.address if function else None, others)

    return is_wave64


def _intersection(text: Sequence[tuple[int, int]], ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The parts of `ranges` inside `text`; both are (start, size), sorted and without overlap."""
    at = 0
    for start, size in ranges:
        while at < len(text) and sum(text[at]) <= start:
            at += 1
        for index in range(at, len(text)):
            text_start, text_size = text[index]
            if text_start >= start + size:
                break
            begin = max(start, text_start)
            yield begin, min(start + size, text_start + text_size) - begin
