"""Time and tracks of all timelines of a trace: aligned cycles from the first to the last that any of them shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from wavewright import _core
from wavewright.analysis.common.time_bins import FARTHEST_CYCLES
from wavewright.analysis.common.timeline import Timeline
from wavewright.analysis.trace.clocks import aligned_cycles, engine_offsets
from wavewright.analysis.trace.pipes import base_clock
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace


def cell_bits(trace: ThreadTrace) -> int:
    """Cells of level 0 are 2 ** `cell_bits` cycles long: one base clock."""
    return base_clock(trace.gfxip).bit_length() - 1


def timeline(
    trace: ThreadTrace, name: str, title: str, tracks: pl.DataFrame, kinds: Sequence[dict[str, Any]] = (), **others: Any
) -> Timeline:
    """A timeline in aligned cycles; `others` are further fields of `Timeline`, such as its spans or its pyramid."""
    begin, end = bounds(trace)
    return Timeline(name, title, "cycles", begin, end, cell_bits(trace), tracks=tracks, kinds=tuple(kinds), **others)


@once_per_trace
def bounds(trace: ThreadTrace) -> tuple[int, int]:
    """The first and the last aligned cycle of everything that timelines show; (0, 0) when there is nothing.

    Occupancy events at cycle 0 stand for waves that started before the trace: they do not count.
    """
    begin, end, moment = (aligned_cycles(trace, name) for name in ("start_cycles", "end_cycles", "time_cycles"))
    tables = (trace.occupancy, trace.sampled_counters, trace.shader_data, trace.markers, trace.other_simd)
    spans = [
        trace.waves.select(begin=begin, end=end),
        _first_and_last_instructions(trace),
        *(
            table.filter(pl.col("time_cycles") > 0).select(begin=moment, end=moment)
            for table in (*tables, trace.events, trace.dispatches)
        ),
    ]
    outermost = pl.concat(part.select(pl.col("begin").min(), pl.col("end").max()) for part in spans).drop_nulls()
    if not outermost.height:
        return 0, 0
    return int(outermost["begin"].min()), int(outermost["end"].max())  # type: ignore[arg-type]


def _first_and_last_instructions(trace: ThreadTrace) -> pl.DataFrame:
    """Start of the first and end of the last instruction of every wave: some end after their wave."""
    behind = pl.col("first_instruction") + pl.col("instruction_count")
    waves = trace.waves.filter(pl.col("instruction_count") > 0, behind <= trace.instructions.height)
    last = waves.select(behind - 1).to_series()
    spans = waves.select(
        "se",
        begin=_at(trace, "time_cycles", waves["first_instruction"]),
        end=_at(trace, "time_cycles", last).clip(-FARTHEST_CYCLES, FARTHEST_CYCLES),
        stall=_at(trace, "stall_cycles", last),
        duration=_at(trace, "duration_cycles", last),
    )
    spans = spans.with_columns(end=pl.col("end") + pl.max_horizontal("stall", "duration").cast(pl.Int64))
    return spans.select(aligned_cycles(trace, "begin"), aligned_cycles(trace, "end"))


def _at(trace: ThreadTrace, name: str, rows: pl.Series) -> pl.Series:
    """Some values of a column of instructions; those of all waves lie on most of its pages, which are given back."""
    values = trace.instructions[name].gather(rows)
    _core.give_pages_back()
    return values


def rows_of_waves(trace: ThreadTrace, table: str) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Of each wave the offset to aligned time, and its rows in a table ("instruction" or "state"), for the core."""
    first, count = pl.col(f"first_{table}").fill_null(0), pl.col(f"{table}_count").fill_null(0)
    return engine_offsets(trace).alias("time"), first.alias("first"), count.alias("count")


SLOT = ("se", "cu", "simd", "slot")


def slot_tracks(trace: ThreadTrace, places: pl.DataFrame) -> pl.DataFrame:
    """A track for every slot that occurs among `places`, by shader engine, CU, SIMD and slot."""
    slots = places.select(SLOT).unique().sort(SLOT)
    label = pl.format("SIMD {} slot {}", "simd", "slot")
    return slots.with_row_index("track").select("track", label.alias("label"), unit_name(trace).alias("group"), *SLOT)


def track_of(tracks: pl.DataFrame, frame: pl.DataFrame, keys: Iterable[str] = SLOT) -> pl.Series:
    """The track of every row of a frame that has the columns that identify tracks."""
    keys = list(keys)
    return frame.select(keys).join(tracks.select("track", *keys), on=keys, how="left", maintain_order="left")["track"]


def unit_name(trace: ThreadTrace) -> pl.Expr:
    """The usual name of the compute unit of a row."""
    if trace.gfxip <= 9:
        return pl.format("SE {} CU {}", "se", "cu")
    return pl.format("SE {} SA {} WGP {}", "se", pl.col("cu") // 128, pl.col("cu") % 128)
