"""Timeline of a run: every event as a span on a track (of a thread, a stream of a GPU, allocations), for drawing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from wavewright.analysis.run.gpu_time.busy_time import copy_agent
from wavewright.analysis.run.measures.event_rows import nested, timed
from wavewright.analysis.run.select.clocks import NodeClocks, node_clocks
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.run_labels import agent_label, process_label

DEEPEST = 64  #: Tracks of a thread: deeper calls are counted, not shown.
MOST_KINDS = 4096  #: Names with a kind of their own, by total time; all others share one kind.


class _TrackKind(NamedTuple):
    """A kind of track."""

    tables: tuple[str, ...]  #: Of the events on its tracks.
    keys: tuple[str, ...]  #: Columns that identify its lines.


#: Kinds of tracks of a process as they are shown: GPUs first, because threads can be many tracks deep.
_KINDS = {
    "stream": _TrackKind(("dispatches", "copies"), ("process", "agent", "stream", "queue")),
    "allocations": _TrackKind(("allocations",), ("process",)),
    "thread": _TrackKind(("regions",), ("process", "thread")),
    "marks": _TrackKind(("samples",), ("process", "thread")),
}
_TRACK = ["order", "line", "overlap", "depth"]  #: Columns of spans that identify their track: see `_placed`.
#: Tables of events, in the order in which items are numbered: items of `copies` follow those of `dispatches`.
ITEM_TABLES = tuple(table for kind in _KINDS.values() for table in kind.tables)


@dataclass(frozen=True)
class RunTimeline(Answer, package=__package__):
    """The events of a run by track."""

    tracks: pl.DataFrame
    spans: pl.DataFrame
    kinds: pl.DataFrame
    first_items: dict[str, int]  #: Table -> the item of its first row.
    item_count: int
    duration_ns: int
    untimed_count: int  #: Events without a time, or before 0; they are left out.
    too_deep_count: int  #: Calls nested deeper than `DEEPEST`; they are left out.
    other_name_count: int  #: Names beyond `MOST_KINDS`, which are the last kind together.


def run_timeline(run: Run, clocks: NodeClocks | None = None) -> RunTimeline:
    """The events of a run by track; `clocks` is the result of `node_clocks`, if available."""
    clocks = clocks or node_clocks(run)
    first_items, placed, total = {}, [], 0
    for name, kind in _KINDS.items():
        events = []
        for table in kind.tables:
            first_items[table] = total
            events.append(_events(run, table, kind.keys).with_row_index("item", total))
            total += events[-1].height
        placed.append(_placed(name, pl.concat(events)))
    spans = pl.concat([spans for spans, _ in placed])
    drawn = spans.filter(pl.col("depth") < DEEPEST)
    too_deep = spans.height - drawn.height
    lines = pl.concat([lines for _, lines in placed], how="diagonal").with_columns(pl.col("line").cast(pl.UInt32))
    tracks = _tracks(run, clocks, drawn, lines)
    kinds, numbers = _kinds(drawn)
    numbered = drawn.join(tracks.select("track", *_TRACK, "process"), on=_TRACK, how="left")
    numbered = numbered.join(numbers, on="name", how="left")
    first_start_ns = clocks.nodes["start_ns"].min() or 0  # of events without a process
    node_start_ns = clocks.processes["start_ns"].gather(numbered["process"]).fill_null(first_start_ns)
    times = pl.col("start_ns", "end_ns") - node_start_ns
    final = numbered.select(pl.col("item").cast(pl.Int32), "track", "kind", times)
    return RunTimeline(
        tracks=tracks.select(RunTimeline.tables["tracks"].names),
        spans=final.sort("item"),
        kinds=kinds,
        first_items=first_items,
        item_count=total,
        duration_ns=clocks.duration_ns,
        untimed_count=total - spans.height,
        too_deep_count=too_deep,
        other_name_count=max(0, numbers.height - kinds.height),
    )


def _events(run: Run, table: str, where: Sequence[str]) -> pl.DataFrame:
    """`start_ns`, `end_ns`, `name` and the columns `where` that identify lines, of all rows of a table."""
    if table == "copies":
        gpus = run.read("agents", ["agent", "kind"]).filter(pl.col("kind") == "GPU")["agent"]
        columns = ["process", "src_agent", "dst_agent", "stream", "queue"]
        rows = run.read(table, [*columns, "name", "start_ns", "end_ns"]).with_columns(copy_agent(gpus))
    elif table == "allocations":
        rows = run.read(table, [*where, "type", "level", "start_ns", "end_ns"])
        texts = [pl.col(part).cast(pl.String).fill_null("") for part in ("type", "level")]
        rows = rows.with_columns(name=pl.concat_str(texts, separator=" ").cast(pl.Categorical))
    elif table == "samples":
        rows = run.read(table, [*where, "name", "time_ns"])
        rows = rows.with_columns(start_ns=pl.col("time_ns"), end_ns=pl.col("time_ns"))
    else:
        rows = run.read(table, [*where, "name", "start_ns", "end_ns"])
    if "stream" in where:
        rows = rows.with_columns(queue=pl.when(pl.col("stream").is_null()).then("queue"))
    return rows.select("start_ns", "end_ns", pl.col("name").fill_null(""), *where)


def _placed(kind: str, rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The timed rows with their `order` (number of the kind of track), `line`, `overlap` and `depth`; and the lines."""
    timed_rows = timed(rows)
    keys = list(_KINDS[kind].keys)
    order = pl.lit(list(_KINDS).index(kind), pl.UInt8).alias("order")
    if kind == "marks":  # moments take no space
        lines = timed_rows.select(keys).unique().sort(keys, nulls_last=True).with_row_index("line")
        with_lines = timed_rows.join(lines, on=keys, how="left", nulls_equal=True, maintain_order="left")
        placed = with_lines.with_columns(overlap=pl.lit(0, pl.UInt32), depth=pl.lit(0, pl.UInt32))
    else:
        lines, events = nested(timed_rows, keys, may_nest=kind == "thread")
        change = pl.when("is_end").then(-1).otherwise(1).cast(pl.Int32)
        starts = events.with_columns(depth=change.cum_sum() - 1).filter(~pl.col("is_end"))
        places = starts.select("line", pl.col("depth").cast(pl.UInt32), overlap="track")
        placed = timed_rows[starts["row"]].hstack(places)
    spans = placed.select("item", "start_ns", "end_ns", "name", order, pl.col("line", "overlap", "depth"))
    return spans, lines.with_columns(order)


def _kinds(spans: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The kinds, and the kind of each name."""
    names = (
        spans.group_by("name")
        .agg(pl.len().alias("count"), (pl.col("end_ns") - pl.col("start_ns")).sum().alias("total_ns"))
        .sort("total_ns", "count", pl.col("name").cast(pl.String), descending=[True, True, False])
        .with_row_index("kind")
    )
    numbers = names.select("name", pl.col("kind").clip(upper_bound=MOST_KINDS - 1).cast(pl.UInt16))
    if names.height > MOST_KINDS:
        names = names.with_columns(pl.col("kind").clip(upper_bound=MOST_KINDS - 1))
        label = f"{names.height - MOST_KINDS + 1:,} other names"
        name = pl.when(pl.len() > 1).then(pl.lit(label)).otherwise(pl.col("name").cast(pl.String).first())
        names = names.group_by("kind", maintain_order=True).agg(pl.col("count", "total_ns").sum(), name.alias("name"))
    return names.select(RunTimeline.tables["kinds"].casts), numbers


def _tracks(run: Run, clocks: NodeClocks, spans: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """The tracks in the order to show: by node, process (ranks in order), then kind."""
    processes = run.read("processes", ["process", "rank", "pid", "command", "node"])
    hosts = run.read("nodes", ["hostname"])["hostname"].to_list()
    groups = [process_label(row, hosts) for row in processes.to_dicts()]
    labelled_processes = processes.select("process", "rank", "pid")
    labelled_processes = labelled_processes.with_columns(
        clocks.processes["node"], pl.Series("group", groups, dtype=pl.String)
    )
    tracks = (
        spans.select(_TRACK)
        .unique()
        .join(lines, on=["order", "line"], how="left")
        .join(labelled_processes, on="process", how="left")
        .with_columns(pl.col("group").fill_null("no process"), pl.col("node").fill_null(""))
        .sort("node", "rank", "pid", "process", *_TRACK, nulls_last=True)
        .with_row_index("track")
    )
    labels = _Labels(run)
    kinds = [list(_KINDS)[order] for order in tracks["order"]]
    texts = [labels.of(kind, row) for kind, row in zip(kinds, tracks.iter_rows(named=True), strict=True)]
    labelled = pl.DataFrame(texts, schema={"part": pl.String, "label": pl.String}, orient="row")
    absent = {"thread", "agent", "stream", "queue"}.difference(tracks.columns)
    return tracks.hstack(labelled).with_columns(
        *(pl.lit(None, pl.UInt32).alias(name) for name in absent), kind=pl.Series(kinds, dtype=pl.String)
    )


class _Labels:
    """Labels of tracks."""

    def __init__(self, run: Run) -> None:
        self._threads = run.read("threads", ["tid", "name"]).rows()
        self._agents = [agent_label(row) for row in run.read("agents").to_dicts()]
        self._lines = {
            "stream": run.read("streams", ["stream_id", "name"]).rows(),
            "queue": run.read("queues", ["queue_id", "name"]).rows(),
        }

    def of(self, kind: str, track: dict[str, int | None]) -> tuple[str, str]:
        """The thread or GPU, and the track of it."""
        row_text = f"(row {track['overlap'] + 1})" if track["overlap"] else ""
        if kind == "allocations":
            return "Allocations", row_text
        if kind in ("thread", "marks"):
            tid, name = ("?", "no thread") if track["thread"] is None else self._threads[track["thread"]]
            return name or f"Thread {tid}", "marks" if kind == "marks" else row_text
        agent = "no GPU" if track["agent"] is None else self._agents[track["agent"]]
        for key, names in self._lines.items():
            number = track[key]
            if number is not None:
                named, name = names[number]
                return agent, " ".join(filter(None, (name or f"{key.capitalize()} {named}", row_text)))
        return agent, " ".join(filter(None, ("no stream", row_text)))


@dataclass(frozen=True)
class RunArea(Answer, package=__package__):
    """The events of some tracks in a window of time, by name."""

    names: pl.DataFrame
    event_count: int
    total_ns: int
    track_count: int


def run_area(timeline: RunTimeline, tracks: Collection[int] | None, start_ns: int, end_ns: int) -> RunArea:
    """The events of tracks of a timeline (None = all) from one time to another, in ns since the start of their node."""
    numbers = timeline.tracks["track"].to_list() if tracks is None else list(tracks)
    first, last = pl.lit(start_ns, pl.Int64), pl.lit(end_ns, pl.Int64)
    is_moment = (pl.col("start_ns") == pl.col("end_ns")) & (pl.col("start_ns") >= first)
    is_inside = (pl.col("start_ns") < last) & ((pl.col("end_ns") > first) | is_moment)
    inside = timeline.spans.filter(pl.col("track").is_in(numbers), is_inside).sort("start_ns", "item")
    length = pl.min_horizontal("end_ns", last) - pl.max_horizontal("start_ns", first)
    longest = pl.col("item", "start_ns").sort_by("length", descending=True, maintain_order=True).first()
    sums = (
        inside.with_columns(length=length)
        .group_by("kind")
        .agg(
            longest.name.prefix("longest_"),
            event_count=pl.len().cast(pl.Int64),
            total_ns=pl.col("length").sum(),
            max_ns=pl.col("length").max(),
            first_ns=pl.col("start_ns").first(),
            first_item=pl.col("item").first().cast(pl.Int64),
        )
    )
    total = int(sums["total_ns"].sum())
    names = (
        sums.join(timeline.kinds.select("kind", "name"), on="kind", how="left")
        .with_columns(
            pl.col("longest_item").cast(pl.Int64),
            longest_ns=pl.col("longest_start_ns"),
            mean_ns=pl.col("total_ns") / pl.col("event_count"),
            share=pl.col("total_ns") / (total or 1),
        )
        .sort("total_ns", "event_count", "kind", descending=[True, True, False])
        .select(RunArea.tables["names"].names)
    )
    return RunArea(names, inside.height, total, len(numbers))
