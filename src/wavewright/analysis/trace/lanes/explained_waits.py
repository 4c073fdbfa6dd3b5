"""Share of a later wait that the extra LDS cycles of a row can explain: what nobody waits for is harmless."""

from __future__ import annotations

from typing import Final

import polars as pl

from wavewright.analysis.trace.waits.wait_producers import resolve
from wavewright.model.trace import ThreadTrace

#: Below this share of the stall that they could explain, extra cycles are called harmless.
HARMLESS_SHARE: Final = 0.05


def explained_stalls(trace: ThreadTrace, rows: pl.DataFrame) -> pl.DataFrame:
    """Waits for each row with extra cycles: `row`, `awaited_stall_cycles_total`, `explained_stall_share`.

    `rows` has `row` and `extra_cycles_total`. The stall is that of all waits which the row is a producer of, over all
    executions; its own extra cycles cannot have caused more of it than there are of them. Null: nothing waits for it.
    """
    conflicting = rows.filter(pl.col("extra_cycles_total") > 0).select("row", "extra_cycles_total")
    resolved = resolve(trace)
    stalls = (
        resolved.groups.filter(pl.col("is_wait") == 1)
        .group_by("row")
        .agg(pl.col("stall_cycles_total").cast(pl.Int64).sum())
        .rename({"row": "wait_row"})
    )
    edges = resolved.edges.select(wait_row="row", row="producer_row").unique()
    awaited = (
        conflicting.join(edges, on="row")
        .join(stalls, on="wait_row")
        .group_by("row")
        .agg(awaited_stall_cycles_total=pl.col("stall_cycles_total").sum())
    )
    stall = pl.col("awaited_stall_cycles_total")
    share = pl.min_horizontal("extra_cycles_total", stall) / stall
    return conflicting.join(awaited, on="row", how="left", maintain_order="left").select(
        "row", "awaited_stall_cycles_total", explained_stall_share=pl.when(stall > 0).then(share)
    )
