"""Instructions that each wait waits for, how far ahead they were issued, and how much earlier would be enough."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.code.attribution import located
from wavewright.analysis.trace.selection import at_rows
from wavewright.analysis.trace.waits.stall_rows import stall_rows
from wavewright.analysis.trace.waits.wait_producers import producer_kinds, resolve
from wavewright.model.answer import Answer
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class Waits(Answer, package=__package__):
    """Every executed wait row, and its producers."""

    waits: pl.DataFrame
    producers: pl.DataFrame
    stall_cycles_total: int  #: Of all waits that were asked about.
    execution_count: int
    stalled_count: int


def waits(trace: ThreadTrace, *, rows: pl.Series | None = None) -> Waits:
    """Waits and their producers; `rows` = only waits among these code rows."""
    resolved = resolve(trace)
    groups = at_rows(resolved.groups.filter(pl.col("is_wait") == 1), rows)
    classes = stall_rows(trace).filter("is_wait").unique("row", keep="first", maintain_order=True)
    total = int(groups["stall_cycles_total"].sum())
    edges = _producers(resolved.edges, _typical(resolved.samples))
    table = (
        groups.group_by("row")
        .agg(pl.col("execution_count", "stalled_count", "stall_cycles_total").sum(), pl.col("stall_cycles_max").max())
        .join(classes.select("row", "class"), on="row", how="left")
        .join(edges.group_by("row").agg(producer_count=pl.col("producer_row").n_unique()), on="row", how="left")
        .with_columns(
            pl.col("producer_count").fill_null(0).cast(pl.Int64),
            stall_share=pl.col("stall_cycles_total") / total if total else pl.lit(0.0),
            stall_cycles_mean=pl.col("stall_cycles_total") / pl.col("execution_count"),
        )
        .sort("stall_cycles_total", "row", descending=[True, False])
    )
    table = located(table, trace).select(Waits.tables["waits"].names)
    kinds = producer_kinds(trace).rename({"row": "producer_row", "kind": "producer_kind"})
    edges = located(edges, trace, row="producer_row").join(kinds, on="producer_row", how="left")
    edges = (
        edges.join(table.select("row", "execution_count").with_row_index("place"), on="row")
        .with_columns(execution_share=pl.col("count") / pl.col("execution_count"))
        .sort("place", "last_count", "count", "producer_row", descending=[False, True, True, False])
        .select(Waits.tables["producers"].names)
    )
    return Waits(
        waits=table,
        producers=edges,
        stall_cycles_total=total,
        execution_count=int(table["execution_count"].sum()),
        stalled_count=int(table["stalled_count"].sum()),
    )


def _typical(samples: pl.DataFrame) -> pl.DataFrame:
    """`row` and `typical`: the median of its tight latencies."""
    half = pl.col("count").sum() / 2
    return (
        samples.filter(pl.col("is_tight") == 1)
        .sort("row", "latency_cycles")
        .group_by("row", maintain_order=True)
        .agg(typical=pl.col("latency_cycles").filter(pl.col("count").cum_sum() >= half).first().cast(pl.Int64))
    )


def _producers(edges: pl.DataFrame, typical: pl.DataFrame) -> pl.DataFrame:
    """Edges with means and extremes of what is certain, and how much earlier or later the producer could be issued."""
    certain = pl.col("count") > 0
    statistics = {}
    for name in ("distance_cycles", "distance_instructions", "latency_cycles"):
        statistics[f"{name}_mean"] = pl.when(certain).then(pl.col(f"{name}_total") / pl.col("count"))
        statistics |= {f"{name}_{end}": pl.when(certain).then(f"{name}_{end}") for end in ("min", "max")}
    last, free = pl.col("last_count") > 0, pl.col("free_count") > 0
    mean_free = pl.col("free_distance_cycles_total") / pl.col("free_count")
    return edges.join(typical, left_on="producer_row", right_on="row", how="left", maintain_order="left").with_columns(
        **statistics,
        done_count=pl.col("free_count"),
        last_stall_cycles_mean=pl.when(last).then(pl.col("last_stall_cycles_total") / pl.col("last_count")),
        last_stall_cycles_max=pl.when(last).then("last_stall_cycles_max"),
        slack_cycles_mean=pl.when(free).then((mean_free - pl.col("typical")).clip(lower_bound=0)),
    )
