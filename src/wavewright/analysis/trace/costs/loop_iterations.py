"""Start, duration and stall of each loop iteration in one wave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright import _core
from wavewright.analysis.code.control_flow import call_rows
from wavewright.analysis.trace.costs.loops import loop_starts
from wavewright.base.bounds import ITEM, bounded
from wavewright.errors import UsageError
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import table_spec

if TYPE_CHECKING:
    from wavewright.model.trace import ThreadTrace

LOOP_ITERATIONS = table_spec(
    "loop_iterations",
    "one iteration of a loop by one wave, in the order of loops and time",
    """
    loop          UInt32  -       | number of the loop (loops)
    entry         UInt32  -       | how often the wave had entered the loop before
    iteration     UInt32  -       | iterations since then; 0 = the first
    is_last       Boolean -       | whether the wave left the loop in it
    start_cycles  Int64   cycles  | first attempt to issue the row with which iterations start
    cycles        Int64   cycles  | to the next iteration, or to the first instruction behind the loop
    stall_cycles  Int64   cycles  | stall of the instructions in it
    """,
)


@bounded(wave=ITEM)
def loop_iterations(trace: ThreadTrace, wave: int) -> pl.DataFrame:
    """The iterations of all loops in one wave (`LOOP_ITERATIONS`); loops and iterations are those of `loops`.

    Raises
    ------
    UsageError
        When there is no such wave.
    """
    place = trace.waves.filter(pl.col("wave") == wave).select("first_instruction", "instruction_count")
    if wave < 0 or not place.height:
        raise UsageError(f"there is no wave {wave}")
    instructions = trace.instructions.slice(*place.row(0))
    spans = loop_starts(trace)
    iterations = pl.DataFrame(_core.loop_iterations(instructions, spans, _call_rows(trace)))
    starts = (
        instructions.lazy()
        .select("row", start_cycles="time_cycles")
        .join(spans.lazy().select("loop", row="start_row"), on="row")
        .sort("loop", "start_cycles", maintain_order=True)
        .with_columns(number=pl.int_range(pl.len()).over("loop"))
    )
    return (
        iterations.lazy()
        .with_columns(number=pl.int_range(pl.len()).over("loop"), is_last=pl.col("is_last") == 1)
        .with_columns(entry=((pl.col("iteration") == 0).cum_sum().over("loop") - 1).cast(pl.UInt32))
        .join(starts, on=["loop", "number"], how="left", maintain_order="left")
        .sort("loop", "number")
        .select(LOOP_ITERATIONS.names)
        .collect()
    )


@once_per_trace
def _call_rows(trace: ThreadTrace) -> pl.Series:
    return call_rows(trace.code)
