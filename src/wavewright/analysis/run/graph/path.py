"""Critical path of a run: the chain of host code, launches, kernels, copies and late ranks that set its time.

The native core walks the event graph backwards; here its segments get classes, words, sums and caveats. Each segment
of the core has an event and a *link*: how the path came to this event (`links.toml`, by the number of the link).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from wavewright.analysis.common.shares import share_of
from wavewright.analysis.run.calls.call_sites import SEPARATOR, open_names
from wavewright.analysis.run.calls.launches import without_launch
from wavewright.analysis.run.graph.event_graph import EventGraph, event_graph
from wavewright.analysis.run.graph.graph_events import CALL_KINDS, KINDS, WORK_KINDS
from wavewright.analysis.run.graph.runtime_calls import AWAITS_ALL, AWAITS_STREAM, SHORT_NS
from wavewright.facts.loader import packaged
from wavewright.model.answer import Answer
from wavewright.model.run import Run

#: What a segment of the path is spent with.
CLASSES = ("host", "launch", "kernels", "communication", "copies", "idle", "unknown")
_FACTS = packaged("links.toml", __package__)
_LINKS = [(link.get("class"), link["what"]) for link in _FACTS["links"]]
_OF_KIND = {"kernel": "kernels", "communication": "communication", "copy": "copies", "launch call": "launch"}
_CALL, _CODE, _WAIT, _DEPENDENCY, _BEFORE = 1, 2, 5, 6, 13  #: Numbers of links; those from `_BEFORE` on are the edges.
#: Class and words of each link with each kind of event; the last are code of a thread that neither launches nor waits,
#: and a wait for which no work is recorded.
_MEANINGS = [
    *(
        _LINKS[_WAIT] if number == _DEPENDENCY and kind in CALL_KINDS else (name or _OF_KIND.get(kind, "host"), what)
        for number, (name, what) in enumerate(_LINKS)
        for kind in KINDS
    ),
    ("unknown", "a thread without GPU work"),
    ("unknown", "waiting for what is not recorded"),
]
#: Below this share of the time with evidence, the path is a guess: it could be another one for most of the time.
LEAST_EXPLAINED = 0.5
_MOST_STACKS = 100  #: Segments of host code, the longest ones, whose call stacks are looked up.


@dataclass(frozen=True, eq=False)
class CriticalPath(Answer, package=__package__):
    """The chain of events that set the time, and how long each event could take more without changing it."""

    groups: pl.DataFrame
    classes: pl.DataFrame
    contributors: pl.DataFrame
    segments: pl.DataFrame
    steps: pl.DataFrame
    caveats: tuple[str, ...]  #: Why the path may be another one.
    advice: str  #: What to record for a path with more evidence.
    #: Median distance of the ends of collectives from the fit of clocks; None = one clock.
    clock_residual_ns: int | None

    @property
    def unexplained_groups(self) -> list[int]:
        """Groups of whose time the record explains too little to tell what set it."""
        return self.groups.filter(pl.col("explained_share") < LEAST_EXPLAINED)["group"].to_list()

    def of_group(self, group: int, table: str) -> pl.DataFrame:
        """The rows of one group of one of the tables."""
        frame: pl.DataFrame = getattr(self, table)
        return frame.filter(pl.col("group") == group)


def path_of(graph: EventGraph) -> CriticalPath:
    """The critical path of every group of the graph."""
    tables = CriticalPath.tables
    spans = graph.spans.with_columns(span_ns=pl.col("end_ns") - pl.col("start_ns"))
    segments = pl.concat([pl.DataFrame(schema=tables["segments"].dtypes), *(_segments(graph, g) for g in graph.groups)])
    length = pl.col("end_ns") - pl.col("start_ns")
    timed = segments.join(spans.select("group", "span_ns"), on="group", how="left", maintain_order="left")
    timed = timed.with_columns(ns=length)
    sums = {"inferred_ns": pl.col("ns").filter("is_inferred").sum(), "gpu_busy_ns": pl.col("gpu_busy_ns").sum()}
    is_explained = ~pl.col("is_inferred") & ~pl.col("class").cast(pl.String).is_in(["idle", "unknown"])
    explained_ns = pl.col("ns").filter(is_explained).sum()
    classes = timed.group_by("group", "class", "span_ns").agg(path_ns=pl.col("ns").sum(), **sums)
    classes = classes.with_columns(pl.col("class").cast(pl.String))
    order = {group: place for place, group in enumerate(graph.groups)}
    rank = pl.col("group").replace_strict(order, default=0, return_dtype=pl.UInt32)
    shares = classes.with_columns(path_share=share_of(pl.col("path_ns"), pl.col("span_ns")))
    last = graph.processes.sort("end_ns", "process").group_by("group", maintain_order=True).last()
    counts = timed.group_by("group").agg(segment_count=pl.len().cast(pl.Int64), explained_ns=explained_ns, **sums)
    groups = spans.join(counts, on="group", how="left").join(last.select("group", "host", "pid", "rank"), on="group")
    groups = groups.join(graph.tolerances, on="group", how="left")
    groups = groups.with_columns(pl.col("segment_count", "inferred_ns", "explained_ns", "gpu_busy_ns").fill_null(0))
    groups = groups.with_columns(explained_share=share_of(pl.col("explained_ns"), pl.col("span_ns")))
    residual_ns: Any = graph.clocks.table["residual_ns"].max()
    contributors = _contributors(graph, timed).sort(rank, -pl.col("path_ns"), "class", "name")
    return CriticalPath(
        groups=groups.sort(rank).select(tables["groups"].names),
        classes=shares.sort(rank, -pl.col("path_ns").cast(pl.Int64), "class").select(tables["classes"].names),
        contributors=contributors.select(tables["contributors"].names),
        segments=_with_stacks(segments, graph),
        steps=pl.DataFrame(schema=tables["steps"].dtypes),
        caveats=_caveats(graph),
        advice=_advice(graph),
        clock_residual_ns=None if graph.clocks.is_one_clock else residual_ns,
    )


def _segments(graph: EventGraph, group: int) -> pl.DataFrame:
    """The segments of the path of one group, from start to end."""
    start, end = graph.spans.filter(pl.col("group") == group).select("start_ns", "end_ns").row(0)
    path = pl.DataFrame(graph.core.path(group, start, end)).filter(pl.col("end_ns") > pl.col("start_ns"))
    columns = ("kind", "name", "track", "process", "rank", "awaits")
    event = {name: graph.events[name].gather(path["event"]) for name in columns}
    track = {name: graph.tracks[name].gather(event["track"]) for name in ("tid", "stream_id", "gpu", "is_working")}
    path = path.with_columns(**event, **track)
    code = pl.col("link").cast(pl.Int32) * len(KINDS) + pl.col("kind").to_physical().cast(pl.Int32)
    is_hole = (pl.col("link") == _CODE) & (pl.col("is_working") == 0)
    is_long = pl.col("end_ns") - pl.col("start_ns") > SHORT_NS
    is_wait = (pl.col("link") == _CALL) & pl.col("awaits").is_in([AWAITS_ALL, AWAITS_STREAM]) & is_long
    no_gpu_work, no_waited_work = len(_MEANINGS) - 2, len(_MEANINGS) - 1
    meaning = pl.when(is_hole).then(no_gpu_work).when(is_wait).then(no_waited_work).otherwise(code)
    codes = path.select(meaning).to_series()
    classes, whats = (pl.Series(texts, dtype=pl.Categorical()) for texts in zip(*_MEANINGS, strict=True))
    is_unmatched = pl.col("event").is_in(graph.incomplete_collectives.implode()) & (pl.col("link") < _BEFORE)
    path = path.with_columns(
        classes.gather(codes).alias("class"),
        whats.gather(codes).alias("what"),
        is_inferred=(pl.col("is_inferred") == 1) | is_unmatched,
        group=pl.lit(group, pl.UInt32),
        gpu_busy_ns="busy_ns",
        stack=pl.lit("", pl.String),
    )
    names = CriticalPath.tables["segments"].names
    if not path.height and end > start:
        row = {"group": group, "start_ns": start, "end_ns": end, "class": "unknown", "name": "", "stack": ""}
        row |= {"what": "no calls and no work of a GPU", "is_inferred": False, "gpu_busy_ns": 0}
        return pl.DataFrame([row], schema=CriticalPath.tables["segments"].dtypes)
    is_edge = pl.col("link") >= _BEFORE
    if not path.select(is_edge.any()).item():
        return path.select(names)
    edges = [piece for row in path.filter(is_edge).iter_rows(named=True) for piece in _edge_pieces(graph, row)]
    frame = pl.DataFrame(edges, schema=path.schema)
    return pl.concat([path.filter(~is_edge), frame]).sort("start_ns").select(names)


def _edge_pieces(graph: EventGraph, row: dict[str, Any]) -> list[dict[str, Any]]:
    """The time before the first or after the last event: host code while its thread has other regions, else unknown.

    Before work whose launch is not recorded it is idle: no GPU of the process had work.
    """
    event = graph.events.row(row["event"], named=True)
    nameless = row | {"event": None, "name": "", "tid": None, "stream_id": None, "gpu": None}
    nameless |= {"process": None, "rank": None}
    is_call = event["kind"] in CALL_KINDS
    if not is_call and event["launch"] is None:
        return [nameless | ({"class": "idle"} if row["link"] == _BEFORE else {})]
    thread = graph.tracks.row(event["track"] if is_call else graph.events["track"][event["launch"]], named=True)
    if thread["start_ns"] is None:
        return [nameless]
    offset = graph.processes["offset_ns"][event["process"]]
    low, high = row["start_ns"], row["end_ns"]
    if row["link"] == _BEFORE:
        border = min(max(low, thread["start_ns"] + offset), high)
        parts = [(low, border, "unknown"), (border, high, "host")]
    else:
        border = min(max(low, thread["end_ns"] + offset), high)
        parts = [(low, border, "host"), (border, high, "unknown")]
    pieces = [{"start_ns": start, "end_ns": end, "class": name} for start, end, name in parts if end > start]
    return [nameless | piece for piece in pieces]


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
    is_work = pl.col("kind").is_in(WORK_KINDS)
    length = pl.col("end_ns") - pl.col("start_ns")
    events = graph.events.select("group", "name", "kind", ns=length, slack=graph.slack())
    sums = events.group_by("group", "name", "kind").agg(total_ns=pl.col("ns").sum(), slack_min_ns=pl.col("slack").min())
    totals = (
        sums.with_columns(what=pl.when(is_work).then(pl.lit("work")).otherwise(pl.lit("call")))
        .group_by("group", "what", name=pl.col("name").cast(pl.String).fill_null(""))
        .agg(pl.col("total_ns").sum(), pl.col("slack_min_ns").min())
    )
    texts = segments.with_columns(pl.col("class", "what", "name").cast(pl.String))
    texts = texts.with_columns(pl.col("name").fill_null(""))
    texts = texts.join(totals, on=["group", "name", "what"], how="left")
    return texts.with_columns(path_share=share_of(pl.col("path_ns"), pl.col("span_ns")))


_RECORD_CALLS = "record with rocprofv3 --runtime-trace"
_OPEN_RANKS = "open the files of all ranks together"


def _missing_launches(graph: EventGraph) -> tuple[int, int, str]:
    """Pieces of GPU work whose launch is not known, all of them, and words for such launches."""
    kinds = graph.events["kind"]
    launches = graph.events.filter(kinds.is_in(WORK_KINDS))["launch"]
    return launches.null_count(), launches.len(), without_launch(has_calls=kinds.is_in(CALL_KINDS).any())


def _advice(graph: EventGraph) -> str:
    missing_count, count, reason = _missing_launches(graph)
    if not count:
        return "record the work of the GPU too: rocprofv3 --runtime-trace"
    if 2 * missing_count > count:
        return f"launches are {reason}: {_RECORD_CALLS}, or CPU and GPU with the profiler of PyTorch"
    if graph.incomplete_collectives.len():
        return f"ranks are missing: {_OPEN_RANKS}"
    return "record markers and the runtime's calls of all threads: rocprofv3 --runtime-trace --marker-trace"


def _caveats(graph: EventGraph) -> tuple[str, ...]:
    """Why the path may be another one."""
    losses = graph.losses
    lines = [text.format(f"{losses[kind]:,}") for kind, text in _FACTS["losses"].items() if kind in losses]
    missing_count, count, reason = _missing_launches(graph)
    if missing_count:
        lines.append(
            f"the launch of {missing_count:,} of {count:,} pieces of GPU work is {reason}: host code before them is "
            f"not on the path ({_RECORD_CALLS})"
        )
    incomplete = graph.incomplete_collectives.len()
    if incomplete:
        lines.append(
            f"{incomplete:,} of {graph.collectives.height:,} collectives have ranks that are not in this record: "
            f"waiting for those counts as communication ({_OPEN_RANKS})"
        )
    apart = graph.collectives.filter(pl.col("meeting").is_null())
    if apart.height and graph.processes.height > 1:
        lines.append(f"{apart.height:,} of {graph.collectives.height:,} collectives match none of another rank")
    unsteady = graph.clocks.table.filter(~pl.col("is_steady") & (pl.col("meeting_count") > 0))
    if unsteady.height:
        lines.append(f"the clocks of {unsteady.height:,} processes drift or jump: segments between ranks are uncertain")
    return tuple(lines)


def with_steps(path: CriticalPath, graph: EventGraph, steps: pl.DataFrame) -> CriticalPath:
    """The result with the path of each step of `Steps.steps`; of several ranks, the steps of the lowest count."""
    first = graph.processes.sort("rank", "process", nulls_last=True).group_by("group", maintain_order=True).first()
    lowest = first.select("group", "part", "offset_ns", process="local")
    shifted = steps.join(lowest, on=["part", "process"])
    shifted = shifted.select("group", "step", *(pl.col(name) + pl.col("offset_ns") for name in ("start_ns", "end_ns")))
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
    return replace(path, steps=sums.select(CriticalPath.tables["steps"].casts))


def _with_stacks(segments: pl.DataFrame, graph: EventGraph) -> pl.DataFrame:
    """The segments with the regions that were open in the middle of the longest segments of host code."""
    is_code = (pl.col("class") == "host") & pl.col("tid").is_not_null()
    order = pl.col("end_ns") - pl.col("start_ns")
    longest = segments.with_row_index("moment").filter(is_code).sort(-order, "moment").head(_MOST_STACKS)
    tracks = graph.events.select("event", "track")
    tracks = tracks.join(graph.tracks.with_row_index("track").select("track", "thread"), on="track")
    processes = graph.processes.select("process", "part", "offset_ns")
    middle = (pl.col("start_ns") + pl.col("end_ns")) // 2 - pl.col("offset_ns")
    moments = longest.join(tracks, on="event").join(processes, on="process")
    opened = open_names(graph.regions, moments.select("moment", "part", "thread", time_ns=middle), ["part", "thread"])
    texts = pl.repeat("", segments.height, eager=True).scatter(opened["moment"], opened["names"].list.join(SEPARATOR))
    return segments.with_columns(stack=texts)


def critical_path(run: Run) -> CriticalPath:
    """The chain of events that set the time of a run."""
    return path_of(event_graph(run))
