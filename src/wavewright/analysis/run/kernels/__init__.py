"""Dispatches of some kernels: durations, launch parameters, registers, occupancy, latency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from wavewright.analysis.run.kernels.partial import SHAPE, PartialKernels, merged_shapes, partial_kernels
from wavewright.analysis.run.kernels.theoretical_occupancy import with_occupancy
from wavewright.analysis.run.measures.intervals import share_of
from wavewright.analysis.run.measures.statistics import described, merged
from wavewright.base.bounds import BINS, ROWS, bounded
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.schema import table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavewright.model.schema import TableSpec

_SHAPE = """\
target              String   -      | gfx942, ...
workgroup_x         Int64    lanes  | size of a workgroup; null = not recorded, here and below
workgroup_y         Int64    lanes  | size of a workgroup
workgroup_z         Int64    lanes  | size of a workgroup
grid_x              Int64    lanes  | size of the grid
grid_y              Int64    lanes  | size of the grid
grid_z              Int64    lanes  | size of the grid
lds_bytes           Int64    bytes  | LDS per workgroup
scratch_bytes       Int64    bytes  | scratch memory per lane
vgpr_count          Int64    -      | vector registers
accum_vgpr_count    Int64    -      | accumulation registers
sgpr_count          Int64    -      | scalar registers
"""


@dataclass(frozen=True)
class Kernels(Answer):
    """The dispatches of the kernels in question."""

    definition: ClassVar[str] = (
        "Durations run from the start to the end of a dispatch on the GPU. Quantiles are exact up to 4,096 distinct "
        "durations of a kernel, else within 0.2 %. The launch latency runs from the start of the call that launched "
        "the dispatch to its start, waiting in the queue included. Occupancy is how many waves fit on a SIMD, from "
        "registers, LDS and workgroup size and the limits of the target."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "kernels": table_spec(
            "kernels",
            "one kernel",
            """
            name                String   -   | the kernel
            calls               Int64    -   | dispatches
            total_ns            Int64    ns  | durations added up
            share               Float64  -   | of the durations of all dispatches, of other kernels too
            mean_ns             Float64  ns  | mean duration
            stddev_ns           Float64  ns  | standard deviation of a sample; null for one call
            min_ns              Int64    ns  | shortest duration
            median_ns           Float64  ns  | half of the calls are shorter
            p95_ns              Float64  ns  | 95 % of the durations are shorter
            p99_ns              Float64  ns  | 99 % of the durations are shorter
            max_ns              Int64    ns  | longest duration
            untimed_calls       Int64    -   | dispatches without a possible duration
            latency_median_ns   Float64  ns  | launch latency; null = launches are not known
            latency_p95_ns      Float64  ns  | launch latency that 95 % stay below
            shape_count         UInt32   -   | distinct ways in which it was launched
            process_count       UInt32   -   | processes that launched it
            gpu_count           UInt32   -   | GPUs it ran on
            stream_count        UInt32   -   | streams it ran in, of all processes
            """,
        ),
        "shapes": table_spec(
            "shapes",
            "one way in which a kernel was launched",
            "name String - | the kernel\n"
            + _SHAPE
            + """
            calls               Int64    -      | dispatches
            total_ns            Int64    ns     | durations added up
            kernel_share        Float64  -      | of the time of the kernel
            mean_ns             Float64  ns     | mean duration
            min_ns              Int64    ns     | shortest duration
            max_ns              Int64    ns     | longest duration
            waves_per_simd      Int64    waves  | theoretical occupancy; null = not known
            waves_per_simd_max  Int64    waves  | most that the target holds
            bound_by            String   -      | what limits it: VGPR, LDS, SGPR, workgroup or hardware
            """,
        ),
        "histogram": table_spec(
            "histogram",
            "one range of durations of one kernel",
            """
            name                String   -   | the kernel
            from_ns             Float64  ns  | begin of the range; the next begins 1.26 times later
            calls               Int64    -   | dispatches in it
            """,
        ),
        "over_time": table_spec(
            "over_time",
            "one kernel in one time bin on one node",
            """
            name                String   -   | the kernel
            machine             String   -   | the node
            bin                 Int64    -   | number of the stretch, from the first in which any of the kernels began
            start_ns            Int64    ns  | its begin
            length_ns           Int64    ns  | its length
            calls               Int64    -   | dispatches that began in it
            mean_ns             Float64  ns  | their mean duration
            min_ns              Int64    ns  | the shortest
            max_ns              Int64    ns  | the longest
            """,
        ),
        "longest": table_spec(
            "longest",
            "one of the longest dispatches of a kernel",
            """
            name                String   -   | the kernel
            node                String   -   | host name of the node, else the file
            gpu                 Int64?   -   | GPU
            pid                 Int64?   -   | process
            rank                Int32    -   | rank; null = not known
            stream_id           Int64    -   | stream
            dispatch_id         Int64    -   | number of the dispatch in its process
            start_ns            Int64    ns  | when it began
            duration_ns         Int64    ns  | how long it took
            median_ratio        Float64  -   | times the median of the kernel
            """,
        ),
        "counters": table_spec(
            "counters",
            "one hardware counter of one kernel",
            """
            name                String   -   | the kernel
            counter             String   -   | the counter
            dispatch_count      UInt64   -   | dispatches it was measured for
            value_mean          Float64  -   | mean per dispatch, instances added up
            value_min           Float64  -   | smallest value of a dispatch
            value_max           Float64  -   | largest value of a dispatch
            """,
        ),
    }

    kernels: pl.DataFrame
    shapes: pl.DataFrame
    histogram: pl.DataFrame
    over_time: pl.DataFrame
    longest: pl.DataFrame
    counters: pl.DataFrame
    all_ns: int  #: Durations of all dispatches, of other kernels too.


def combine_kernels(partials: Sequence[PartialKernels]) -> Kernels:
    """The answer for all runs."""
    partials = partials or [partial_kernels(Run([]))]
    tables = Kernels.tables
    statistics = merged([part.durations for part in partials], ["name"])
    waits = described(merged([part.latencies for part in partials], ["name"]))
    shapes = with_occupancy(merged_shapes([part.shapes for part in partials]))
    everything = sum(part.all_ns for part in partials)
    kernels = (
        described(statistics)
        .with_columns(share=share_of(pl.col("total_ns"), pl.lit(everything)))
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
        all_ns=everything,
    )


def _users(partials: Sequence[PartialKernels]) -> pl.DataFrame:
    users = pl.concat(part.users for part in partials)
    process, gpu = pl.struct("machine", "pid"), pl.struct("machine", "gpu")
    return users.group_by("name").agg(
        process_count=process.n_unique(),
        gpu_count=gpu.n_unique(),
        stream_count=pl.struct("machine", "pid", "stream_id").n_unique(),
    )


def _shapes(shapes: pl.DataFrame, order: pl.DataFrame) -> pl.DataFrame:
    rows = shapes.join(order.select("name", "order", kernel_ns="total_ns"), on="name").with_columns(
        calls=pl.col("call_count").cast(pl.Int64),
        kernel_share=share_of(pl.col("total_ns"), pl.col("kernel_ns")),
        mean_ns=share_of(pl.col("total_ns"), pl.col("call_count")),
    )
    last = ["target", *SHAPE]
    descending = [False, True] + [False] * len(last)
    return rows.sort("order", "total_ns", *last, descending=descending, nulls_last=True).select(
        Kernels.tables["shapes"].names
    )


def _histogram(sums: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """Ten ranges per factor of ten: wide enough for a terminal, narrow enough for two humps."""
    step = (pl.col("value").clip(lower_bound=1).log10() * 10 + 1e-9).floor()
    counts = values.with_columns(step=step).group_by("group", "step").agg(calls=pl.col("count").sum())
    return counts.join(sums.select("group", "name"), on="group").with_columns(
        from_ns=pl.lit(10.0).pow(pl.col("step") / 10)
    )


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
    at = (pl.col("bin") * pl.col("width")) // pl.col("wide")
    return (
        bins.join(clocks, on="machine", nulls_equal=True)
        .group_by("name", "machine", "wide", "first", at=at)
        .agg(
            calls=pl.col("call_count").sum().cast(pl.Int64),
            total=pl.col("total_ns").sum(),
            min_ns=pl.col("min_ns").min(),
            max_ns=pl.col("max_ns").max(),
        )
        .with_columns(
            bin=pl.col("at") - pl.col("first") // pl.col("wide"),
            start_ns=pl.col("at") * pl.col("wide"),
            length_ns=pl.col("wide"),
            mean_ns=pl.col("total") / pl.col("calls"),
        )
    )


def _longest(partials: Sequence[PartialKernels], order: pl.DataFrame) -> pl.DataFrame:
    rows = pl.concat(part.longest for part in partials).join(order, on="name")
    rows = rows.sort(
        "order",
        "duration_ns",
        "node",
        "gpu",
        "pid",
        "start_ns",
        "dispatch_id",
        descending=[False, True] + [False] * 5,
        nulls_last=True,
    )
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

    Raises
    ------
    UsageError
        When `name` is not a regular expression.
    """
    return combine_kernels([partial_kernels(part, name=name, bins=bins, keep=keep) for part in run.parts])
