"""Tracks of the hardware, and the time that all timelines of a trace share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from wavewright import _core
from wavewright.analysis.common.time_bins import FARTHEST_CYCLES
from wavewright.analysis.trace.clocks.common_clock import engine_offsets
from wavewright.analysis.trace.pipes import matrix_rows
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import CATEGORIES, CATEGORY_MEANINGS
from wavewright.model.trace import ThreadTrace

SLOT = ("se", "cu", "simd", "slot")
_MATRIX = 15
#: Kinds of instructions: categories, and MATRIX for matrix instructions, which hardware reports as VALU.
_CATEGORY_KINDS: tuple[dict[str, Any], ...] = tuple(
    {"kind": number, "name": name, "colour": name, "meaning": CATEGORY_MEANINGS[name]}
    for number, name in {**CATEGORIES, _MATRIX: "MATRIX"}.items()
)


@once_per_trace
def category_kinds(trace: ThreadTrace) -> tuple[dict[str, Any], ...]:
    """The kinds of instructions that a trace has."""
    matrix = trace.code.filter(matrix_rows(trace.code))["row"]
    added = () if set(trace.executed.rows).isdisjoint(matrix) else (_MATRIX,)
    present = {*trace.executed.categories, *trace.other_simd["category"].unique(), *added}
    return tuple(kind for kind in _CATEGORY_KINDS if kind["kind"] in present)


def base_clock(trace: ThreadTrace) -> int:
    """Cycles of the shortest issue: 4 on gfx9, 1 later."""
    return 4 if trace.gfxip == 9 else 1


def cell_bits(trace: ThreadTrace) -> int:
    """Cells of level 0 are one base clock long."""
    return 2 if trace.gfxip == 9 else 0


def aligned(trace: ThreadTrace, column: str) -> pl.Expr:
    """The aligned cycles of a column, for a frame that also has the column `se`."""
    time = pl.col(column).cast(pl.Int64).clip(-FARTHEST_CYCLES, FARTHEST_CYCLES)
    return (time + engine_offsets(trace)).alias(column)


@once_per_trace
def bounds(trace: ThreadTrace) -> tuple[int, int]:
    """The first and the last aligned cycle of everything that timelines show; (0, 0) when there is nothing.

    Occupancy events at cycle 0 stand for waves that began before the trace: they do not count.
    """
    both = [
        trace.waves.select(aligned(trace, "start_cycles").alias("begin"), aligned(trace, "end_cycles").alias("end"))
    ]
    both.append(_outermost_instructions(trace))
    tables = (trace.occupancy, trace.sampled_counters, trace.shader_data, trace.markers, trace.other_simd)
    for table in (*tables, trace.events, trace.dispatches):
        times = table.filter(pl.col("time_cycles") > 0).select(aligned(trace, "time_cycles").alias("begin"))
        both.append(times.with_columns(end="begin"))
    outermost = pl.concat(part.select(pl.col("begin").min(), pl.col("end").max()) for part in both).drop_nulls()
    if not outermost.height:
        return 0, 0
    return int(outermost["begin"].min()), int(outermost["end"].max())  # type: ignore[arg-type]


def _outermost_instructions(trace: ThreadTrace) -> pl.DataFrame:
    """Start of the first and end of the last instruction of every wave: some end after their wave."""
    behind = pl.col("first_instruction") + pl.col("instruction_count")
    waves = trace.waves.filter(pl.col("instruction_count") > 0, behind <= trace.instructions.height)
    last = waves.select(behind - 1).to_series()
    placed = waves.select(
        "se",
        begin=_at(trace, "time_cycles", waves["first_instruction"]),
        end=_at(trace, "time_cycles", last).clip(-FARTHEST_CYCLES, FARTHEST_CYCLES),
        stall=_at(trace, "stall_cycles", last),
        duration=_at(trace, "duration_cycles", last),
    )
    placed = placed.with_columns(end=pl.col("end") + pl.max_horizontal("stall", "duration").cast(pl.Int64))
    return placed.select(aligned(trace, "begin"), aligned(trace, "end"))


def _at(trace: ThreadTrace, name: str, rows: pl.Series) -> pl.Series:
    """Some values of a column of instructions; those of all waves lie on most of its pages, which are given back."""
    values = trace.instructions[name].gather(rows)
    _core.give_pages_back()
    return values


def rows_of_waves(trace: ThreadTrace, what: str) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Time offset and range of instructions or states of each wave, as the native core takes them."""
    first, count = pl.col(f"first_{what}").fill_null(0), pl.col(f"{what}_count").fill_null(0)
    return engine_offsets(trace).alias("time"), first.alias("first"), count.alias("count")


def slot_tracks(trace: ThreadTrace, places: pl.DataFrame) -> pl.DataFrame:
    """A track for every slot that occurs among `places`, by shader engine, CU, SIMD and slot."""
    slots = places.select(SLOT).unique().sort(SLOT)
    label = pl.format("SIMD {} slot {}", "simd", "slot")
    return slots.with_row_index("track").select("track", label.alias("label"), unit_name(trace).alias("group"), *SLOT)


def track_of(tracks: pl.DataFrame, frame: pl.DataFrame, keys: Iterable[str] = SLOT) -> pl.Series:
    """The track of every row of a frame that has the columns that identify tracks."""
    keys = list(keys)
    joined = frame.select(keys).join(tracks.select("track", *keys), on=keys, how="left", maintain_order="left")
    return joined["track"]


def unit_name(trace: ThreadTrace) -> pl.Expr:
    """The usual name of the compute unit of a row."""
    if trace.gfxip <= 9:
        return pl.format("SE {} CU {}", "se", "cu")
    return pl.format("SE {} SA {} WGP {}", "se", pl.col("cu") // 128, pl.col("cu") % 128)
