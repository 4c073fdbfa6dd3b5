"""Busy time of the GPUs, in total and over time: overlapping work counts once, also work of several processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.common.shares import share_of
from wavewright.analysis.run.measures.intervals import bin_width, covered, covered_per_bin, in_order, intervals, merged
from wavewright.analysis.run.select.gpus import GPU_KEY, GpuKey, gpu_key_frame, gpu_work, index_gpus, shared_gpus
from wavewright.analysis.run.select.nodes import node_names, renamed
from wavewright.analysis.run.select.recording_span import node_spans, recorded
from wavewright.base.bounds import BINS, bounded
from wavewright.model.answer import Answer
from wavewright.model.run import Run

_KINDS = ("busy_ns", "kernel_busy_ns", "copy_busy_ns")
_BINS = ("machine", "gpu_key", "bin", "width", *_KINDS)
_LABELS = pl.col("node", "gpu", "target", "product").first()
_SUMS = pl.col("kernel_count", "copy_count", "duration_sum_ns", *_KINDS).sum()
_FIRST_AND_LAST = (pl.col("start_ns").min(), pl.col("end_ns").max())


@dataclass(frozen=True, eq=False)
class Busy(Answer, package=__package__):
    """Share of the time that each GPU had work."""

    gpus: pl.DataFrame
    streams: pl.DataFrame
    over_time: pl.DataFrame
    nodes: pl.DataFrame


@dataclass(frozen=True, eq=False, repr=False)
class PartialBusy:
    """The contribution of one run; times are in ns of the clock of the node."""

    gpus: pl.DataFrame  #: One row per GPU that processes see: the columns of `GpuIndex.table`, of `_totals`, `_KINDS`.
    streams: pl.DataFrame  #: `_totals` and `busy_ns` of each stream, `stream_id`, `pid`, `rank` and `GPU_KEY`.
    bins: pl.DataFrame  #: Columns of `_BINS`: merged times per GPU and bin of `width`, which is a power of two.
    intervals: pl.DataFrame  #: Merged intervals of the GPUs in `shared`: `GPU_KEY`, `is_copy`, `start_ns`, `end_ns`.
    bin_count: int
    recorded: pl.DataFrame  #: Times of the nodes (`recording_span.recorded`).

    @property
    def used_gpus(self) -> frozenset[GpuKey]:
        """The GPUs that did work."""
        used = self.gpus.filter(pl.col("start_ns").is_not_null())
        return frozenset(used.select(GPU_KEY).rows())


@bounded(bins=BINS)
def partial_busy(run: Run, *, bins: int = 120, shared: frozenset[GpuKey] = frozenset()) -> PartialBusy:
    """The contribution of one run, with curves of at most `bins` time bins.

    The merged intervals of a GPU that other runs tell of too must be kept to be merged with theirs: `shared` names
    such GPUs (see `shared_gpus`).
    """
    gpu_index = index_gpus(run)
    work = intervals(gpu_work(run, gpu_index), ["place"])
    gpu_keys = gpu_index.table.select("place", *GPU_KEY)
    by_kind = _merged_kinds(work)
    gpus = gpu_index.table.join(_totals(work, ["place"]), on="place", how="left", maintain_order="left")
    length = (pl.col("end_ns") - pl.col("start_ns")).sum()
    for kind, parts in by_kind.items():
        busy_times = parts.group_by("place").agg(length.alias(kind))
        gpus = gpus.join(busy_times, on="place", how="left", maintain_order="left")
    kinds = (("kernel_busy_ns", False), ("copy_busy_ns", True))
    merged_work = pl.concat(by_kind[kind].with_columns(is_copy=is_copy) for kind, is_copy in kinds)
    shared_gpu_keys = gpu_keys.join(gpu_key_frame(shared), on=GPU_KEY, how="semi", nulls_equal=True)
    shared_work = merged_work.join(shared_gpu_keys, on="place")
    return PartialBusy(
        gpus=gpus.with_columns(pl.col(_KINDS).fill_null(0)).drop("place"),
        streams=_streams(run, work).join(gpu_keys, on="place", maintain_order="left").drop("place"),
        bins=_binned(by_kind, gpu_index.table, bins),
        intervals=shared_work.select(*GPU_KEY, "is_copy", "start_ns", "end_ns"),
        bin_count=bins,
        recorded=recorded(run),
    )


def _by_kind(work: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """All work, dispatches, and copies, under the names of their busy times."""
    return {"busy_ns": work, "kernel_busy_ns": work.filter(~pl.col("is_copy")), "copy_busy_ns": work.filter("is_copy")}


def _merged_kinds(work: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Merged intervals per `place`, of sorted work."""
    return {kind: merged(part, ["place"]) for kind, part in _by_kind(work).items()}


def _totals(work: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Counts, first start, last end and added durations of the work of each group."""
    return work.group_by(by).agg(
        kernel_count=(~pl.col("is_copy")).sum().cast(pl.UInt64),
        copy_count=pl.col("is_copy").sum().cast(pl.UInt64),
        start_ns=pl.col("start_ns").min(),
        end_ns=pl.col("end_ns").max(),
        duration_sum_ns=(pl.col("end_ns") - pl.col("start_ns")).sum(),
    )


def _streams(run: Run, work: pl.DataFrame) -> pl.DataFrame:
    by = ["place", "process", "stream"]
    totals = _totals(work, by)
    spent = covered(in_order(work, by), by).rename({"covered_ns": "busy_ns"})
    ids = run.read("streams", ["stream", "stream_id"])
    processes = run.read("processes", ["process", "pid", "rank"])
    named = totals.join(spent, on=by, nulls_equal=True).join(ids, on="stream", how="left")
    named = named.join(processes, on="process", how="left")
    return named.sort("place", "pid", "stream_id", "stream", nulls_last=True).drop("process", "stream")


def _binned(by_kind: Mapping[str, pl.DataFrame], gpu_numbers: pl.DataFrame, count: int) -> pl.DataFrame:
    """Merged times per bin, of every node on its own clock."""
    curves = []
    for _, node_gpus in gpu_numbers.group_by("machine", maintain_order=True):
        on_node = pl.col("place").is_in(node_gpus["place"].to_list())
        parts = {kind: frame.filter(on_node) for kind, frame in by_kind.items()}
        work = parts["busy_ns"]
        if not work.height:
            continue
        begin, end = work["start_ns"].min(), work["end_ns"].max()
        width = bin_width(begin, end, count)  # type: ignore[arg-type]  # not empty: numbers
        sums = [
            covered_per_bin(frame, ["place"], begin, end, width).rename({"covered_ns": kind})  # type: ignore[arg-type]
            for kind, frame in parts.items()
        ]
        totals = sums[0]
        for times_of_kind in sums[1:]:
            totals = totals.join(times_of_kind, on=["place", "bin"], how="left", maintain_order="left")
        curves.append(totals.with_columns(pl.col(_KINDS).fill_null(0), width=pl.lit(width, pl.Int64)))
    empty = pl.DataFrame(schema={"place": pl.UInt32} | dict.fromkeys(("bin", "width", *_KINDS), pl.Int64))
    columns = empty.columns
    return pl.concat([empty, *(part.select(columns) for part in curves)]).join(gpu_numbers, on="place").select(_BINS)


def combine_busy(partials: Sequence[PartialBusy]) -> Busy:
    """The combined result of all runs."""
    partials = partials or [partial_busy(Run([]))]
    names = node_names(part.recorded for part in partials)
    times = [renamed(part.recorded, names) for part in partials]
    gpu_rows = _of_one_node(renamed(_merged_gpus(partials), names))
    used = gpu_rows.filter(pl.col("start_ns").is_not_null())
    nodes = _nodes(gpu_rows, used, pl.concat(times), max(part.bin_count for part in partials))
    streams = renamed(pl.concat(part.streams for part in partials), names)
    gpus = _with_shares(used.join(node_spans(times, streams), on="machine"), streams)
    gpu_labels = gpus.select(*GPU_KEY, "node", "gpu", "span_ns")
    stream_rows = (
        streams.join(gpu_labels, on=GPU_KEY, nulls_equal=True, maintain_order="left")
        .with_columns(busy_share=share_of(pl.col("busy_ns"), pl.col("span_ns")))
        .sort("node", *GPU_KEY, "rank", "pid", "stream_id", "busy_ns", nulls_last=True)
    )
    tables = Busy.tables
    return Busy(
        gpus=gpus.select(tables["gpus"].names).cast(tables["gpus"].dtypes),  # type: ignore[arg-type]
        streams=stream_rows.select(tables["streams"].names),
        over_time=_over_time(partials, names, nodes, gpu_labels),
        nodes=nodes.select(tables["nodes"].names).cast(tables["nodes"].dtypes),  # type: ignore[arg-type]
    )


def _with_shares(gpus: pl.DataFrame, streams: pl.DataFrame) -> pl.DataFrame:
    """The GPUs in order, with the number of their processes and the shares of the span of their node."""
    processes = streams.group_by(GPU_KEY).agg(process_count=pl.struct("pid", "rank").n_unique())
    return (
        gpus.join(processes, on=GPU_KEY, how="left", nulls_equal=True)
        .with_columns(
            *(share_of(pl.col(kind), pl.col("span_ns")).alias(kind.replace("_ns", "_share")) for kind in _KINDS),
            busy_wall_share=share_of(pl.col("busy_ns"), pl.col("wall_ns")),
            duration_sum_share=share_of(pl.col("duration_sum_ns"), pl.col("span_ns")),
            concurrency_mean=share_of(pl.col("duration_sum_ns"), pl.col("busy_ns")),
        )
        .sort("node", *GPU_KEY, nulls_last=True)
    )


def _merged_gpus(partials: Sequence[PartialBusy]) -> pl.DataFrame:
    """One row per GPU, whatever the number of runs that record it; a node that several files record has one name.

    Runs may have used a GPU at the same time, so the sum of their busy times can be too much: the intervals of all of
    them are merged. Where a run did not keep its intervals, the busy time is null.
    """
    rows = pl.concat(part.gpus for part in partials).with_columns(pl.col("node").min().over("machine"))
    gpus = (
        rows.sort("start_ns", nulls_last=True, maintain_order=True)
        .group_by(GPU_KEY, maintain_order=True)
        .agg(_LABELS, _SUMS, *_FIRST_AND_LAST, run_count=pl.col("start_ns").count())
    )
    shared_work = pl.concat(part.intervals for part in partials).sort(*GPU_KEY, "start_ns", "end_ns")
    has_intervals = shared_work.select(GPU_KEY).unique().with_columns(has_intervals=pl.lit(value=True))
    gpus = gpus.join(has_intervals, on=GPU_KEY, how="left", nulls_equal=True, maintain_order="left")
    for kind, work in _by_kind(shared_work).items():
        union = covered(work, GPU_KEY).rename({"covered_ns": "union_ns"})
        gpus = gpus.join(union, on=GPU_KEY, how="left", nulls_equal=True, maintain_order="left")
        union_or_null = pl.when("has_intervals").then(pl.col("union_ns").fill_null(0))
        is_sum_of_several = (pl.col("run_count") > 1) & (pl.col(kind) > 0)
        busy_ns = pl.when(is_sum_of_several).then(union_or_null).otherwise(kind)
        gpus = gpus.with_columns(busy_ns.alias(kind)).drop("union_ns")
    return gpus


def _of_one_node(gpus: pl.DataFrame) -> pl.DataFrame:
    """GPUs of files that were found to be of one node, which never worked at the same time: sums are exact."""
    is_unique = pl.struct(GPU_KEY).is_unique()
    parts = gpus.filter(~is_unique)
    sums = parts.group_by(GPU_KEY, maintain_order=True).agg(_LABELS, _SUMS, *_FIRST_AND_LAST)
    return pl.concat([gpus.filter(is_unique).select(sums.columns), sums]) if parts.height else gpus


def _nodes(gpus: pl.DataFrame, used: pl.DataFrame, times: pl.DataFrame, count: int) -> pl.DataFrame:
    """Per node the span of its work, or the window that was cut out of it; unused GPUs; and the bins of its curves."""
    windows = times.group_by("machine").agg(
        pl.col("is_window").any(),
        pl.col("begin_ns").min(),
        window_start_ns=pl.col("start_ns").min(),
        window_end_ns=pl.col("end_ns").max(),
    )
    spans = (
        used.group_by("machine")
        .agg(pl.col("node").min(), pl.col("start_ns").min(), pl.col("end_ns").max(), gpu_count=pl.len())
        .join(windows, on="machine")
        .with_columns(
            pl.when("is_window").then(f"window_{name}").otherwise(name).alias(name) for name in ("start_ns", "end_ns")
        )
    )
    unused = gpus.filter(pl.col("start_ns").is_null() & pl.col("gpu_key").is_not_null())
    unused = unused.group_by("machine").len("unused")
    rows = spans.join(unused, on="machine", how="left").sort("node", "machine")
    widths = [bin_width(begin, end, count) for begin, end in rows.select("start_ns", "end_ns").iter_rows()]
    width = pl.Series("bin_ns", widths, pl.Int64)
    last = pl.max_horizontal("start_ns", pl.col("end_ns") - 1)
    rows = rows.with_columns(width, unused_gpu_count=pl.col("unused").fill_null(0))
    return rows.with_columns(bin_count=last // pl.col("bin_ns") - pl.col("start_ns") // pl.col("bin_ns") + 1)


def _over_time(
    partials: Sequence[PartialBusy], names: pl.DataFrame, nodes: pl.DataFrame, gpu_labels: pl.DataFrame
) -> pl.DataFrame:
    """The curves of all GPUs: the bins of the runs, added up to those of their node, which are as wide or wider."""
    shared_work = renamed(pl.concat(part.intervals for part in partials), names)
    shared = shared_work.select(GPU_KEY).unique()
    bins = [renamed(part.bins, names).join(shared, on=GPU_KEY, how="anti", nulls_equal=True) for part in partials]
    bins += _shared_bins(shared_work, nodes)
    width, begin, end = pl.col("bin_ns"), pl.col("node_start_ns"), pl.col("node_end_ns")
    clocks = nodes.select("machine", "bin_ns", node_start_ns="start_ns", node_end_ns="end_ns")
    start = pl.max_horizontal(pl.col("node_bin") * width, begin)
    stop = pl.min_horizontal((pl.col("node_bin") + 1) * width, end)
    rows = (
        pl.concat(bins)
        .join(clocks, on="machine")
        .with_columns(node_bin=(pl.col("bin") * pl.col("width")) // width)
        .group_by(*GPU_KEY, "node_bin")
        .agg(pl.col(_KINDS).sum(), pl.col("bin_ns", "node_start_ns", "node_end_ns").first())
        .with_columns(bin=pl.col("node_bin") - begin // width, start_ns=start, length_ns=stop - start)
        .with_columns(busy_share=share_of(pl.col("busy_ns"), pl.col("length_ns")))
        .join(gpu_labels.drop("span_ns"), on=GPU_KEY, nulls_equal=True)
        .sort("node", *GPU_KEY, "bin", nulls_last=True)
    )
    return rows.select(Busy.tables["over_time"].names)


def _shared_bins(shared_work: pl.DataFrame, nodes: pl.DataFrame) -> list[pl.DataFrame]:
    """Curves of GPUs that several runs record."""
    if not shared_work.height:
        return []
    gpu_numbers = shared_work.select(GPU_KEY).unique().sort(GPU_KEY, nulls_last=True).with_row_index("place")
    work = shared_work.join(gpu_numbers, on=GPU_KEY, nulls_equal=True).sort("place", "start_ns", "end_ns")
    by_kind = _merged_kinds(work)
    return [
        _binned(by_kind, gpu_numbers.filter(pl.col("machine") == machine), count)
        for machine, count in nodes.select("machine", "bin_count").iter_rows()
    ]


@bounded(bins=BINS)
def busy(run: Run, *, bins: int = 120) -> Busy:
    """Share of the time that each GPU of the run had work, in total and in at most `bins` time bins."""
    partials = [partial_busy(part, bins=bins) for part in run.parts]
    shared = shared_gpus(partials)
    if shared:
        partials = [partial_busy(part, bins=bins, shared=shared) for part in run.parts]
    return combine_busy(partials)
