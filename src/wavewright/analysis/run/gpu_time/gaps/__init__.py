"""Idle time of the GPUs between their work, and who makes them wait."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.common.shares import share_of
from wavewright.analysis.run.gpu_time.gaps.partial import PartialGaps, partial_gaps
from wavewright.analysis.run.select.gpus import GPU_KEY, merged_elsewhere, partial_intervals, shared_gpus
from wavewright.analysis.run.select.nodes import node_names, renamed
from wavewright.analysis.run.select.recording_span import in_recordings, node_spans
from wavewright.base.bounds import ROWS, bounded
from wavewright.model.answer import Answer
from wavewright.model.run import Run


@dataclass(frozen=True, eq=False)
class Gaps(Answer, package=__package__):
    """Idle time of GPUs, or their streams, between work, and its causes."""

    gpus: pl.DataFrame
    causes: pl.DataFrame
    histogram: pl.DataFrame
    largest: pl.DataFrame
    gap_count: int  #: All gaps, of which `largest` has the longest.
    call_count: int  #: Recorded calls into runtimes, which tell why.


def combine_gaps(partials: Sequence[PartialGaps]) -> Gaps:
    """The combined result of all runs.

    Raises `ValueError` when several runs tell of one GPU and were not asked with `elsewhere`.
    """
    if shared_gpus(partials) and not all(part.is_whole for part in partials):
        raise ValueError("runs share a GPU: ask them with `elsewhere`")
    partials = partials or [partial_gaps(Run([]))]
    names = node_names(part.recorded for part in partials)
    keys = [*GPU_KEY, "node", "gpu", "pid", "rank", "stream_id"]
    sums = ["gap_count", "gap_ns", "rounding_ns"]
    of_files = pl.concat(part.gpus for part in partials)
    shared = of_files.group_by(keys).agg(pl.col(sums).sum(), pl.col("gap_max_ns", "busy_ns").max())
    gpus = renamed(shared, names).group_by(keys).agg(pl.col(*sums, "busy_ns").sum(), pl.col("gap_max_ns").max())
    of_processes = renamed(pl.concat(part.work for part in partials), names)
    nodes = node_spans([renamed(part.recorded, names) for part in partials], of_processes)
    edge = pl.col("wall_ns") - pl.sum_horizontal("busy_ns", "gap_ns", "rounding_ns")
    gpus = gpus.join(nodes, on="machine").with_columns(
        gap_share=share_of(pl.col("gap_ns"), pl.col("span_ns")),
        gap_mean_ns=share_of(pl.col("gap_ns"), pl.col("gap_count")),
        edge_ns=edge.clip(lower_bound=0),
    )
    histogram = (
        renamed(pl.concat(part.histogram for part in partials), names)
        .group_by(*keys, "from_ns")
        .agg(pl.col("gap_count", "gap_ns").sum())
    )
    largest = renamed(pl.concat(part.largest for part in partials), names)
    largest = largest.sort("gap_ns", *keys, "start_ns", descending=[True] + [False] * (len(keys) + 1), nulls_last=True)
    tables = Gaps.tables
    return Gaps(
        gpus=gpus.sort("node", *keys, nulls_last=True).select(tables["gpus"].names),
        causes=_causes(renamed(pl.concat(part.causes for part in partials), names), nodes),
        histogram=histogram.sort("node", *keys, "from_ns", nulls_last=True).select(tables["histogram"].names),
        largest=largest.head(max(part.keep for part in partials)).select(tables["largest"].names),
        gap_count=int(gpus["gap_count"].sum()),
        call_count=sum(part.call_count for part in partials),
    )


def _causes(parts: pl.DataFrame, nodes: pl.DataFrame) -> pl.DataFrame:
    keys = [*GPU_KEY, "node", "gpu"]
    sums = parts.group_by(*keys, "cause", "function")
    return (
        sums.agg(pl.col("call_count", "wait_ns").sum())
        .join(nodes, on="machine")
        .with_columns(
            gap_share=share_of(pl.col("wait_ns"), pl.col("wait_ns").sum().over(GPU_KEY)),
            span_share=share_of(pl.col("wait_ns"), pl.col("span_ns")),
        )
        .sort("wait_ns", *keys, "cause", "function", descending=[True] + [False] * 6, nulls_last=True)
        .select(Gaps.tables["causes"].names)
    )


def busy_elsewhere(partials: Sequence[PartialGaps], intervals: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Busy times of shared GPUs, together and by recording: time between two recordings does not count as a gap."""
    return in_recordings(merged_elsewhere(intervals), [part.recorded for part in partials])


@bounded(keep=ROWS)
def gaps(run: Run, *, by_stream: bool = False, keep: int = 100) -> Gaps:
    """Idle time of each GPU (`by_stream`: each stream) between its work, its causes, and the `keep` longest gaps."""
    partials = [partial_gaps(part, by_stream=by_stream, keep=keep) for part in run.parts]
    shared = frozenset() if by_stream else shared_gpus(partials)
    if shared:
        elsewhere = busy_elsewhere(partials, [partial_intervals(part, shared=shared) for part in run.parts])
        partials = [partial_gaps(part, keep=keep, elsewhere=elsewhere) for part in run.parts]
    return combine_gaps(partials)
