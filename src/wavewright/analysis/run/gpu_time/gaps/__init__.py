"""Idle time of the GPUs between their work, and who makes them wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from wavewright.analysis.run.gpu_time.gaps.partial import PartialGaps, partial_gaps
from wavewright.analysis.run.measures.intervals import share_of
from wavewright.analysis.run.select.gpus import GPU_KEY, merged_elsewhere, partial_intervals, shared_gpus
from wavewright.analysis.run.select.nodes import node_names, renamed
from wavewright.analysis.run.select.recording_span import node_spans
from wavewright.base.bounds import ROWS, bounded
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.schema import table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavewright.model.schema import TableSpec

_WHERE = """\
node          String   -    | host name of the node, else the file
gpu           Int64    -    | number of the GPU on the node; null = not recorded
"""
_STREAM = """\
pid           Int64    -    | process; null = all of the GPU
rank          Int32    -    | its rank; null = not known
stream_id     Int64    -    | stream; null = all of the GPU, or not recorded
"""
_CAUSE_TEXTS = (
    "synchronisation, allocation, copy call, loading code, launch call, other call (time in such a call of the thread "
    "that launched what ended the gap, before it did so), host code (outside of calls), launch (from the start of the "
    "launching call), stream wait (launched, but its stream had to wait for an event), queued (launched, but waited "
    "for other work), unknown (its launch is not recorded)"
)


@dataclass(frozen=True)
class Gaps(Answer):
    """Idle time of GPUs, or their streams, between work, and its causes."""

    definition: ClassVar[str] = (
        "A gap is the time between two pieces of work of a GPU (or of a stream) in which it does none; 1 "
        "ns is rounding, not a gap. The work that ends it was launched by a call of some thread. Before that call "
        "began, the gap is what that thread did meanwhile: calls by their kind, the rest is host code. After it, "
        "the gap is the cost of the launch; a stream wait where the thread made a stream wait for an event since "
        "its previous launch and the work started 0.1 ms or more later; and queued where it started 1 ms or more "
        "later, or was launched before the gap began: it waited for other work or for the GPU itself. The parts add "
        "up to the gaps. Time before the first and after the last work of a GPU, within the recorded time of its "
        "node, is idle at the edges, and not a gap. Of a time window, the parts of gaps inside count."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "gpus": table_spec(
            "gpus",
            "one GPU, or one stream of a process on it",
            _WHERE
            + _STREAM
            + """
            gap_count     UInt64   -    | number of gaps
            gap_ns        Int64    ns   | length of all gaps
            gap_share     Float64  -    | of the span of the node
            gap_mean_ns   Float64  ns   | mean length of a gap
            gap_max_ns    Int64    ns   | longest gap
            busy_ns       Int64    ns   | time with work
            edge_ns       Int64    ns   | before the first and after the last work, within the wall time
            rounding_ns   Int64    ns   | times of 1 ns between work, which rounding makes: no gaps
            span_ns       Int64    ns   | span of all GPU work of the node, or the time window
            wall_ns       Int64    ns   | time that was recorded on the node, or the time window
            """,
        ),
        "causes": table_spec(
            "causes",
            "one cause on one GPU",
            _WHERE
            + f"""
            cause         String   -    | {_CAUSE_TEXTS}
            function      String   -    | function that was called; null = none
            call_count    UInt64   -    | calls, or gaps, that it took part in
            wait_ns       Int64    ns   | its part of the gaps
            gap_share     Float64  -    | of the gaps of the GPU
            span_share    Float64  -    | of the span of the node
            """,
        ),
        "histogram": table_spec(
            "histogram",
            "one range of lengths on one GPU or stream",
            _WHERE
            + _STREAM
            + """
            from_ns       Int64    ns   | shortest length of the range
            gap_count     UInt64   -    | number of gaps
            gap_ns        Int64    ns   | length of all of them
            """,
        ),
        "largest": table_spec(
            "largest",
            "one of the longest gaps",
            _WHERE
            + _STREAM
            + """
            start_ns      Int64    ns   | when it began
            at_ns         Int64    ns   | the same after the begin of the recording on its node, as --time counts
            gap_ns        Int64    ns   | how long it lasted
            previous      String   -    | the dispatch or copy that ended when it began
            next          String   -    | the dispatch or copy that ended it
            dispatch_id   Int64    -    | of the next dispatch; null for copies
            tid           Int64    -    | thread that launched the next one
            launch_at_ns  Int64    ns   | launch of the next one after the begin of the gap; negative = before
            launch_ns     Int64    ns   | from the begin of that call to the start of the next one; null = not known
            queue_depth   Int64    -    | work of the GPU that was launched and had not begun when the gap began
            cause         String   -    | largest part of the gap, as in causes
            function      String?  -    | the call of that thread that took most of the gap, or is its cause
            function_ns   Int64    ns   | time of the gap in that call
            context       String?  -    | innermost of stack
            stack         String?  -    | markers, operators, frames that lasted half of the gap, outermost first
            """,
        ),
    }

    gpus: pl.DataFrame
    causes: pl.DataFrame
    histogram: pl.DataFrame
    largest: pl.DataFrame
    gap_count: int  #: All gaps, of which `largest` has the longest.
    call_count: int  #: Recorded calls into runtimes, which tell why.


def combine_gaps(partials: Sequence[PartialGaps]) -> Gaps:
    """The combined result of all runs.

    Raises
    ------
    ValueError
        When several runs tell of one GPU and were not asked with `elsewhere`.
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
    nodes = node_spans([renamed(part.recorded, names) for part in partials], renamed(of_files, names))
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
    largest = renamed(pl.concat(part.largest for part in partials), names).sort(
        "gap_ns", *keys, "start_ns", descending=[True] + [False] * (len(keys) + 1), nulls_last=True
    )
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


@bounded(keep=ROWS)
def gaps(run: Run, *, by_stream: bool = False, keep: int = 100) -> Gaps:
    """Idle time of each GPU (`by_stream`: each stream) between its work, its causes, and the `keep` longest gaps."""
    partials = [partial_gaps(part, by_stream=by_stream, keep=keep) for part in run.parts]
    shared = frozenset() if by_stream else shared_gpus(partials)
    if shared:
        elsewhere = merged_elsewhere([partial_intervals(part, shared=shared) for part in run.parts])
        partials = [partial_gaps(part, keep=keep, elsewhere=elsewhere) for part in run.parts]
    return combine_gaps(partials)
