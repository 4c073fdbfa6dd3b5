"""The chain of host code, launches, kernels, copies and late ranks that set the time of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from wavewright.analysis.run.calls.open_regions import open_stacks
from wavewright.analysis.run.graph.event_graph import EventGraph, combine_graph
from wavewright.analysis.run.graph.graph_events import CALL_KINDS, KINDS, partial_graph
from wavewright.analysis.run.measures.intervals import share_of
from wavewright.model.answer import Answer
from wavewright.model.schema import table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavewright.model.run import Run
    from wavewright.model.schema import TableSpec

#: What a segment of the path is spent with.
CLASSES = ("host", "launch", "kernels", "communication", "copies", "idle")
#: Links of the core: (class, what it is); None = the class of its event.
_LINKS: tuple[tuple[str | None, str], ...] = (
    (None, "work"),
    (None, "call"),
    ("host", "host code"),
    ("launch", "launch"),
    ("idle", "between work of a stream"),
    ("host", "return from waiting"),
    ("idle", "after an event"),
    (None, "arrival"),
    (None, "work"),
    ("host", "another thread"),
    ("idle", "after work of another stream"),
)
_OF_KIND = {"kernel": "kernels", "communication": "communication", "copy": "copies", "launch call": "launch"}
_LAUNCH, _WAIT, _DEPENDENCY = 3, 5, 6
#: Class and words of each link with each kind of event; the last are of work that was held up after its launch.
_MEANINGS = [
    *(
        _LINKS[_WAIT] if number == _DEPENDENCY and kind in CALL_KINDS else (name or _OF_KIND.get(kind, "host"), what)
        for number, (name, what) in enumerate(_LINKS)
        for kind in KINDS
    ),
    ("idle", "launched, not started"),
]
#: Work that starts later than this after its launching call returned was held up by something that is not recorded:
#: launches take 5 to 20 us, on a slow day 100.
LONG_LAUNCH_NS = 1_000_000
_STACKS = 100  #: Segments of host code, the longest ones, whose call stacks are looked up.

_NO_MOMENTS = pl.DataFrame(schema={"moment": pl.UInt32, "thread": pl.UInt32, "time_ns": pl.Int64})

_WHO = """\
group        UInt32  -   | group of processes that meet in collectives: the number of its first process
"""


@dataclass(frozen=True)
class CriticalPath(Answer):
    """The chain of events that set the time, and how long each event could take more without changing it."""

    definition: ClassVar[str] = (
        "Every call of a thread and all work of a GPU waited for something: the call or code before it on its thread, "
        "its launch, the work before it in its stream, an event, the work that a call waits for, or the last rank of a "
        "collective. What came last held it up. The critical path follows these from the last event of a group of "
        "processes back to its start, so its segments cover the time of the group without gaps: they add up to "
        "it. Segments are inferred where the record only suggests what was waited for. Work that starts more than "
        f"{LONG_LAUNCH_NS // 1_000_000} ms after its launch has returned is idle, not launch. Slack is how much later "
        "an event could end without delaying the end of its group."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "groups": table_spec(
            "groups",
            "one group of processes that meet in collectives, the longest first; others are alone",
            _WHO
            + """
            process_count  Int64   -   | processes in it
            host           String  -   | node of the process that ends last
            pid            Int64   -   | its process id
            rank           Int32   -   | its rank; null = not known
            start_ns       Int64   ns  | begin of its first event
            span_ns        Int64   ns  | from there to the end of its last event
            segment_count  Int64   -   | segments of its path
            inferred_ns    Int64   ns  | time of the segments that are inferred
            """,
        ),
        "classes": table_spec(
            "classes",
            "one class of time on the path of one group",
            _WHO
            + """
            class        String   -   | host, launch, kernels, communication, copies, idle
            path_ns      Int64    ns  | time on the path
            path_share   Float64  -   | of the span of the group
            inferred_ns  Int64    ns  | of these, inferred
            """,
        ),
        "contributors": table_spec(
            "contributors",
            "one kernel, copy, call, or host code before a call, on the path of one group",
            _WHO
            + """
            class         String   -   | as in classes
            what          String   -   | work, call, host code, launch, ...
            name          String   -   | kernel, copy or function; of host code, the function that is called after it
            count         Int64    -   | segments
            path_ns       Int64    ns  | time on the path
            path_share    Float64  -   | of the span of the group
            longest_ns    Int64    ns  | its longest segment
            longest_at_ns Int64    ns  | when that began
            total_ns      Int64?   ns  | time of all events of this name in the group, on the path or not
            slack_min_ns  Int64?   ns  | smallest slack of those
            """,
        ),
        "segments": table_spec(
            "segments",
            "one segment of the path of one group, in the order of time",
            _WHO
            + """
            start_ns     Int64    ns  | when it began, on the clock of the group
            end_ns       Int64    ns  | when it ended
            class        Categorical  -  | as in classes
            what         Categorical  -  | as in contributors
            name         Categorical  -  | as in contributors
            event        UInt32?  -   | number of the event in the graph; null = before the first or after the last
            process      UInt32?  -   | number of the process
            rank         Int32?   -   | its rank
            tid          Int64?   -   | thread, of calls and code
            stream_id    Int64?   -   | stream, of work
            gpu          Int64?   -   | GPU, of work
            is_inferred  Boolean  -   | whether the record only suggests what was waited for
            stack        String   -   | markers, operators and frames that were open, outermost first; of long segments
            """,
        ),
        "steps": table_spec(
            "steps",
            "one class of time on the path within one step",
            _WHO
            + """
            step        Int64    -   | number of the step
            start_ns    Int64    ns  | when it began
            span_ns     Int64    ns  | how long it took
            class       String   -   | as in classes
            path_ns     Int64    ns  | time on the path
            path_share  Float64  -   | of the step
            """,
        ),
    }

    groups: pl.DataFrame
    classes: pl.DataFrame
    contributors: pl.DataFrame
    segments: pl.DataFrame
    steps: pl.DataFrame
    caveats: tuple[str, ...]  #: Why the path may be another one.
    clock_residual_ns: (
        int | None
    )  #: Median distance of the ends of collectives from the fit of clocks; None = one clock.

    def of_group(self, group: int, table: str) -> pl.DataFrame:
        """The rows of one group of one of the tables."""
        frame: pl.DataFrame = getattr(self, table)
        return frame.filter(pl.col("group") == group)


def path_of(graph: EventGraph) -> CriticalPath:
    """The critical path of every group of the graph, without stacks."""
    tables = CriticalPath.tables
    spans = graph.spans.with_columns(span_ns=pl.col("end_ns") - pl.col("start_ns"))
    segments = pl.concat([pl.DataFrame(schema=tables["segments"].dtypes), *(_segments(graph, g) for g in graph.groups)])
    length = pl.col("end_ns") - pl.col("start_ns")
    timed = segments.join(spans.select("group", "span_ns"), on="group", how="left", maintain_order="left").with_columns(
        ns=length
    )
    inferred = pl.col("ns").filter("is_inferred").sum()
    classes = (
        timed.group_by("group", "class", "span_ns")
        .agg(path_ns=pl.col("ns").sum(), inferred_ns=inferred)
        .with_columns(pl.col("class").cast(pl.String))
    )
    order = {group: place for place, group in enumerate(graph.groups)}
    rank = pl.col("group").replace_strict(order, default=0, return_dtype=pl.UInt32)
    shares = classes.with_columns(path_share=share_of(pl.col("path_ns"), pl.col("span_ns")))
    last = graph.processes.sort("end_ns", "process").group_by("group", maintain_order=True).last()
    counts = timed.group_by("group").agg(segment_count=pl.len().cast(pl.Int64), inferred_ns=inferred)
    groups = spans.join(counts, on="group", how="left").join(last.select("group", "host", "pid", "rank"), on="group")
    groups = groups.with_columns(pl.col("segment_count", "inferred_ns").fill_null(0))
    return CriticalPath(
        groups=groups.sort(rank).select(tables["groups"].names),
        classes=shares.sort(rank, -pl.col("path_ns").cast(pl.Int64), "class").select(tables["classes"].names),
        contributors=_contributors(graph, timed)
        .sort(rank, -pl.col("path_ns"), "class", "name")
        .select(tables["contributors"].names),
        segments=segments,
        steps=pl.DataFrame(schema=tables["steps"].dtypes),
        caveats=_caveats(graph),
        clock_residual_ns=_residual(graph),
    )


def _segments(graph: EventGraph, group: int) -> pl.DataFrame:
    """The segments of the path of one group, from start to end."""
    path = pl.DataFrame(graph.core.path(group)).filter(pl.col("end_ns") > pl.col("start_ns"))
    at = path["event"]
    event = {name: graph.events[name].gather(at) for name in ("kind", "name", "track", "process", "rank", "launch")}
    track = {name: graph.tracks[name].gather(event["track"]) for name in ("tid", "stream_id", "gpu", "is_gpu")}
    path = path.with_columns(**event, **track, launch_end_ns=graph.events["end_ns"].gather(event["launch"]))
    is_held_up = (pl.col("link") == _LAUNCH) & (pl.col("end_ns") - pl.col("launch_end_ns") > LONG_LAUNCH_NS)
    code = pl.col("link").cast(pl.Int32) * len(KINDS) + pl.col("kind").to_physical().cast(pl.Int32)
    codes = path.select(pl.when(is_held_up.fill_null(value=False)).then(len(_MEANINGS) - 1).otherwise(code)).to_series()
    classes, whats = (pl.Series(texts, dtype=pl.Categorical()) for texts in zip(*_MEANINGS, strict=True))
    path = path.with_columns(
        classes.gather(codes).alias("class"),
        whats.gather(codes).alias("what"),
        pl.col("is_inferred") == 1,
        group=pl.lit(group, pl.UInt32),
        stack=pl.lit("", pl.String),
    )
    first = graph.events["kind"].gather(path["from_event"].head(1)).to_list()
    is_work = bool(first) and first[0] not in CALL_KINDS
    path = path.select(CriticalPath.tables["segments"].names)
    return _with_edges(graph, group, path, before="idle" if is_work else "host")


def _with_edges(graph: EventGraph, group: int, path: pl.DataFrame, *, before: str) -> pl.DataFrame:
    """With what is before the first and after the last event of the path, so that it covers the span."""
    start, end = graph.spans.filter(pl.col("group") == group).select("start_ns", "end_ns").row(0)
    first = path["start_ns"][0] if path.height else None
    last = path["end_ns"][-1] if path.height else start

    def segment(low: int, high: int, what: str, kind: str = "host") -> pl.DataFrame:
        row = {"group": group, "start_ns": low, "end_ns": high, "what": what, "name": "", "stack": ""}
        row |= {"class": kind, "is_inferred": False}
        return pl.DataFrame([row], schema=CriticalPath.tables["segments"].dtypes)

    parts = [path]
    if first is not None and first > start:
        parts.insert(0, segment(start, first, "before the first event", before))
    if end > last:
        parts.append(segment(last, end, "after the last event" if path.height else "no calls and no work of a GPU"))
    return pl.concat(parts)


def _contributors(graph: EventGraph, timed: pl.DataFrame) -> pl.DataFrame:
    """The segments by class and name, with all events of that name."""
    by = ["group", "class", "what", "name"]
    longest = pl.col("ns").arg_max()
    segments = timed.group_by(*by, "span_ns").agg(
        count=pl.len().cast(pl.Int64),
        path_ns=pl.col("ns").sum(),
        longest_ns=pl.col("ns").max(),
        longest_at_ns=pl.col("start_ns").get(longest),
    )
    is_work = pl.col("kind").is_in(["kernel", "communication", "copy"])
    every = graph.events.select("group", "name", "kind", ns=pl.col("end_ns") - pl.col("start_ns"), slack=graph.slack())
    sums = every.group_by("group", "name", "kind").agg(total_ns=pl.col("ns").sum(), slack_min_ns=pl.col("slack").min())
    totals = (
        sums.with_columns(what=pl.when(is_work).then(pl.lit("work")).otherwise(pl.lit("call")))
        .group_by("group", "what", name=pl.col("name").cast(pl.String).fill_null(""))
        .agg(pl.col("total_ns").sum(), pl.col("slack_min_ns").min())
    )
    texts = segments.with_columns(pl.col("class", "what", "name").cast(pl.String)).with_columns(
        pl.col("name").fill_null("")
    )
    return texts.join(totals, on=["group", "name", "what"], how="left").with_columns(
        path_share=share_of(pl.col("path_ns"), pl.col("span_ns"))
    )


_LOSSES = {
    "launched_later": "{} pieces of work start before the call that launched them: clocks of CPU and GPU differ",
    "backward": "{} relations between events point back in time and were left out",
    "clipped_calls": "{} calls end after the call they began in and were cut there",
    "cycles": "{} dependencies at one moment contradict each other and were left out",
}


def _caveats(graph: EventGraph) -> tuple[str, ...]:
    """Why the path may be another one."""
    lines = [text.format(f"{graph.losses[kind]:,}") for kind, text in _LOSSES.items() if kind in graph.losses]
    work = graph.events.filter(pl.col("kind").is_in(["kernel", "communication", "copy"]))
    missing = int(work["launch"].null_count())
    if missing and work.height:
        lines.append(
            f"the launch of {missing:,} of {work.height:,} pieces of GPU work is not recorded: host code before them "
            "is not on the path (record with rocprofv3 --runtime-trace)"
        )
    apart = graph.collectives.filter(pl.col("meeting").is_null())
    if apart.height and graph.processes.height > 1:
        lines.append(f"{apart.height:,} of {graph.collectives.height:,} collectives match none of another rank")
    unsteady = graph.clocks.table.filter(~pl.col("is_steady") & (pl.col("meeting_count") > 0))
    if unsteady.height:
        lines.append(f"the clocks of {unsteady.height:,} processes drift or jump: segments between ranks are uncertain")
    return tuple(lines)


def _residual(graph: EventGraph) -> int | None:
    if graph.clocks.is_one_clock:
        return None
    largest = graph.clocks.table["residual_ns"].max()
    return None if largest is None else int(largest)  # type: ignore[arg-type]


def with_steps(path: CriticalPath, graph: EventGraph, steps: pl.DataFrame) -> CriticalPath:
    """With the path of each step: `steps` as `Steps` has them, of the runs of the graph; the lowest rank counts."""
    first = graph.processes.sort("rank", "process", nulls_last=True).group_by("group", maintain_order=True).first()
    lowest = first.select("group", "part", "offset_ns", process="local")
    shifted = steps.join(lowest, on=["part", "process"]).select(
        "group", "step", *(pl.col(name) + pl.col("offset_ns") for name in ("start_ns", "end_ns"))
    )
    pieces = (
        path.segments.select("group", "class", low="start_ns", high="end_ns")
        .join_where(
            shifted.rename({"group": "of_group"}),
            pl.col("group") == pl.col("of_group"),
            pl.col("low") < pl.col("end_ns"),
            pl.col("high") > pl.col("start_ns"),
        )
        .drop("of_group")
    )
    inside = pl.min_horizontal("high", "end_ns") - pl.max_horizontal("low", "start_ns")
    sums = (
        pieces.with_columns(ns=inside, span_ns=pl.col("end_ns") - pl.col("start_ns"))
        .group_by("group", "step", "start_ns", "span_ns", "class")
        .agg(path_ns=pl.col("ns").sum())
        .with_columns(pl.col("class").cast(pl.String), path_share=share_of(pl.col("path_ns"), pl.col("span_ns")))
        .sort("group", "step", "start_ns", -pl.col("path_ns"), "class")
    )
    spec = CriticalPath.tables["steps"]
    return replace(path, steps=sums.select(pl.col(name).cast(dtype) for name, dtype in spec.dtypes.items()))


def moments(graph: EventGraph, path: CriticalPath) -> dict[str, pl.DataFrame]:
    """For each source, the middle of the longest segments of host code: `moment`, `thread`, `time_ns` of its clock."""
    is_code = (pl.col("class") == "host") & pl.col("tid").is_not_null()
    order = pl.col("end_ns") - pl.col("start_ns")
    longest = path.segments.with_row_index("moment").filter(is_code).sort(-order, "moment").head(_STACKS)
    threads = graph.tracks.with_row_index("track").select("track", "thread")
    tracks = graph.events.select("event", "track").join(threads, on="track")
    processes = graph.processes.select("process", "source", "offset_ns")
    middle = (pl.col("start_ns") + pl.col("end_ns")) // 2 - pl.col("offset_ns")
    placed = longest.join(tracks, on="event").join(processes, on="process")
    rows = placed.select("moment", "source", "thread", time_ns=middle)
    return {source: rows.filter(pl.col("source") == source).drop("source") for source in rows["source"].unique()}


def stacks_of(run: Run, moments: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The stacks at the moments of one run: `moment` and `stack`."""
    (source,) = run.read("sources", ["path"])["path"]
    return open_stacks(run, moments.get(source, _NO_MOMENTS))


def with_stacks(path: CriticalPath, stacks: Sequence[pl.DataFrame]) -> CriticalPath:
    """With the stacks of its segments, as `stacks_of` each run gives them for `moments`."""
    if not stacks:
        return path
    rows = path.segments.drop("stack").with_row_index("moment")
    named = rows.join(pl.concat(stacks), on="moment", how="left", maintain_order="left")
    return replace(
        path, segments=named.with_columns(pl.col("stack").fill_null("")).select(CriticalPath.tables["segments"].names)
    )


def critical_path(run: Run) -> CriticalPath:
    """The chain of events that set the time of a run."""
    parts = run.parts
    graph = combine_graph([partial_graph(part) for part in parts])
    path = path_of(graph)
    path_moments = moments(graph, path)
    return with_stacks(path, [stacks_of(part, path_moments) for part in parts])
