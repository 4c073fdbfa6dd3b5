"""Contents of a recording: processes, their nodes and GPUs, events of each kind, and the time that they span."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.select.gpus import GPU_KEY, GpuIndex, index_gpus
from wavewright.analysis.run.select.nodes import node_names
from wavewright.model.answer import Answer, once_per_run
from wavewright.model.run import Run
from wavewright.model.schema import empty_frame

#: Table of events -> the column with its number of rows.
COUNT_COLUMNS = {
    "dispatches": "kernel_count",
    "copies": "copy_count",
    "regions": "region_count",
    "samples": "sample_count",
    "allocations": "allocation_count",
    "counters": "counter_count",
}
_GPU_TABLES = ("dispatches", "copies")  #: The first of them: work of GPUs.


@dataclass(frozen=True, eq=False)
class Recording(Answer, package=__package__):
    """Recorded processes and GPUs."""

    processes: pl.DataFrame
    gpus: pl.DataFrame


@once_per_run
def recording(run: Run) -> Recording:
    """The recorded processes and GPUs of a run."""
    return combine_recording([partial_recording(part) for part in run.parts])


def partial_recording(run: Run) -> Recording:
    """The contribution of one file; its GPUs have the columns `GPU_KEY`, which identify them in all files."""
    sources = run.read("sources")
    nodes = run.read("nodes", ["node", "hostname"])
    processes = (
        run.read("processes", ["process", "source", "node", "pid", "rank", "command"])
        .join(sources, on="source", how="left", maintain_order="left")
        .join(nodes, on="node", how="left", maintain_order="left")
        .drop("node")
        .with_columns(pl.col("hostname").replace("", None).alias("node"))
    )
    times = []
    for table, name in COUNT_COLUMNS.items():
        counts = _counted(run, table)
        processes = processes.join(
            counts.select("process", pl.col("count").alias(name)), on="process", how="left", maintain_order="left"
        ).with_columns(pl.col(name).fill_null(0))
        times.append(counts.select("process", "start_ns", "end_ns"))
    of_gpus = _extents(times[: len(_GPU_TABLES)]).rename({"start_ns": "gpu_start_ns", "end_ns": "gpu_end_ns"})
    for spans in (_extents(times), of_gpus):
        processes = processes.join(spans, on="process", how="left", maintain_order="left")
    return Recording(processes.select(Recording.tables["processes"].casts), _gpus(run, index_gpus(run)))


def combine_recording(partials: Sequence[Recording]) -> Recording:
    """The combined result of many files, in the order of the files."""
    specs = Recording.tables
    if not partials:
        return Recording(empty_frame(specs["processes"]), empty_frame(specs["gpus"]))
    processes = pl.concat(part.processes for part in partials)
    times = processes.select("start_ns", "end_ns", "rank", machine="path", is_named=pl.col("node").is_not_null())
    names = node_names([times.drop_nulls(["start_ns", "end_ns"])])
    gpus = (
        pl.concat(part.gpus for part in partials)
        .with_columns(pl.col("machine").replace(names["machine"], names["new_machine"]))
        .group_by(GPU_KEY, maintain_order=True)
        .agg(
            pl.col("node", "gpu").first(),
            pl.col("target", "product").drop_nulls().first(),
            pl.col("kernel_count").sum(),
        )
        .filter(pl.col("gpu").is_not_null() | (pl.col("kernel_count") > 0))
        .sort("node", "gpu", maintain_order=True, nulls_last=True)
    )
    return Recording(processes, gpus.select(specs["gpus"].casts))


def next_steps(path: str, answer: Recording) -> list[str]:
    """The next commands that make sense for the recording; each can be used as it is."""
    totals = {name: int(answer.processes[name].sum()) for name in COUNT_COLUMNS.values()}
    steps = []
    if totals["kernel_count"] or totals["copy_count"] or totals["region_count"]:
        steps.append(f"wavewright summary {path} shows where the time went")
    if totals["kernel_count"]:
        steps.append(f"wavewright busy {path} and wavewright gaps {path} show when the GPUs idle, and why")
    if answer.processes.height > 1 and totals["kernel_count"]:
        steps.append(f"wavewright ranks {path} compares the processes")
    if totals["counter_count"]:
        steps.append(f"wavewright counters {path} shows what the hardware counters say")
    return steps or [f"wavewright tables {path} shows what it holds"]


def _extents(times: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(times).group_by("process").agg(pl.col("start_ns").min(), pl.col("end_ns").max())


def _counted(run: Run, table: str) -> pl.DataFrame:
    """`process`, `count`, `start_ns` and `end_ns` of the rows of a table."""
    begin, end = ("time_ns", "time_ns") if table in ("samples", "counters") else ("start_ns", "end_ns")
    counts = {"count": pl.len().cast(pl.Int64), "start_ns": pl.col(begin).min(), "end_ns": pl.col(end).max()}
    pieces = [
        piece.group_by("process").agg(**counts)
        for piece in run.chunks(table, list(dict.fromkeys(("process", begin, end))))
    ]
    schema = {"process": pl.UInt32} | dict.fromkeys(counts, pl.Int64)
    by_process = pl.concat([pl.DataFrame(schema=schema), *pieces]).group_by("process")
    return by_process.agg(pl.col("count").sum(), pl.col("start_ns").min(), pl.col("end_ns").max())


def _gpus(run: Run, gpu_index: GpuIndex) -> pl.DataFrame:
    counts = [piece["agent"].value_counts() for piece in run.chunks("dispatches", ["agent"])]
    empty = pl.DataFrame(schema={"agent": pl.UInt32, "count": pl.UInt32})
    agents = run.read("agents", ["agent"]).with_columns(place=gpu_index.numbers)
    used = (
        pl.concat([empty, *counts])
        .join(agents, on="agent", how="left")
        .group_by("place")
        .agg(kernel_count=pl.col("count").cast(pl.Int64).sum())
    )
    return gpu_index.table.join(used, on="place", how="left", maintain_order="left").select(
        *GPU_KEY, "node", "gpu", "target", "product", pl.col("kernel_count").fill_null(0)
    )
