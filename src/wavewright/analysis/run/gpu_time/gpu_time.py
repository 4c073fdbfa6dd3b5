"""Time of GPUs by what they did: computing, communicating, copying, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from wavewright.analysis.run.collectives.collectives import is_communication
from wavewright.analysis.run.measures.intervals import combinations, in_order, intervals, merged
from wavewright.analysis.run.select.gpus import GPU_KEY, gpu_work, index_gpus
from wavewright.analysis.run.select.identities import PROCESS, processes_of
from wavewright.model.run import Run
from wavewright.model.schema import packaged_spec

_COMPUTE, _COMMUNICATE, _COPY = 1, 2, 4  #: Bits of `kind`.
_LARGEST = (1 << 63) - 1  #: Times of a damaged file may be further apart than 64 bits can tell.
CLASSES = ("computation_ns", "communication_ns", "copy_ns")  #: No nanosecond of a GPU is in two of them.
GPU_TIMES = packaged_spec(__package__, "gpu_times")


def gpu_times(run: Run) -> pl.DataFrame:
    """The time of each GPU of each process by what it did: see `GPU_TIMES`."""
    gpu_index = index_gpus(run)
    by = ["place", "process"]
    work = gpu_work(run, gpu_index, ["name"])
    times = time_by_kind(intervals(work.select(*by, "start_ns", "end_ns", work_kind(work)), by), by)
    exposed = {"communication_ns": "exposed_communication_ns", "copy_ns": "exposed_copy_ns"}
    return (
        times.with_columns(**exposed)
        .join(gpu_index.table.select("place", *GPU_KEY), on="place")
        .join(processes_of(run), on="process", how="left")
        .sort(*by)
        .select(GPU_TIMES.casts)
    )


def work_kind(work: pl.DataFrame) -> pl.Expr:
    """The `kind` of work (`is_copy`, `name`) as a bit: a copy, a kernel that communicates, or one that computes."""
    kernel = pl.when(is_communication(work)).then(_COMMUNICATE).otherwise(_COMPUTE)
    return pl.when("is_copy").then(_COPY).otherwise(kernel).cast(pl.UInt8).alias("kind")


def time_by_kind(work: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Merged and exposed times of sorted work by its `kind` (`work_kind`), and of all of it: `busy_ns`."""
    kinds = [*by, "kind"]
    pieces = combinations(merged(in_order(work, kinds), kinds), by, "kind")  # `members`: bits of the kinds that run

    def time(condition: pl.Expr) -> pl.Expr:
        return pl.col("length_ns").filter(condition).sum()

    kinds_of_work = (_COMPUTE, _COMMUNICATE, _COPY)
    has_compute, has_communication, has_copy = (pl.col("members") & kind != 0 for kind in kinds_of_work)
    return pieces.group_by(by).agg(
        computation_ns=time(has_compute),
        communication_ns=time(has_communication),
        copy_ns=time(has_copy),
        exposed_communication_ns=time(has_communication & ~has_compute),
        exposed_copy_ns=time(pl.col("members") == _COPY),
        busy_ns=pl.col("length_ns").sum(),
    )


def mean_gpu_times(times: pl.DataFrame, extents: pl.DataFrame) -> dict[str, float | int | None]:
    """The mean over GPUs of each class and of `idle_ns`, until the last event of their process; and `gpu_count`.

    `extents` are those of `Events.extents`.
    """
    gpus = times.group_by(*PROCESS, *GPU_KEY).agg(pl.col(CLASSES).sum())
    ends = [pl.col("start_ns").cast(pl.Int128).min(), pl.col("end_ns").cast(pl.Int128).max()]
    spans = extents.group_by(PROCESS).agg(ends)
    placed = gpus.join(spans, on=PROCESS, how="left", nulls_equal=True).sort(*PROCESS, *GPU_KEY, nulls_last=True)
    if not placed.height:
        return dict.fromkeys((*CLASSES, "idle_ns")) | {"gpu_count": 0}
    sums = {name: int(placed[name].sum()) for name in CLASSES}
    idle = sum(
        max(min(end - start, _LARGEST) - computing - communicating - copying, 0)
        for start, end, computing, communicating, copying in placed.select("start_ns", "end_ns", *CLASSES).rows()
        if start is not None and end is not None
    )
    means = {name: total / placed.height for name, total in (*sums.items(), ("idle_ns", idle))}
    return means | {"gpu_count": placed.height}
