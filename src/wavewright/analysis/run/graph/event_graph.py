"""Event graph of all runs: events with the edges to what they waited for; the ranks of a job meet in collectives.

`combine_graph` numbers the events of all runs through, puts them on one clock and hands them to the native core.
`EventGraph` answers what follows: spans, slack, and lengths after a change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import polars as pl

from wavewright import _core
from wavewright.analysis.run.collectives.meetings import ROWS, ClockOffsets, clock_offsets, matched
from wavewright.analysis.run.graph.change import ON_TIME, Change
from wavewright.analysis.run.graph.graph_events import (
    DEPENDENCIES,
    EVENTS,
    REGIONS,
    TRACKS,
    PartialGraph,
    partial_graph,
)
from wavewright.errors import UsageError
from wavewright.model.run import Run
from wavewright.model.schema import packaged_spec

_NO_EVENT = (1 << 32) - 1  #: What the native core takes for "none" in columns of numbers.
#: More events than this do not fit into the memory of usual machines: about 100 bytes each.
MOST_EVENTS = 64_000_000


@dataclass(frozen=True)
class Prediction:
    """The length of a group of processes after a change: an interval where the record allows several readings."""

    group: int
    span_ns: int  #: As recorded.
    span_ns_min: int
    span_ns_max: int

    @property
    def gain_ns_min(self) -> int:
        """The gain that every reading of the record gives; negative = it becomes slower."""
        return self.span_ns - self.span_ns_max

    @property
    def gain_ns_max(self) -> int:
        """The largest gain that a reading of the record gives."""
        return self.span_ns - self.span_ns_min

    def with_gain_at_most(self, gain_ns: int) -> Prediction:
        """The prediction without readings that gain more than a bound."""
        low, high = (max(span, self.span_ns - gain_ns) for span in (self.span_ns_min, self.span_ns_max))
        return replace(self, span_ns_min=low, span_ns_max=high)


def fastest(predictions: Sequence[Prediction]) -> Prediction:
    """The prediction for one group with the shortest length of every reading."""
    low, high = (min(getattr(row, name) for row in predictions) for name in ("span_ns_min", "span_ns_max"))
    return replace(predictions[0], span_ns_min=low, span_ns_max=high)


@dataclass(frozen=True, eq=False, repr=False)
class EventGraph:
    """The events of all runs, on one clock as far as collectives tell, with the edges between them."""

    #: Columns of `EVENTS`, with `event` (number), `process`, `rank`, `group` and `meeting` (collective over ranks).
    events: pl.DataFrame
    tracks: pl.DataFrame  #: Columns of `TRACKS`; `process` counts over all runs.
    #: `process`, `part` (number of the run), `host`, `pid`, `rank`, `run`, `start_ns`, `end_ns`, `group`.
    processes: pl.DataFrame
    collectives: pl.DataFrame  #: See `matched`; `event` is the number of the event.
    clocks: ClockOffsets
    regions: pl.DataFrame  #: Columns of `REGIONS`, and `part`; on the clock of their run.
    core: _core.EventGraph = field(repr=False)

    @property
    def groups(self) -> list[int]:
        """Groups of processes that meet in collectives, the longest first."""
        spans = self.spans.with_columns(span=pl.col("end_ns") - pl.col("start_ns"))
        return spans.sort("span", "group", descending=[True, False])["group"].to_list()

    @cached_property
    def spans(self) -> pl.DataFrame:
        """`group`, `start_ns`, `end_ns`, `process_count`: from the first event of its processes to the last."""
        timed = self.processes.filter(pl.col("start_ns").is_not_null())
        return (
            timed.group_by("group")
            .agg(pl.col("start_ns").min(), pl.col("end_ns").max(), process_count=pl.len().cast(pl.Int64))
            .sort("group")
        )

    @cached_property
    def tolerances(self) -> pl.DataFrame:
        """`group`, `tolerance_ns`: by how much the clocks of CPU and GPU contradict each other in its processes."""
        values = self.processes.select("group", tolerance_ns=pl.Series(self.core.tolerance_ns, dtype=pl.Int64))
        return values.group_by("group").agg(pl.col("tolerance_ns").max())

    @cached_property
    def incomplete_collectives(self) -> pl.Series:
        """Events of collectives some of whose ranks are not in the record: one rank alone makes no collective."""
        is_alone = pl.col("meeting").is_null()
        members = pl.when(is_alone).then(1).otherwise(pl.len().over("meeting"))
        is_incomplete = (pl.col("group_size") > members).fill_null(is_alone)
        return self.collectives.filter(is_incomplete, pl.col("event").is_not_null())["event"]

    @cached_property
    def losses(self) -> dict[str, int]:
        """Amount of the record that contradicts itself and is not part of the graph, by kind."""
        return {name: count for name, count in self.core.losses.items() if count}

    def slack(self) -> pl.Series:
        """By how much each event could end later without delaying the end of its group, in ns."""
        return pl.DataFrame(self.core.slack())["slack_ns"]

    def what_if(self, change: Change) -> list[Prediction]:
        """The length of each group after a change, in the order of `groups`.

        All nodes are computed again under every reading of the record: inferred edges taken for real or not, and edges
        that did not bind with the shortest or the median lag of their kind.
        """
        columns = change.columns(self.events.height)
        punctual = self.events["process"].gather(change.flagged(ON_TIME)).unique()
        lengths = [
            self._lengths(
                pl.DataFrame(self.core.recompute(**columns, without_inferred=without, typical_lags=typical)), punctual
            )
            for without in (False, True)
            for typical in (False, True)
        ]
        together = pl.concat(lengths).group_by("group").agg(low=pl.col("ns").min(), high=pl.col("ns").max())
        recorded = self.spans.join(together, on="group", how="left")
        span = pl.col("end_ns") - pl.col("start_ns")
        rows = recorded.select("group", span, pl.coalesce("low", span), pl.coalesce("high", span)).rows()
        predictions = {row[0]: Prediction(*row) for row in rows}
        return [predictions[group] for group in self.groups]

    def _lengths(self, times: pl.DataFrame, punctual: pl.Series) -> pl.DataFrame:
        """`group` and `ns`: from the start of the group to the end of what follows the last event of its processes.

        Threads that neither launch nor wait do not count, where others do: nothing says what they wait for. Processes
        that are `punctual` by assumption do not end last: their own events are still as late as recorded.
        """
        ends = self.events.select("process", before="end_ns").with_columns(
            after=times["end_ns"], is_working=self.tracks["is_working"].gather(self.events["track"])
        )
        lasts = ends.group_by("process", "is_working").agg(pl.col("before").max(), pl.col("after").max())
        last = lasts.sort("is_working").group_by("process", maintain_order=True).last()
        processes = self.processes.join(last, on="process")
        processes = processes.with_columns(end_ns=pl.col("after") + pl.col("end_ns") - pl.col("before"))
        others = processes.filter(~pl.col("process").is_in(punctual.implode()))
        ending = pl.concat([others, processes.join(others, on="group", how="anti")])
        starts = self.spans.select("group", group_start_ns="start_ns")
        return (
            ending.join(starts, on="group")
            .group_by("group")
            .agg(ns=(pl.col("end_ns") - pl.col("group_start_ns")).max())
            .sort("group")
        )


def combine_graph(partials: Sequence[PartialGraph]) -> EventGraph:
    """The graph of all runs. Raises `UsageError` when there are more than `MOST_EVENTS` events."""
    count = sum(part.events.height for part in partials)
    if count > MOST_EVENTS:
        what = f"{count:,} events are more than the {MOST_EVENTS:,} that one event graph may have"
        raise UsageError(what, advice="choose a part of the run: --time A:B, or some ranks: --rank N")
    united = _united(partials)
    rows = matched(united["collectives"])
    clocks = clock_offsets(rows)
    processes = _grouped(united["processes"], rows)
    events, processes = _on_one_clock(united["events"], united["tracks"], processes, clocks)
    events, rows = _with_meetings(events, rows)
    tracks, dependencies = united["tracks"], united["dependencies"]
    core = _core.EventGraph(
        {
            name: events[name].fill_null(_NO_EVENT) if events[name].dtype == pl.UInt32 else events[name]
            for name in ("track", "start_ns", "end_ns", "launch", "meeting", "awaits", "awaited")
        },
        {
            **{name: tracks[name] for name in ("process", "is_gpu", "is_working")},
            "gpu": tracks["gpu"].cast(pl.UInt32, strict=False).fill_null(_NO_EVENT),
        },
        {name: dependencies[name] for name in DEPENDENCIES},
        processes["group"],
    )
    return EventGraph(events, tracks, processes, rows, clocks, united["regions"], core)


def event_graph(run: Run) -> EventGraph:
    """The graph of a run."""
    return combine_graph([partial_graph(part) for part in run.parts])


_PROCESSES = packaged_spec(__package__, "processes").dtypes


def _united(partials: Sequence[PartialGraph]) -> dict[str, pl.DataFrame]:
    """The tables of all runs with `part`, the number of the run; events, tracks and processes are numbered through."""
    columns = {
        "events": EVENTS,
        "tracks": TRACKS,
        "dependencies": DEPENDENCIES,
        "processes": _PROCESSES,
        "collectives": ROWS.dtypes,
        "regions": REGIONS,
    }
    tables = {name: [pl.DataFrame(schema=dtypes | {"part": pl.UInt32})] for name, dtypes in columns.items()}
    event_count = track_count = process_count = 0
    for number, part in enumerate(partials):
        counts = (event_count, track_count, process_count)
        of_events, of_tracks, of_processes = (pl.lit(count, pl.UInt32) for count in counts)
        shifted = {
            "events": [pl.col("launch") + of_events, pl.col("track", "awaited") + of_tracks],
            "tracks": [pl.col("process") + of_processes],
            "dependencies": [pl.col("before", "after") + of_events],
        }
        for name, dtypes in columns.items():
            rows: pl.DataFrame = getattr(part, name).select(*dtypes, pl.lit(number, pl.UInt32).alias("part"))
            tables[name].append(rows.with_columns(shifted.get(name, [])))
        event_count += part.events.height
        track_count += part.tracks.height
        process_count += part.processes.height
    return {name: pl.concat(frames) for name, frames in tables.items()}


def _grouped(processes: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Processes with `process`, `local` (number in their run) and `group`: those that meet each other are one group."""
    numbered = processes.with_row_index("process")
    numbered = numbered.with_columns(local=pl.int_range(pl.len(), dtype=pl.UInt32).over("part"))
    keys = numbered.select("part", "process", "local")
    members = rows.filter(pl.col("meeting").is_not_null()).select("meeting", "part", local="process")
    numbered_members = members.join(keys, on=["part", "local"]).select("meeting", "process").unique()
    pairs = (
        numbered_members.group_by("meeting")
        .agg(pl.col("process").min().alias("first"), pl.col("process"))
        .explode("process")
    )
    group = list(range(numbered.height))  #: Of each process: a process of its group, itself where it is the lowest.
    for first, process in pairs.select("first", "process").unique().sort("first", "process").iter_rows():
        low, high = sorted((_lowest(group, first), _lowest(group, process)))
        group[high] = low
    groups = [_lowest(group, process) for process in range(numbered.height)]
    return numbered.with_columns(group=pl.Series(groups, dtype=pl.UInt32))


def _lowest(group: list[int], process: int) -> int:
    """The lowest process of a group, by the chain of lower ones, which is shortened on the way."""
    while group[process] != process:
        group[process] = process = group[group[process]]
    return process


def _on_one_clock(
    events: pl.DataFrame, tracks: pl.DataFrame, processes: pl.DataFrame, clocks: ClockOffsets
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Events and processes with their times on the clock of the reference, where the offset is known."""
    offsets = clocks.table.select("part", pl.col("offset_ns").fill_null(0), local="process")
    processes = (
        processes.join(offsets, on=["part", "local"], how="left", maintain_order="left")
        .with_columns(pl.col("offset_ns").fill_null(0))
        .with_columns(pl.col("start_ns", "end_ns") + pl.col("offset_ns"))
    )
    process = tracks["process"].gather(events["track"])
    offset = processes["offset_ns"].gather(process)
    placed = events.with_columns(
        pl.col("start_ns", "end_ns") + offset,
        process=process,
        **{name: processes[name].gather(process) for name in ("rank", "group")},
    )
    return placed.with_row_index("event"), processes


def _with_meetings(events: pl.DataFrame, rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Events with `meeting`, numbered from 0, and the collectives with their `event`."""
    is_kernel = pl.lit(bool(rows.height)) & pl.col("kind").is_in(["kernel", "communication"])
    numbers = events.filter(is_kernel).select("part", "row", "event")
    rows = rows.join(numbers, on=["part", "row"], how="left", maintain_order="left")
    is_met = pl.col("meeting").is_not_null() & pl.col("event").is_not_null()
    meetings = rows.filter(is_met).select("event", pl.col("meeting").rank("dense").cast(pl.UInt32) - 1)
    column = pl.repeat(None, events.height, dtype=pl.UInt32, eager=True)
    return events.with_columns(meeting=column.scatter(meetings["event"], meetings["meeting"])), rows
