"""The waves that are replayed, and what each of their instructions waited for, as the native core takes them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavescope.analysis.trace.barriers.meetings import passages
from wavescope.analysis.trace.waits.ports import placed_waves
from wavescope.analysis.trace.waits.resolved import each_instruction
from wavescope.analysis.trace.waits.rows import class_names
from wavescope.base.once import once
from wavescope.model.trace import ThreadTrace

#: Causes of gaps, in the order of the native core (`Gap` of cpp/include/wavescope/stalls.hpp).
GAPS = ("none", "start-up", "cold instruction fetch", "instruction fetch", "dependency gap", "store drain")
#: Instructions of a part that are replayed, shared by its CUs: the first waves of each.
_MOST_INSTRUCTIONS = 300_000
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
    """What is replayed of a part of a trace, made once; waves `left_out` are not there at all."""
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
    """The first traced waves of every CU, as a trace of their own."""
    traced = part.waves.filter(pl.col("instruction_count").fill_null(0) > 0, ~pl.col("wave").is_in(list(left_out)))
    share = _MOST_INSTRUCTIONS // max(1, traced.select(pl.struct("se", "cu").n_unique()).item())
    before = (pl.col("instruction_count").cum_sum() - pl.col("instruction_count")).over("se", "cu")
    waves = traced.sort("start_cycles", "wave").filter(before <= share).sort("first_instruction")
    instructions = part.instructions
    if int(waves["instruction_count"].sum()) < instructions.height:
        instructions = instructions.filter(pl.col("wave").is_in(waves["wave"].implode()))
    first = pl.col("instruction_count").cum_sum() - pl.col("instruction_count")
    waves = waves.with_columns(first_instruction=first.cast(pl.UInt64))
    tables = {"code": part.code, "shader_engines": part.shader_engines, "waves": waves, "instructions": instructions}
    return ThreadTrace(tables, part.source)
