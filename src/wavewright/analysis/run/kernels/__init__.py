"""Dispatches of some kernels of a run: durations, launch sizes, registers, occupancy, latency, counters.

`partial_kernels` reads one run, `combine_kernels` merges any number of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

import polars as pl

from wavewright.analysis.common.occupancy.limits import Resources, limits
from wavewright.analysis.common.shares import share_of
from wavewright.analysis.run.kernels.partial import SHAPE, PartialKernels, merged_shapes, partial_kernels
from wavewright.analysis.run.measures.statistics import described, merged
from wavewright.base.bounds import BINS, ROWS, bounded
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.schema import empty_frame


@dataclass(frozen=True, eq=False)
class Kernels(Answer, package=__package__):
    """The dispatches of the kernels in question."""

    kernels: pl.DataFrame
    shapes: pl.DataFrame
    histogram: pl.DataFrame
    over_time: pl.DataFrame
    longest: pl.DataFrame
    counters: pl.DataFrame
    traces: pl.DataFrame  #: Thread traces and limits by counters below the folder of the run: see `analysis.beside`.
    limits: pl.DataFrame
    all_ns: int  #: Durations of all dispatches, of other kernels too.
    unread_trace_count: int = 0  #: Traced dispatches of the folder beyond those whose kernels were looked up.


def combine_kernels(partials: Sequence[PartialKernels]) -> Kernels:
    """The answer for all runs."""
    partials = partials or [partial_kernels(Run([]))]
    tables = Kernels.tables
    statistics = merged([part.durations for part in partials], ["name"])
    waits = described(merged([part.latencies for part in partials], ["name"]))
    shapes = with_occupancy(merged_shapes([part.shapes for part in partials]))
    all_ns = sum(part.all_ns for part in partials)
    kernels = (
        described(statistics)
        .with_columns(share=share_of(pl.col("total_ns"), pl.lit(all_ns)))
        .join(waits.select("name", latency_median_ns="median_ns", latency_p95_ns="p95_ns"), on="name", how="left")
        .join(shapes.group_by("name").agg(shape_count=pl.len()), on="name", how="left")
        .join(_users(partials), on="name", how="left")
        .sort("total_ns", "name", descending=[True, False], nulls_last=True)
    )
    order = kernels.select("name", "total_ns", "median_ns").with_row_index("order")
    return Kernels(
        kernels=kernels.select(tables["kernels"].names),
        shapes=_shapes(shapes, order),
        histogram=_histogram(statistics.sums, statistics.values)
        .join(order, on="name")
        .sort("order", "from_ns")
        .select(tables["histogram"].names),
        over_time=_over_time(partials)
        .join(order.select("name", "order"), on="name")
        .sort("order", "machine", "bin")
        .select(tables["over_time"].names),
        longest=_longest(partials, order),
        counters=_counters(partials).join(order, on="name").sort("order", "counter").select(tables["counters"].names),
        traces=empty_frame(tables["traces"]),
        limits=empty_frame(tables["limits"]),
        all_ns=all_ns,
    )


def _users(partials: Sequence[PartialKernels]) -> pl.DataFrame:
    users = pl.concat(part.users for part in partials)
    process = ("machine", "pid", "rank")  # ranks in containers of one node may all have the pid 1
    return users.group_by("name").agg(
        process_count=pl.struct(process).n_unique(),
        gpu_count=pl.struct("machine", "gpu").n_unique(),
        stream_count=pl.struct(*process, "stream_id").n_unique(),
    )


def _shapes(shapes: pl.DataFrame, order: pl.DataFrame) -> pl.DataFrame:
    rows = shapes.join(order.select("name", "order", kernel_ns="total_ns"), on="name").with_columns(
        calls=pl.col("call_count").cast(pl.Int64),
        kernel_share=share_of(pl.col("total_ns"), pl.col("kernel_ns")),
        mean_ns=share_of(pl.col("total_ns"), pl.col("call_count")),
    )
    rows = rows.sort("order", -pl.col("total_ns"), "target", *SHAPE, nulls_last=True)
    return rows.select(Kernels.tables["shapes"].names)


def _histogram(sums: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """Ten ranges per factor of ten: wide enough for a terminal, narrow enough for two humps."""
    step = (pl.col("value").clip(lower_bound=1).log10() * 10 + 1e-9).floor()  # 1e-9: 1000 starts its range
    counts = values.with_columns(step=step).group_by("group", "step").agg(calls=pl.col("count").sum())
    counts = counts.join(sums.select("group", "name"), on="group")
    return counts.with_columns(from_ns=pl.lit(10.0).pow(pl.col("step") / 10))


def _over_time(partials: Sequence[PartialKernels]) -> pl.DataFrame:
    """Bins of all runs, on the widest bins, per node."""
    bins = pl.concat(part.bins for part in partials)
    count = max(part.bin_count for part in partials)
    spans = bins.group_by("machine").agg(
        first=(pl.col("bin") * pl.col("width")).min(),
        last=((pl.col("bin") + 1) * pl.col("width")).max(),
        wide=pl.col("width").max(),
    )
    widths = []
    for first, last, wide in spans.select("first", "last", "wide").iter_rows():
        while (last - 1) // wide - first // wide + 1 > max(count, 2):
            wide *= 2
        widths.append(wide)
    clocks = spans.with_columns(wide=pl.Series(widths, dtype=pl.Int64))
    wide_bin = (pl.col("bin") * pl.col("width")) // pl.col("wide")
    return (
        bins.join(clocks, on="machine", nulls_equal=True)
        .group_by("name", "machine", "wide", "first", wide_bin=wide_bin)
        .agg(
            calls=pl.col("call_count").sum().cast(pl.Int64),
            total=pl.col("total_ns").sum(),
            min_ns=pl.col("min_ns").min(),
            max_ns=pl.col("max_ns").max(),
        )
        .with_columns(
            bin=pl.col("wide_bin") - pl.col("first") // pl.col("wide"),
            start_ns=pl.col("wide_bin") * pl.col("wide"),
            length_ns=pl.col("wide"),
            mean_ns=pl.col("total") / pl.col("calls"),
        )
    )


def _longest(partials: Sequence[PartialKernels], order: pl.DataFrame) -> pl.DataFrame:
    rows = pl.concat(part.longest for part in partials).join(order, on="name")
    last = ("node", "gpu", "pid", "start_ns", "dispatch_id")
    rows = rows.sort("order", -pl.col("duration_ns"), *last, nulls_last=True)
    return (
        rows.group_by("name", maintain_order=True)
        .head(max(part.keep for part in partials))
        .with_columns(median_ratio=share_of(pl.col("duration_ns"), pl.col("median_ns")))
        .select(Kernels.tables["longest"].names)
    )


def _counters(partials: Sequence[PartialKernels]) -> pl.DataFrame:
    groups = pl.concat(part.counters for part in partials).group_by("name", "counter")
    return groups.agg(
        pl.col("dispatch_count", "value_sum").sum(), pl.col("value_min").min(), pl.col("value_max").max()
    ).with_columns(value_mean=share_of(pl.col("value_sum"), pl.col("dispatch_count")))


@bounded(bins=BINS, keep=ROWS)
def kernels(run: Run, name: str = "", *, bins: int = 60, keep: int = 20) -> Kernels:
    """The dispatches of kernels whose name contains `name`, or matches it as /regular expression/.

    Raises `UsageError` when `name` is not a regular expression.
    """
    return combine_kernels([partial_kernels(part, name=name, bins=bins, keep=keep) for part in run.parts])


def with_occupancy(shapes: pl.DataFrame) -> pl.DataFrame:
    """Ways in which kernels were launched, with `waves_per_simd`, `waves_per_simd_max` and `bound_by`.

    Null = not known: without target or vector registers, or with more than the target has.
    """
    columns = ["target", "vgpr_count", "accum_vgpr_count", "sgpr_count", "lds_bytes"]
    sizes = [f"workgroup_{axis}" for axis in "xyz"]
    limits = [_occupancy(*row) for row in shapes.select(*columns, *sizes).iter_rows()]
    schema = {"waves_per_simd": pl.Int64, "waves_per_simd_max": pl.Int64, "bound_by": pl.String}
    return shapes.hstack(pl.DataFrame(limits, schema=schema, orient="row"))


@cache
def _occupancy(
    target: str | None, vgprs: int | None, agprs: int | None, sgprs: int | None, lds: int | None, *size: int | None
) -> tuple[Any, ...]:
    """`waves_per_simd`, `waves_per_simd_max`, `bound_by` of a way of launching; `size`: sides of a workgroup."""
    if not target or not vgprs:
        return None, None, None
    sides = [max(side, 1) for side in size if side is not None]
    work_items = prod(sides) if len(sides) == len(size) else None
    try:
        facts = gpus.of(target)
        resources = Resources(vgprs=vgprs, agprs=agprs or 0, sgprs=sgprs, lds_bytes=lds, workgroup_size=work_items)
        answer = limits(facts, resources)
    except UsageError:
        return None, None, None
    return answer.waves_per_simd, facts.waves_per_simd_max, answer.bound_by
