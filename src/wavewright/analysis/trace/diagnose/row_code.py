"""Code around a row, the GPU and the waves on it, for remedies: which are possible, which are done."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.common.occupancy.architecture import possible_targets
from wavewright.analysis.trace.code.accesses import ATOMIC, STORE, Access, access_of
from wavewright.analysis.trace.code.hazards import NOT_KNOWN, hazard_of
from wavewright.analysis.trace.occupancy.resident_waves import achieved
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.codeobj.registers import MODE, RowUses
from wavewright.model.trace import ThreadTrace

NARROW_BYTES = 4  #: Accesses of at most so many bytes per lane can be made wider.
_VECTOR_SPACES = ("memory", "flat", "scratch")
_FEW_INSTRUCTIONS = 8  #: A load counts as first if at most so many instructions stand before it that it does not need.
_FARTHEST = 512  #: Only so many instructions before a load are looked at.
_ROUNDS = 3  #: From so many equal rounds of loads on, straight code counts as an unrolled loop.
_NO_WORK = re.compile(r"s_(wait|nop|delay_alu|barrier|branch|cbranch|clause|sleep|setprio|setreg)|\w+_load|ds_read")
_WAITS = re.compile(r"s_waitcnt.*vmcnt|s_wait_loadcnt")
#: Targets on which arguments of a kernel can be preloaded into scalar registers (LLVM 22, AMDGPUUsage).
_PRELOADING = ("gfx940", "gfx941", "gfx942", "gfx9-4-generic", "gfx950")


@dataclass(frozen=True)
class RowCode:
    """One row's view of the code; the defaults stand for what is not known."""

    hazard: str = NOT_KNOWN  #: What it separates, if it is padding.
    access_bytes: tuple[int, ...] = ()  #: Bytes per lane of the accesses that it is or waits for, each size once.
    is_first: bool = False  #: Whether the loads start as soon as their addresses are known.
    is_unrolled: bool = False  #: Whether it lies in straight code that repeats the same loads.
    waves_per_simd_max: int = 0  #: Waves at once on a SIMD; 0 = not known.
    can_preload: bool = False  #: Whether the GPU can preload arguments of kernels.

    @property
    def accesses(self) -> str:
        """The accesses by their width: `2-byte`, `dwordx4`; of any width: empty."""
        names = {4: "dword", 8: "dwordx2", 12: "dwordx3", 16: "dwordx4"}
        return " and ".join(names.get(size, f"{size}-byte") for size in self.access_bytes)


def _vector_access(text: str) -> Access | None:
    """Data that a vector load or store moves; None for any other instruction, atomics included."""
    access = access_of(text)
    return access if access and access.space in _VECTOR_SPACES and access.direction != ATOMIC else None


def is_narrow_load(text: str) -> bool:
    """True if an instruction is a vector load of at most four bytes per lane."""
    access = _vector_access(text)
    if access is None or access.direction == STORE or access.bytes_per_lane is None:
        return False
    return access.bytes_per_lane <= NARROW_BYTES


class CodeFacts:
    """Answers about single rows, from facts that are collected once."""

    def __init__(self, trace: ThreadTrace, loops: Iterable[tuple[int, int]]) -> None:
        code = trace.code.sort("row")
        self._texts: list[str] = code["text"].fill_null("").to_list()
        self._uses = RowUses(code)
        self._unrolled = _unrolled(self._texts, list(loops))
        function = pl.col("function").fill_null("")
        is_start = (function != function.shift(1)).fill_null(value=True)
        self._starts: list[int] = code.filter(is_start)["row"].to_list() if "function" in code.columns else []
        waves = resident_waves(trace)
        waves = waves if waves.height else trace.waves  # without occupancy events those of the traced CUs
        self._waves_per_simd_max = achieved(waves).waves_per_simd_max if waves.height else 0
        targets = possible_targets(trace)
        self._can_preload = bool(targets) and all(facts.target in _PRELOADING for facts in targets)

    def of_row(self, row: int, producers: Sequence[int] = ()) -> RowCode:
        """Facts about a row that waits for some producers."""
        texts = [self._texts[at] for at in (row, *producers) if 0 <= at < len(self._texts)]
        accesses = [access for access in map(_vector_access, texts) if access is not None]
        sizes = sorted({access.bytes_per_lane for access in accesses if access.bytes_per_lane is not None})
        loads = [at for at in producers if 0 <= at < min(row, len(self._texts))]
        return RowCode(
            hazard=hazard_of(self._texts, self._uses, row),
            access_bytes=tuple(sizes),
            is_first=bool(loads) and self._is_first(min(loads)),
            is_unrolled=any(first <= row <= last for first, last in self._unrolled),
            waves_per_simd_max=self._waves_per_simd_max,
            can_preload=self._can_preload,
        )

    def _is_first(self, load: int) -> bool:
        """True if hardly an instruction stands between the start of the function and a load that it does not need."""
        start = self._starts[max(0, bisect_right(self._starts, load) - 1)] if self._starts else 0
        needed, spare = set(self._uses[load].reads - {MODE}), 0
        for at in range(load - 1, max(start, load - _FARTHEST) - 1, -1):
            text = self._texts[at]
            uses = self._uses[at]
            if uses.writes & needed:
                needed |= uses.reads - {MODE}
            elif text and not _NO_WORK.match(text):
                spare += 1
                if spare > _FEW_INSTRUCTIONS:
                    return False
        return True


def _unrolled(texts: Sequence[str], loops: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Parts of the code outside of loops that load the same way round after round, each waiting for its loads."""
    rounds: list[tuple[tuple[str, ...], int]] = []  # the loads of a round, and where it ends
    loads: list[str] = []
    for row, text in enumerate(texts):
        if any(first <= row <= last for first, last in loops):
            continue
        access = _vector_access(text)
        if access is not None and access.direction != STORE:
            loads.append(text.split(" ", 1)[0])
        elif loads and _WAITS.match(text):
            rounds.append((tuple(sorted(set(loads))), row))
            loads = []
    repeated = {sign for sign, count in Counter(sign for sign, _ in rounds).items() if count >= _ROUNDS}
    ends = [row for sign, row in rounds if sign in repeated]
    return [(min(ends), max(ends))] if ends else []
