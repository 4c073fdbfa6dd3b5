"""Costs by code row of some tracks of a timeline in a window of time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.clocks import aligned_cycles
from wavewright.analysis.trace.timeline.layers import layers
from wavewright.analysis.trace.timeline.layers.common_time import SLOT
from wavewright.errors import UsageError
from wavewright.model.answer import Answer
from wavewright.model.executions import attempt_cycles, is_execution
from wavewright.model.trace import ThreadTrace

_PIPES = "pipes"


@dataclass(frozen=True)
class AreaRows(Answer, package=__package__):
    """The instructions of some tracks in a window of time, by code row."""

    rows: pl.DataFrame
    execution_count: int
    latency_cycles_total: int
    stall_cycles_total: int
    unknown_count: int  #: Executions without a known PC.
    track_count: int


def area_rows(
    trace: ThreadTrace, layer: str, tracks: Collection[int] | None, start_cycles: int, end_cycles: int
) -> AreaRows:
    """The instructions of tracks (None = all) of a timeline (`layers`) from one aligned cycle to before another."""
    all_tracks = _tracks(trace, layer)
    chosen = all_tracks if tracks is None else all_tracks.filter(pl.col("track").is_in(list(tracks)))
    executed_rows = _executed(trace, start_cycles, end_cycles)
    items = _items(trace, layer, chosen, executed_rows)
    items = items.filter(pl.col("time") >= start_cycles, pl.col("time") < end_cycles)
    table = items.join(executed_rows.drop("time"), on="item")
    with_row = table.filter(pl.col("row") >= 0).sort("time", "item")
    duration, stall = (pl.col(name).cast(pl.Int64) for name in ("duration_cycles", "stall_cycles"))
    sums = with_row.group_by("row").agg(
        pl.col("is_execution").sum().cast(pl.Int64).alias("execution_count"),
        duration.sum().alias("latency_cycles_total"),
        stall.sum().alias("stall_cycles_total"),
        (duration.sum() - stall.sum()).alias("issue_cycles_total"),
        duration.max().alias("latency_cycles_max"),
        pl.col("item").first().cast(pl.Int64).alias("first_item"),
        pl.col("item").sort_by("duration_cycles", descending=True, maintain_order=True).first().cast(pl.Int64)
        .alias("longest_item"),
    )  # fmt: skip
    latency, stalled = int(sums["latency_cycles_total"].sum()), int(sums["stall_cycles_total"].sum())
    share = pl.col("latency_cycles_total") / (latency or 1)
    rows = (
        sums.with_columns(pl.col("row").cast(pl.Int32), latency_share=share)
        .join(trace.code.select(pl.col("row").cast(pl.Int32), "text"), on="row", how="left")
        .sort("latency_cycles_total", "row", descending=[True, False])
        .select(AreaRows.tables["rows"].names)
    )
    return AreaRows(
        rows, int(rows["execution_count"].sum()), latency, stalled, table.height - with_row.height, chosen.height
    )


def _tracks(trace: ThreadTrace, layer: str) -> pl.DataFrame:
    """The tracks of a timeline."""
    timelines = layers(trace)
    if layer == "instructions" and layer not in timelines:  # nothing was traced
        return pl.DataFrame(schema={"track": pl.UInt32, **{name: trace.waves.schema[name] for name in SLOT}})
    if layer not in timelines or (tracks := timelines[layer].tracks) is None:
        raise UsageError(f"there is no timeline {layer[:40]!r}", advice=f"timelines: {', '.join(timelines)}")
    return tracks


def _executed(trace: ThreadTrace, start_cycles: int, end_cycles: int) -> pl.DataFrame:
    """The instructions of waves that overlap a time: `item` (row of `instructions`), aligned `time`, costs, slot."""
    waves = trace.waves.filter(
        aligned_cycles(trace, "end_cycles") >= start_cycles, aligned_cycles(trace, "start_cycles") < end_cycles
    )
    first, count = pl.col("first_instruction").cast(pl.Int64), pl.col("instruction_count").cast(pl.Int64)
    of_waves = waves.filter(count > 0).select(*SLOT, item=pl.int_ranges(first, first + count)).explode("item")
    columns = ("wave", "row", "category", "time_cycles", "stall_cycles", "duration_cycles")
    rows = trace.instructions.select(*columns)[of_waves["item"]]
    rows = rows.with_columns(attempt_cycles(), is_execution=is_execution())
    return (
        of_waves.hstack(rows.drop("wave", "category"))
        .with_columns(aligned_cycles(trace, "time_cycles").alias("time"))
        .drop("time_cycles")
    )


def _items(trace: ThreadTrace, layer: str, chosen: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """`item` and `time` of the instructions of some tracks."""
    if layer == _PIPES and (spans_of := layers(trace)[layer].spans):
        spans = spans_of()
        numbered = spans if "item" in spans.columns else spans.with_row_index("item")
        issued = numbered.filter(
            pl.col("track").is_in(chosen["track"].to_list()), pl.col("item") < trace.instructions.height
        )
        return issued.select("item", time="begin")
    if not set(SLOT) <= set(chosen.columns):
        raise UsageError(f"tracks of the timeline {layer[:40]!r} have no instructions")
    return rows.join(chosen.select(SLOT).unique(), on=SLOT, how="semi", nulls_equal=True).select("item", "time")
