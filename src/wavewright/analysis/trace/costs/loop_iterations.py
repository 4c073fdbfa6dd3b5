"""Start, duration and stall of each loop iteration in one wave."""

from __future__ import annotations

import polars as pl

from wavewright import _core
from wavewright.analysis.code.control_flow import call_rows
from wavewright.analysis.trace.costs.loops import loop_starts
from wavewright.base.bounds import ITEM, bounded
from wavewright.errors import UsageError
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import packaged_spec
from wavewright.model.trace import ThreadTrace

LOOP_ITERATIONS = packaged_spec(__package__, "loop_iterations")


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
