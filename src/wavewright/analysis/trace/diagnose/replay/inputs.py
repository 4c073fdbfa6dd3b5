"""The waves that are replayed, and what each of their instructions waited for, as the native core takes them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.barriers.meetings import passages
from wavewright.analysis.trace.selection import traced_waves
from wavewright.analysis.trace.waits.ports import placed_waves
from wavewright.analysis.trace.waits.stall_rows import class_names
from wavewright.analysis.trace.waits.wait_producers import each_instruction
from wavewright.base.once import once
from wavewright.model.trace import ThreadTrace

#: Causes of gaps, in the order of the native core (`Gap` of cpp/include/wavewright/stalls.hpp).
GAPS = ("none", "start-up", "cold instruction fetch", "instruction fetch", "dependency gap", "store drain")
#: Instructions of a part that are replayed at most: those of whole CUs, or of the first waves of a larger one.
_MOST_INSTRUCTIONS = 400_000
_OTHER = 63  # last bit of a removal


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
    each, groups = each_instruction(sample, trace)
    names = class_names(groups, sample.code)
    causes = {name: number for number, name in enumerate(GAPS)}
    for name in names:
        causes.setdefault(name, min(len(causes), _OTHER))
    cause = pl.Series([causes[name] for name in names], dtype=pl.UInt8).gather(each["group"])
    executed = sample.instructions.select("time_cycles", "stall_cycles", "duration_cycles", "row", "category").to_dict()
    executed |= {"cause": cause, "gap_cause": each["gap"], "producer": each["producer"]}
    meetings = passages(sample).sort("position")
    barriers = {
        "position": meetings["position"],
        "meeting": meetings["meeting"].rank("dense").cast(pl.UInt32) - 1,
        "arrival": meetings["arrival"],
    }
    waves = placed_waves(sample).drop("wave").to_dict()
    return Prepared(executed, waves, barriers, causes, sample.instructions.height)


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
