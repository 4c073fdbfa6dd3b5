"""Time of a trace without a cause of waiting: waves re-timed, barriers and ports met again.

`replay` takes removals (stall classes and gaps that cost nothing, perhaps at some rows only) and tells for each of them
the cycles that the traced CUs would take. `docs/explanation/replay.md` has the rules; the native pass is
`cpp/src/waves/replay.cpp`, and `prepared` makes its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from wavewright import _core
from wavewright.analysis.trace.barriers import passages
from wavewright.analysis.trace.parts import answers
from wavewright.analysis.trace.selection import traced_waves, whole_of
from wavewright.analysis.trace.waits.stall_rows import class_names
from wavewright.analysis.trace.waits.wait_producers import each_instruction, free_wait_cycles, placed_waves, port_rules
from wavewright.base.once import once
from wavewright.facts.stall_classes import BUSY_OF, REMOVABLE_CLASSES
from wavewright.model.trace import ThreadTrace

#: Causes of gaps, in the order of the native core (`Gap` of cpp/include/wavewright/stalls.hpp).
GAPS = ("none", "start-up", "cold instruction fetch", "instruction fetch", "dependency gap", "store drain")
#: So many instructions of a part are replayed at most: those of whole CUs, or of the first waves of a larger one.
_MOST_INSTRUCTIONS = 400_000
#: The last bit of a removal, which has 64: further causes share it, so they are removed together.
_LAST_BIT = 63


@dataclass(frozen=True)
class Prepared:
    """The columns of `_core.replay`."""

    instructions: dict[str, pl.Series]
    waves: dict[str, pl.Series]
    barriers: dict[str, pl.Series]
    causes: dict[str, int]  #: Stall class or cause of gaps -> its bit in a removal.
    instruction_count: int


def prepared(part: ThreadTrace, trace: ThreadTrace, left_out: tuple[int, ...]) -> Prepared:
    """Inputs of the replay of a part of a trace, made once; waves `left_out` are not there at all."""
    ready: Prepared = once(part.answers, (prepared, left_out), lambda: _prepared(part, trace, left_out))
    return ready


def _prepared(part: ThreadTrace, trace: ThreadTrace, left_out: tuple[int, ...]) -> Prepared:
    sample = _sample(part, left_out)
    waited, groups = each_instruction(sample, trace)
    names = class_names(groups, sample.code)
    causes = {name: number for number, name in enumerate(GAPS)}
    for name in names:
        causes.setdefault(name, min(len(causes), _LAST_BIT))
    cause = pl.Series([causes[name] for name in names], dtype=pl.UInt8).gather(waited["group"])
    executed = sample.instructions.select("time_cycles", "stall_cycles", "duration_cycles", "row", "category").to_dict()
    executed |= {"cause": cause, "gap_cause": waited["gap"], "producer": waited["producer"]}
    meetings = passages(sample).sort("position")
    barriers = {
        "position": meetings["position"],
        "meeting": meetings["meeting"].rank("dense").cast(pl.UInt32) - 1,
        "arrival": meetings["arrival"],
    }
    return Prepared(executed, placed_waves(sample).drop("wave").to_dict(), barriers, causes, sample.instructions.height)


def _sample(part: ThreadTrace, left_out: tuple[int, ...]) -> ThreadTrace:
    """The traced waves of as many CUs as are replayed, as a trace of their own; of a larger CU its first waves."""
    traced = traced_waves(part).filter(~pl.col("wave").is_in(list(left_out)))
    count = pl.col("instruction_count").cast(pl.Int64)
    traced = traced.sort("se", "cu", "start_cycles", "wave").with_columns(up_to=count.cum_sum())
    fits = pl.col("up_to").max().over("se", "cu") <= _MOST_INSTRUCTIONS
    first = pl.col("up_to") - count < _MOST_INSTRUCTIONS
    waves = traced.filter(fits)
    waves = (waves if waves.height else traced.filter(first)).drop("up_to").sort("first_instruction")
    instructions = part.instructions
    if int(waves["instruction_count"].sum()) < instructions.height:
        instructions = instructions.filter(pl.col("wave").is_in(waves["wave"].implode()))
    place = pl.col("instruction_count").cum_sum() - pl.col("instruction_count")
    waves = waves.with_columns(first_instruction=place.cast(pl.UInt64))
    tables = {"code": part.code, "shader_engines": part.shader_engines, "waves": waves, "instructions": instructions}
    return ThreadTrace(tables, part.source)


@dataclass(frozen=True)
class Removal:
    """Causes that cost nothing in a replay."""

    causes: frozenset[str] = frozenset()  #: Stall classes and causes of gaps.
    rows: tuple[int, ...] = ()  #: Only at these code rows; empty = everywhere.
    keeps_latency: bool = False  #: Whether waits end as long after their producer as recorded.


@dataclass(frozen=True)
class Replayed:
    """Times of the traced CUs, added up."""

    recorded_cycles: int
    cycles: dict[Removal, int]
    #: Cause -> share of the time of the traced SIMDs in which one issues nothing while a wave of it waits for it.
    no_issue_shares: dict[str, float]
    instruction_count: int  #: Replayed instructions: of large traces those of some CUs.

    def gain_share(self, removal: Removal) -> float:
        """Share of the recorded time that a removal saves."""
        return 1 - self.cycles[removal] / self.recorded_cycles if self.recorded_cycles else 0.0


def replay(trace: ThreadTrace, removals: Sequence[Removal], *, left_out: tuple[int, ...] = ()) -> Replayed:
    """Replay the waves of a trace without each of the removals; waves `left_out` are not there at all."""
    distinct = tuple(dict.fromkeys(removals))
    parts = answers(trace, _in_part, distinct, left_out)
    recorded = sum(sum(part.recorded_cycles) for part in parts)
    cycles = {removal: sum(sum(part.cycles[number]) for part in parts) for number, removal in enumerate(distinct)}
    simd_cycles = max(1, sum(part.simd_cycles for part in parts))
    causes = {cause for part in parts for cause in part.no_issue_cycles}
    no_issue = {cause: sum(part.no_issue_cycles.get(cause, 0) for part in parts) / simd_cycles for cause in causes}
    return Replayed(recorded, cycles, no_issue, sum(part.instruction_count for part in parts))


@dataclass(frozen=True)
class _Part:
    """Replays of one part of a trace."""

    recorded_cycles: list[int]  #: Of every CU.
    cycles: list[list[int]]  #: By removal.
    no_issue_cycles: dict[str, int]  #: By cause.
    simd_cycles: int
    instruction_count: int


def _in_part(part: ThreadTrace, trace: ThreadTrace, removals: tuple[Removal, ...], left_out: tuple[int, ...]) -> _Part:
    ready = prepared(part, trace, left_out)
    rules = port_rules(whole_of(trace)[0])
    flags = [_native_removal(removal, ready.causes, rules["is_matrix"].len()) for removal in removals]
    recorded, cycles, idle, simd_cycles = _core.replay(
        ready.instructions, ready.waves, ready.barriers, rules, free_wait_cycles(trace), flags
    )
    by_cause = {name: idle[number] for name, number in ready.causes.items()}
    return _Part(recorded, cycles, by_cause, simd_cycles, ready.instruction_count)


class _NativeRemoval(NamedTuple):
    """A removal as the native core takes it (`Removal` of cpp/include/wavewright/replay.hpp)."""

    causes: int  #: A bit for each cause.
    padding_causes: int  #: Those of them that are padding: their instructions would not be there at all.
    removes_barriers: bool
    removes_ending: bool  #: Whether `s_endpgm` does not wait for stores.
    keeps_latency: bool
    rows: pl.Series | None  #: 1 for the code rows at which it holds; None = all.


def _native_removal(removal: Removal, causes: dict[str, int], row_count: int) -> _NativeRemoval:
    """`causes` are the bits of the causes that the trace has; of a class also its form with a busy port."""
    names = {name for cause in removal.causes for name in (cause, BUSY_OF.get(cause, cause))}

    def bits(of_names: set[str]) -> int:
        return sum({1 << causes[name] for name in of_names if name in causes})

    rows = None
    if removal.rows:
        rows = pl.Series(range(row_count), dtype=pl.Int64).is_in(list(removal.rows)).cast(pl.UInt8)
    ends = "barrier" in removal.causes, "store drain" in removal.causes
    return _NativeRemoval(bits(names), bits(names & REMOVABLE_CLASSES), *ends, removal.keeps_latency, rows)
