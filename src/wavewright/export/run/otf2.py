"""A run as an OTF2 archive, which Vampir and the tools around Score-P open; needs the package otf2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from wavewright.analysis.run.measures.event_rows import nested, timed
from wavewright.base.shown import shown
from wavewright.errors import MissingToolError
from wavewright.export.kit.staging import staged
from wavewright.export.kit.writer_result import Written, left_out
from wavewright.export.run.labels import gpu_of_copies
from wavewright.model.losses import Loss
from wavewright.model.run import Run
from wavewright.model.run_labels import agent_label, process_label

_ANCHOR = "traces.otf2"
_NANOSECONDS = 1_000_000_000  #: Timer ticks per second.
_LEFT_OUT = ("allocations", "counters", "arguments", "monitors", "frames")  #: Tables that are not written.


def write_otf2(run: Run, out: str | PathLike[str], *, force: bool = False) -> Written:
    """Write a folder with an OTF2 archive: `traces.otf2` and its other files.

    Every host is a node of the system tree, every process a location group with its threads, every GPU that it uses an
    accelerator group with its queues. Events are Enter and Leave at the nanoseconds that were recorded, of regions
    whose description is their category (HIP_RUNTIME_API, kernel_dispatch, ...); what overlaps on a queue has a location
    of its own. Counters, allocations and arguments are not written. Raises `MissingToolError` when the package otf2 is
    not installed; `UsageError` when the folder exists and must not be replaced; `WavewrightError` when it cannot be
    written.
    """
    otf2 = _package()
    target = Path(out)
    losses: list[Loss] = []
    with staged([target], force=force, mark=_ANCHOR) as (twin,):
        try:
            with otf2.writer.open(str(twin), timer_resolution=_NANOSECONDS) as archive:
                definitions = _Definitions(otf2, archive)
                for part in run.parts:
                    _write_part(part, archive, definitions, losses)
        except import_module("_otf2").Error as error:  # the library's error for a full disk
            raise OSError(str(error)) from error
    counts = {table: run.count(table) for table in ("dispatches", "copies", "regions", "samples")}
    losses += left_out(run, _LEFT_OUT)
    return Written(target, counts | {"locations": definitions.location_count}, losses)


def _package() -> Any:
    try:
        import_module("otf2.writer")
        return import_module("otf2")
    except (ImportError, OSError) as error:  # OSError: the package is there, but not the library that it loads
        problem = "OTF2 archives need the package otf2"
        raise MissingToolError(problem, advice="pip install 'wavewright[otf2]'") from error


class _Definitions:
    """The definitions that events refer to, each made once."""

    def __init__(self, otf2: Any, archive: Any) -> None:
        self._otf2 = otf2
        self._make = archive.definitions
        self._root = self._make.system_tree_node("run", class_name="machine")
        self._nodes: dict[str, Any] = {}
        self._regions: dict[tuple[str, str], Any] = {}
        self.location_count = 0

    def node(self, hostname: str) -> Any:
        """A computer."""
        if hostname not in self._nodes:
            self._nodes[hostname] = self._make.system_tree_node(shown(hostname), "node", parent=self._root)
        return self._nodes[hostname]

    def process(self, label: str, node: Any) -> Any:
        """A process."""
        kind = self._otf2.LocationGroupType.PROCESS
        return self._make.location_group(shown(label), location_group_type=kind, system_tree_parent=node)

    def accelerator(self, label: str, process: Any, node: Any) -> Any:
        """A GPU as one process uses it."""
        return self._make.location_group(
            shown(label),
            location_group_type=self._otf2.LocationGroupType.ACCELERATOR,
            system_tree_parent=node,
            creating_location_group=process,
        )

    def location(self, track: Track, group: Any) -> Any:
        """A thread or a queue."""
        self.location_count += 1
        types = self._otf2.LocationType
        kind = types.CPU_THREAD if track.agent is None else types.ACCELERATOR_STREAM
        return self._make.location(shown(track.label), type=kind, group=group)

    def region(self, name: str, category: str, kind: str) -> Any:
        """A function, a kernel or a kind of copy; its category is its description."""
        if (name, category) not in self._regions:
            roles = self._otf2.RegionRole
            self._regions[name, category] = self._make.region(
                shown(name).replace("\0", " ") or "(unnamed)",
                description=category,
                region_role=roles.DATA_TRANSFER if kind == "copy" else roles.FUNCTION,
                paradigm=self._otf2.Paradigm.HIP,
            )
        return self._regions[name, category]


def _write_part(run: Run, archive: Any, definitions: _Definitions, losses: list[Loss]) -> None:
    hostnames = run.read("nodes", ["hostname"])["hostname"].to_list()
    agents = [agent_label(agent) for agent in run.read("agents").to_dicts()]
    labels, nodes, processes = [], [], []
    for row in run.read("processes").to_dicts():
        hostname = None if row["node"] is None else hostnames[row["node"]]
        labels.append(process_label(row, hostnames))
        nodes.append(definitions.node(hostname or "unknown host"))
        processes.append(definitions.process(labels[-1], nodes[-1]))
    accelerators: dict[tuple[int, int], Any] = {}
    for timeline in timelines(run, losses):
        process, agent = timeline.track.process, timeline.track.agent
        if process is None:  # in damaged files: all of them get one process
            process = len(run.processes)
            if process == len(processes):
                labels.append("no process")
                nodes.append(definitions.node("unknown host"))
                processes.append(definitions.process(labels[-1], nodes[-1]))
        group = processes[process]
        if agent is not None:
            if (process, agent) not in accelerators:
                label = f"{agents[agent]} of {labels[process]}"
                accelerators[process, agent] = definitions.accelerator(label, group, nodes[process])
            group = accelerators[process, agent]
        location = definitions.location(timeline.track, group)
        _write_events(timeline, archive.event_writer_from_location(location), definitions)


def _write_events(timeline: Timeline, writer: Any, definitions: _Definitions) -> None:
    """Write Enter and Leave events one by one: the package has no faster way."""
    rows = timeline.events.select("time_ns", "is_end", pl.col("name").cast(pl.String), "category", "kind").iter_rows()
    for time, is_end, name, category, kind in rows:
        region = definitions.region(name or "", category or "", kind)
        if is_end:
            writer.leave(time, region)
        else:
            writer.enter(time, region)


# --- the events of a run by track: calls of each thread, work of each queue, as balanced starts and ends ---


class Track(NamedTuple):
    """A thread or a queue of a GPU, with events one after another or nested."""

    process: int | None
    thread: int | None
    agent: int | None
    label: str
    overlap: int  #: 0; 1, 2, ... = a further track for events that overlap those of the same thread or queue.


class Timeline(NamedTuple):
    """A track with its events: `time_ns`, `is_end`, `name` (Categorical), `category`, `kind`; each end belongs to the
    last open start.
    """

    track: Track
    events: pl.DataFrame


def timelines(run: Run, losses: list[Loss]) -> Iterator[Timeline]:
    """The tracks of one source: threads, then queues of GPUs. Events without a time become losses."""
    calls = run.read("regions", ["process", "thread", "category", "name", "start_ns", "end_ns"])
    marks = run.read("samples", ["process", "thread", "category", "name", "time_ns"])
    marks = marks.rename({"time_ns": "start_ns"}).with_columns(end_ns=pl.col("start_ns"))
    on_threads = pl.concat([calls, marks.select(calls.columns)]).with_columns(
        pl.col("category").cast(pl.String), kind=pl.lit("call")
    )
    on_threads = _timed(on_threads, "calls, ranges and marks", losses)
    yield from _timelines(on_threads, ["process", "thread"], _thread_tracks(run), may_nest=True)
    dispatches = run.read("dispatches", ["process", "agent", "queue", "name", "start_ns", "end_ns"])
    copies = run.read("copies", ["process", "src_agent", "dst_agent", "queue", "name", "start_ns", "end_ns"])
    copies = copies.with_columns(gpu_of_copies(run, copies)).select(dispatches.columns)
    work = pl.concat([
        dispatches.with_columns(category=pl.lit("kernel_dispatch"), kind=pl.lit("kernel")),
        copies.with_columns(category=pl.lit("memory_copy"), kind=pl.lit("copy")),
    ])  # fmt: skip
    work = _timed(work, "dispatches and copies", losses)
    yield from _timelines(work, ["process", "agent", "queue"], _queue_tracks(run), may_nest=False)


def _timed(frame: pl.DataFrame, name: str, losses: list[Loss]) -> pl.DataFrame:
    """Rows that have a time; the others become a loss."""
    rows = timed(frame)
    if rows.height < frame.height:
        detail = f"{name} (no time, or one before 0)"
        losses.append(Loss("not_in_format", count=frame.height - rows.height, detail=detail))
    return rows


def _thread_tracks(run: Run) -> Callable[..., Track]:
    """A function that makes the track of a process and a thread."""
    tids = run.read("threads", ["tid", "name"]).rows()

    def track(process: int | None, thread: int | None, overlap: int) -> Track:
        tid, name = tids[thread] if thread is not None else (None, "no thread")
        return Track(process, thread, None, (name or f"Thread {tid}") + _overlap(overlap), overlap)

    return track


def _queue_tracks(run: Run) -> Callable[..., Track]:
    """A function that makes the track of a process, an agent and a queue."""
    agents = [agent_label(agent) for agent in run.read("agents").to_dicts()]
    queues = run.read("queues", ["queue_id", "name"]).rows()

    def track(process: int | None, agent: int | None, queue: int | None, overlap: int) -> Track:
        number, name = queues[queue] if queue is not None else (None, "no queue")
        gpu = "no GPU" if agent is None else agents[agent]
        return Track(process, None, agent, f"{gpu}, {name or f'Queue {number}'}" + _overlap(overlap), overlap)

    return track


def _overlap(overlap: int) -> str:
    return f", overlap {overlap}" if overlap else ""


def _timelines(
    frame: pl.DataFrame, keys: list[str], track_of: Callable[..., Track], *, may_nest: bool
) -> Iterator[Timeline]:
    """Timelines of the rows with equal keys; where they overlap and may not nest, several."""
    # lines: `line` and `keys`; edges: `line`, `track` (number of the overlap), `row` of the frame, `is_end`
    lines, edges = nested(frame, keys, may_nest=may_nest)
    for (line, overlap), events in edges.group_by("line", "track", maintain_order=True):
        rows = frame[events["row"]]
        time = rows["end_ns"].zip_with(events["is_end"], rows["start_ns"]).alias("time_ns")
        ids = lines.row(int(str(line)))[1:]
        yield Timeline(
            track_of(*ids, int(str(overlap))),
            rows.select("name", "category", "kind").with_columns(time, events["is_end"]),
        )
