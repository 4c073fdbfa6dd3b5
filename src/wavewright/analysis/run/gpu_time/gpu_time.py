"""Where the time of GPUs went: computing, communicating, copying, or nothing."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.run.collectives.collectives import is_collective
from wavewright.analysis.run.measures.intervals import combinations, in_order, intervals, merged
from wavewright.analysis.run.select.gpus import GPU_KEY, gpu_work, index_gpus
from wavewright.analysis.run.select.identities import PROCESS, processes_of
from wavewright.model.run import Run
from wavewright.model.schema import packaged_spec

_COMPUTE, _COMMUNICATE, _COPY = 1, 2, 4
_LARGEST = (1 << 63) - 1
CLASSES = ("computation_ns", "communication_ns", "copy_ns")  #: No nanosecond of a GPU is in two of them.
GPU_TIMES = packaged_spec(__package__, "gpu_times")


def gpu_times(run: Run) -> pl.DataFrame:
    """The time of each GPU of each process by what it did: see `GPU_TIMES`."""
    gpu_index = index_gpus(run)
    work = gpu_work(run, gpu_index, ["name"])
    names = work.select(pl.col("name").unique()).filter(is_collective("name").fill_null(value=False)).to_series()
    communicates = pl.col("name").is_in(names.implode())
    kind = pl.when("is_copy").then(_COPY).when(communicates).then(_COMMUNICATE).otherwise(_COMPUTE)
    by = ["place", "process"]
    timed = intervals(work.select(*by, "start_ns", "end_ns", kind=kind.cast(pl.UInt8)), by)
    stretches = combinations(merged(in_order(timed, [*by, "kind"]), [*by, "kind"]), by, "kind")
    members = pl.col("members")
    is_class = (members & _COMPUTE != 0, (members & _COMPUTE == 0) & (members & _COMMUNICATE != 0), members == _COPY)
    sums = [
        pl.col("length_ns").filter(condition).sum().cast(pl.Int64).alias(name)
        for name, condition in zip(CLASSES, is_class, strict=True)
    ]
    return (
        stretches.group_by(by)
        .agg(sums)
        .join(gpu_index.table.select("place", *GPU_KEY), on="place")
        .join(processes_of(run), on="process", how="left")
        .sort(*by)
        .select(pl.col(name).cast(dtype) for name, dtype in GPU_TIMES.dtypes.items())
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
