"""Collectives that only one rank recorded: their apparent bandwidth, and bounds of the time that they wait.

Without the other ranks, waiting and moving data cannot be told apart. The shortest call of a kind and size shows that
the data can be moved in that time: what other calls take longer is a lower bound of waiting. What they take longer than
moving the data at the peak rate of the links is an upper bound.
"""

from __future__ import annotations

import polars as pl

from wavewright.analysis.run.collectives.collectives import bus_factor
from wavewright.errors import UsageError
from wavewright.facts.gpus import facts as gpus
from wavewright.model.run import Run

_KEY = ["kind", "collective", "group", "name", "size_bytes", "group_size"]


def link_peak(run: Run) -> float | None:
    """Bytes per second that the GPUs of a run can send to the others of their node; null = several kinds, not known."""
    agents = run.read("agents", ["kind", "product", "target"]).filter(pl.col("kind") == "GPU")
    peaks = set[int | None]()
    for product, target in agents.select("product", "target").unique().rows():
        try:
            arch = gpus.of(product or target or "")
            products = [arch.product] if product else arch.products  # a target alone may be any of its products
            peaks |= {product_facts.link_bytes_per_second_peak for product_facts in products}
        except UsageError:
            peaks.add(None)
    peak = peaks.pop() if len(peaks) == 1 else None
    return None if peak is None else float(peak)


def apparent_collectives(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per collective, size and group of calls without a partner; `rows` have `link_bytes_per_second`."""
    duration = (pl.col("end_ns") - pl.col("start_ns")).clip(lower_bound=0)
    calls = rows.filter(pl.col("meeting").is_null()).with_columns(duration=duration)
    sums = calls.group_by([*_KEY, "link_bytes_per_second"]).agg(
        process_count=pl.struct("part", "process").n_unique().cast(pl.Int64),
        calls=pl.len().cast(pl.Int64),
        total_ns=pl.col("duration").sum(),
        shortest_ns=pl.col("duration").min(),
    )
    # Without the number of ranks nothing says how much of the data each of them moves.
    factor = pl.when(pl.col("kind").is_not_null() & (pl.col("group_size") > 1)).then(bus_factor(pl.col("group_size")))
    bus_bytes = pl.col("size_bytes") * factor
    link_ns = pl.col("calls") * bus_bytes / pl.col("link_bytes_per_second") * 1e9
    # Calls of unknown size need not have moved as much as the shortest of them.
    is_sized = pl.col("size_bytes").is_not_null()
    low = pl.when(is_sized).then(pl.col("total_ns") - pl.col("calls") * pl.col("shortest_ns"))
    high = pl.when(is_sized & link_ns.is_not_null()).then(pl.max_horizontal(pl.col("total_ns") - link_ns, low))
    rate = pl.when(pl.col("total_ns") > 0).then(bus_bytes * pl.col("calls") / pl.col("total_ns") * 1e9)
    best = pl.when(pl.col("shortest_ns") > 0).then(bus_bytes / pl.col("shortest_ns") * 1e9)
    return sums.with_columns(
        bus_bytes_per_second=rate,
        bus_bytes_per_second_max=best,
        waiting_ns_min=low,
        waiting_ns_max=high.round().cast(pl.Int64),
    ).sort(-pl.col("total_ns"), *_KEY, nulls_last=True)
