"""What the pipes of every SIMD issue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.analysis._pipes import PIPES, SHORT_PIPES, pipe_numbers
from wavescope.analysis.timeline import Timeline
from wavescope.analysis.tracks._instructions import kinds_of, of_waves
from wavescope.analysis.tracks._other_simd import neighbours
from wavescope.analysis.tracks._places import CATEGORY_KINDS, MATRIX, aligned, base_clock, bounds, cell_bits
from wavescope.model.answer import once_per_trace

if TYPE_CHECKING:
    import polars as pl

    from wavescope.model import ThreadTrace

__all__ = ["pipes"]

_UNIT = ("se", "simd")
_NAMES = list(PIPES)


def pipes(trace: ThreadTrace) -> Timeline:
    """From time + stall to the end of the duration, at least one base clock; items are rows of `instructions`.

    Messages and immediate instructions take one base clock. Memory instructions of the neighbour SIMD (gfx11 and later)
    join its VMEM pipe; their items lie behind those of `instructions`.
    """
    lanes = _lanes(trace)
    begin, end = bounds(trace)
    return Timeline(
        "pipes", "Utilization", "cycles", begin, end, cell_bits(trace),
        lanes=lanes, kinds=CATEGORY_KINDS, spans=lambda: _spans(trace, lanes),
    )  # fmt: skip


@once_per_trace
def _lanes(trace: ThreadTrace) -> pl.DataFrame:
    """A lane for every pipe of a SIMD to which anything was issued."""
    import polars as pl

    units = _units(trace)
    used = pl.concat([_numbers(trace, units), _neighbours(trace, units)["number"]]).drop_nulls().unique().sort()
    numbered = pl.DataFrame({"number": used}).with_columns(
        unit=(pl.col("number") // len(_NAMES)).cast(pl.UInt32),
        pipe=(pl.col("number") % len(_NAMES)).replace_strict(dict(enumerate(_NAMES)), return_dtype=pl.String),
    )
    placed = numbered.join(units, on="unit", maintain_order="left").with_row_index("lane")
    return placed.select(
        "lane",
        pl.format("SIMD {} {}", "simd", "pipe").alias("label"),
        pl.format("SE {}", "se").alias("group"),
        *_UNIT,
        "pipe",
        "number",
    )


def _units(trace: ThreadTrace) -> pl.DataFrame:
    """The SIMDs of all engines, the neighbours included."""
    import polars as pl

    traced = trace.waves.select(_UNIT)
    beside = neighbours(trace).select(_UNIT)
    return pl.concat([traced, beside]).unique().sort(_UNIT).with_row_index("unit")


def _numbers(trace: ThreadTrace, units: pl.DataFrame) -> pl.Series:
    """The number of a pipe among those of all units, of every instruction; null = it goes through none."""
    import polars as pl

    waves = trace.waves.join(units, on=_UNIT, how="left", maintain_order="left").select("wave", "unit")
    unit = of_waves(trace.instructions, waves, "unit")
    return pl.select(unit * len(_NAMES) + _pipe_of_kind(kinds_of(trace))).to_series().alias("number")


def _neighbours(trace: ThreadTrace, units: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    joined = neighbours(trace).with_row_index("record").join(units, on=_UNIT, how="left", maintain_order="left")
    number = pl.col("unit") * len(_NAMES) + pl.lit(_NAMES.index("VMEM"), pl.UInt32)
    time = aligned(trace, "time_cycles")
    length = pl.col("duration_cycles").cast(pl.Int64).clip(lower_bound=1)
    return joined.select(
        number.cast(pl.UInt32).alias("number"),
        time.alias("begin"),
        (time + length).alias("end"),
        pl.col("category").cast(pl.UInt16).alias("kind"),
        (pl.col("record").cast(pl.Int64) + trace.instructions.height).cast(pl.Int32).alias("item"),
    )


def _pipe_of_kind(kinds: pl.Series) -> pl.Series:
    import polars as pl

    table: list[int | None] = [None] * 256
    for category, pipe in pipe_numbers().items():
        table[category] = pipe
    table[MATRIX] = _NAMES.index("MATRIX")
    return pl.Series(table, dtype=pl.UInt32).gather(kinds.clip(upper_bound=255))


def _spans(trace: ThreadTrace, lanes: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    units, table, clock = _units(trace), trace.instructions, base_clock(trace)
    waves = trace.waves.select("wave", aligned(trace, "begin_cycles") - pl.col("begin_cycles"))
    kind = kinds_of(trace)
    short = [_NAMES.index(pipe) for pipe in SHORT_PIPES]
    issue = (pl.col("duration_cycles") - pl.col("stall_cycles")).clip(lower_bound=clock)
    length = pl.when(_pipe_of_kind(kind).is_in(short)).then(clock).otherwise(issue)
    own = table.select(
        _numbers(trace, units),
        begin=pl.col("time_cycles") + pl.col("stall_cycles") + of_waves(table, waves, "begin_cycles"),
        length=length.cast(pl.Int64),
        kind=kind,
        item=pl.int_range(pl.len(), dtype=pl.Int32),
    ).select("number", "begin", (pl.col("begin") + pl.col("length")).alias("end"), "kind", "item")
    spans = pl.concat([own, _neighbours(trace, units)])
    highest = units.height * len(_NAMES)
    lane_of = pl.DataFrame({"number": pl.int_range(highest, dtype=pl.UInt32, eager=True)}).join(
        lanes.select("number", "lane"), on="number", how="left", maintain_order="left"
    )["lane"]
    return spans.with_columns(lane=lane_of.gather(spans["number"]).fill_null(lanes.height)).select(
        "lane", "begin", "end", "kind", "item"
    )
