"""Overlap of the work of a run: copies and communication with computation, streams, processes, and calls with GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from wavewright.analysis.common.shares import share_of
from wavewright.analysis.run.calls.launches import region_pieces
from wavewright.analysis.run.gpu_time.gpu_time import time_by_kind, work_kind
from wavewright.analysis.run.measures.intervals import combinations, covered, in_order, intervals, merged
from wavewright.analysis.run.measures.pairs import MOST_MEMBERS, combination_levels, fill_gaps, levels, pairs, with_bits
from wavewright.analysis.run.select.gpus import GPU_KEY, GpuIndex, gpu_work, index_gpus, labelled
from wavewright.analysis.run.select.recording_span import node_spans, recorded
from wavewright.model.answer import Answer
from wavewright.model.run import Run

_GPU_WORK, _CALLS = 1, 2  #: Bits of what a process does.
#: Maximum intervals of a process in a partial result, so that thousands of ranks fit in memory.
_MOST_INTERVALS = 250_000


@dataclass(frozen=True, eq=False)
class Overlap(Answer, package=__package__):
    """Events that run at the same time."""

    gpus: pl.DataFrame
    streams: pl.DataFrame
    processes: pl.DataFrame
    levels: pl.DataFrame
    host: pl.DataFrame
    #: Idle time that `processes` and their `levels` count as busy, because a process has too many intervals.
    bridged_ns: int
    #: Streams of a GPU that `streams` compares, the busiest, where there are more; None = all are compared.
    stream_limit: int | None


@dataclass(frozen=True, eq=False, repr=False)
class PartialOverlap:
    """The contribution of one run."""

    gpus: pl.DataFrame
    streams: pl.DataFrame
    stream_levels: pl.DataFrame
    host: pl.DataFrame
    intervals: pl.DataFrame  #: When each process had work on each GPU.
    bridged_ns: int
    is_cut: bool
    recorded: pl.DataFrame  #: See `recorded`.


def partial_overlap(run: Run) -> PartialOverlap:
    """The contribution of one run."""
    gpu_index = index_gpus(run)
    work = gpu_work(run, gpu_index, ["name"])
    by = ["place", "process"]
    work = intervals(work.select(*by, "stream", "start_ns", "end_ns", work_kind(work)), by)
    named = partial(labelled, run, gpu_index)
    streams = _merged(work, [*by, "stream"])
    marked, is_cut = with_bits(streams, by, "stream")
    together = combinations(marked, by, "bit")
    merged_work = merged(work, by)
    busy, bridged_ns = fill_gaps(merged_work, by, _MOST_INTERVALS)
    ids = run.read("streams", ["stream", "stream_id"])
    return PartialOverlap(
        gpus=named(_kinds(work, by)),
        streams=named(_stream_pairs(together, marked, by, ids)),
        stream_levels=named(levels(streams, by) if is_cut else combination_levels(together, by)),
        host=_host(run, merged_work, gpu_index),
        intervals=named(busy),
        bridged_ns=bridged_ns,
        is_cut=is_cut,
        recorded=recorded(run),
    )


def _merged(work: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    return merged(in_order(work, by), by)


def _kinds(work: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """First and last work, and the times of `time_by_kind`; 0 where no work has a length."""
    spans = work.group_by(by).agg(pl.col("start_ns").min(), pl.col("end_ns").max())
    times = time_by_kind(work, by)
    return spans.join(times, on=by, how="left").with_columns(pl.col(times.columns[len(by) :]).fill_null(0))


def _stream_pairs(together: pl.DataFrame, marked: pl.DataFrame, by: list[str], ids: pl.DataFrame) -> pl.DataFrame:
    rows = pairs(together, marked, by, "stream")
    for side in ("first", "second"):
        names = {name: f"{side}_{name}" for name in ("stream", "stream_id")}
        rows = rows.join(ids.rename(names), on=f"{side}_stream", how="left")
    swapped = pl.col("first_stream_id") > pl.col("second_stream_id")
    return rows.drop("first_stream", "second_stream").with_columns(
        pl.when(swapped).then(f"{other}_{name}").otherwise(f"{side}_{name}").alias(f"{side}_{name}")
        for side, other in (("first", "second"), ("second", "first"))
        for name in ("stream_id", "busy_ns")
    )


def _host(run: Run, busy: pl.DataFrame, gpu_index: GpuIndex) -> pl.DataFrame:
    """Calls of each process against its GPU work."""
    by = ["process"]
    empty = run.read("processes", ["process", "start_ns", "end_ns"]).clear()
    pieces = region_pieces(run, empty.columns)
    calls = [empty, *(merged(intervals(piece, by), by) for piece, _ in pieces)]
    both = pl.concat(
        frame.with_columns(kind=pl.lit(bit, pl.Int64))
        for frame, bit in (
            (_merged(busy.select(empty.columns), by), _GPU_WORK),
            (_merged(pl.concat(calls), by), _CALLS),
        )
    )
    has_call = pl.col("members") & _CALLS != 0
    is_both = pl.col("members") == _CALLS + _GPU_WORK
    nodes = gpu_index.of_process.join(gpu_index.table, on="place").select("process", "machine", "node")
    times = (
        combinations(both, by, "kind")
        .group_by(by)
        .agg(
            call_ns=pl.col("length_ns").filter(has_call).sum(),
            call_hidden_ns=pl.col("length_ns").filter(is_both).sum(),
            gpu_busy_ns=pl.col("length_ns").filter(pl.col("members") & _GPU_WORK != 0).sum(),
        )
    )
    return labelled(run, gpu_index, times.join(nodes, on="process", how="left"))


def combine_overlap(partials: Sequence[PartialOverlap]) -> Overlap:
    """The combined result of all runs."""
    partials = partials or [partial_overlap(Run([]))]
    tables = Overlap.tables
    gpus = pl.concat(part.gpus for part in partials)
    spans = node_spans([part.recorded for part in partials], gpus).select("machine", "span_ns")
    hidden = pl.col("copy_ns") - pl.col("exposed_copy_ns")
    under_kernels = pl.col("communication_ns") - pl.col("exposed_communication_ns")
    gpus = gpus.join(spans, on="machine").with_columns(
        idle_ns=pl.col("span_ns") - pl.col("busy_ns"),
        busy_share=share_of(pl.col("busy_ns"), pl.col("span_ns")),
        copy_hidden_share=share_of(hidden, pl.col("copy_ns")),
        communication_hidden_share=share_of(under_kernels, pl.col("communication_ns")),
    )
    # Ranks in containers of one node may all have the pid 1.
    busy = pl.concat(part.intervals for part in partials).with_columns(who=pl.struct("pid", "rank").rank("dense"))
    bridged_ns = sum(part.bridged_ns for part in partials)
    with_work = covered(busy.sort(*GPU_KEY, "start_ns", "end_ns"), GPU_KEY)  # of any process
    gpu_busy = pl.when(pl.len().over(GPU_KEY) == 1).then("busy_ns")
    gpus = gpus.join(with_work, on=GPU_KEY, how="left", nulls_equal=True)
    gpus = gpus.with_columns(gpu_busy_ns=gpu_busy.when(bridged_ns == 0).then(pl.col("covered_ns").fill_null(0)))
    host = pl.concat(part.host for part in partials).with_columns(
        call_hidden_share=share_of(pl.col("call_hidden_ns"), pl.col("call_ns"))
    )
    streams = pl.concat(part.streams for part in partials)
    order = ["node", *GPU_KEY, "rank", "pid"]
    return Overlap(
        gpus=gpus.sort(*order, nulls_last=True).select(tables["gpus"].names),
        streams=streams.sort(
            "both_ns", *order, "first_stream_id", "second_stream_id", descending=[True] + [False] * 7
        ).select(tables["streams"].names),
        processes=_processes(busy).select(tables["processes"].names),
        levels=_levels(partials, busy).select(tables["levels"].names),
        host=host.sort("node", "machine", "rank", "pid", nulls_last=True).select(tables["host"].names),
        bridged_ns=bridged_ns,
        stream_limit=MOST_MEMBERS if any(part.is_cut for part in partials) else None,
    )


def _processes(busy: pl.DataFrame) -> pl.DataFrame:
    """Pairs of processes on one GPU."""
    by = [*GPU_KEY]
    several = busy.group_by(by).agg(pl.col("who").n_unique().alias("n")).filter(pl.col("n") > 1)
    shared = busy.join(several.select(by), on=by, how="semi", nulls_equal=True)
    marked, _ = with_bits(_merged(shared, [*by, "who"]), by, "who")
    rows = pairs(combinations(marked, by, "bit"), marked, by, "who")
    names = busy.select(*by, "node", "gpu").unique(by, keep="first", maintain_order=True)
    rows = rows.join(names, on=by, nulls_equal=True).sort("node", *by, "first_who", "second_who", nulls_last=True)
    pid = pl.col("^.*_who$").replace_strict(dict(busy.select("who", "pid").rows()), return_dtype=pl.Int64)
    return rows.with_columns(pid.name.replace("_who", "_pid"))


def _levels(partials: Sequence[PartialOverlap], busy: pl.DataFrame) -> pl.DataFrame:
    """Number of processes of a node, and streams of a GPU, that work at the same time."""
    by = ["machine"]
    nodes = busy.group_by("machine").agg(pl.col("node").min())
    processes = (
        levels(_merged(busy, [*by, "who"]), by)
        .join(nodes, on="machine")
        .with_columns(what=pl.lit("processes"), gpu=pl.lit(None, pl.Int64), gpu_key=pl.lit(None, pl.Int64))
    )
    keys = [*GPU_KEY, "node", "gpu"]
    streams = (
        pl.concat(part.stream_levels for part in partials)
        .group_by(*keys, "level")
        .agg(pl.col("length_ns").sum())
        .with_columns(what=pl.lit("streams"))
    )
    columns = [*keys, "what", "level", "length_ns"]
    both = pl.concat([processes.select(columns), streams.select(columns)])
    busy_share = share_of(pl.col("length_ns"), pl.col("length_ns").sum().over(*GPU_KEY, "what"))
    return both.with_columns(busy_share=busy_share).sort("what", "node", *GPU_KEY, "level", nulls_last=True)


def overlap(run: Run) -> Overlap:
    """Events that run at the same time in the run."""
    return combine_overlap([partial_overlap(part) for part in run.parts])
