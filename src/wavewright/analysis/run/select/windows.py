"""The time window that a selection asks for (`--time`, `--between`), on the clock of each node of a source.

All times are ns of the clock of a node: clocks of nodes are not aligned, so each node has its own window.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import polars as pl

from wavewright.analysis.run.select.choice import RunSelection
from wavewright.errors import UsageError
from wavewright.model.losses import Loss
from wavewright.model.run import RunSource

#: Table of events -> its columns of start and end. A recording extends from the first start to the last end of all.
TIMED = {
    "dispatches": ("start_ns", "end_ns"),
    "copies": ("start_ns", "end_ns"),
    "allocations": ("start_ns", "end_ns"),
    "regions": ("start_ns", "end_ns"),
    "samples": ("time_ns", "time_ns"),
}

_UNITS_NS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
_TIME = re.compile(r"([+-]?\d{1,40}(?:\.\d{1,40})?)\s*(%|ns|us|µs|ms|s)?")
_INT64_MAX = (1 << 63) - 1  #: Times of events are Int64.
_NAMES_COMPARED_MAX = 20_000  #: A misspelt marker is compared with at most about so many names.
_NAMES_SHOWN = 5  #: Names that the error suggests, at most.


class NodeInterval(NamedTuple):
    """The extent of a recording on a node, or a window of it: ns of the clock of the node."""

    start: int
    end: int


@dataclass
class Windows:
    """The window of each process of a source; None = no event of the process is selected."""

    by_process: list[NodeInterval | None]
    notes: list[Loss] = field(default_factory=list)


def windows_of(source: RunSource, selection: RunSelection, processes: Collection[int]) -> Windows | None:
    """The windows of the nodes on which one of the `processes` ran; None = the selection has no window.

    Percentages, and times after the start or before the end, refer to what this source recorded on each node: clocks of
    nodes are not aligned, and each source is analysed alone. With a time window and markers, the window is what both
    have in common. Raises `UsageError` when a time cannot be read, the window ends before it starts, or no marker has
    the name.
    """
    if not selection.has_window:
        return None
    nodes = _nodes(source)
    chosen_nodes = {nodes[process] for process in processes}
    # Keys are nodes (machine id, else host name) or, where a file names no node, paths of sources.
    starts_by_key = dict(selection.node_starts_ns)
    extents = {}
    for node, extent in _extents(source, nodes).items():
        if node in chosen_nodes:
            start = starts_by_key.get(node, starts_by_key.get(source.path, extent.start))
            extents[node] = extent._replace(start=start)
    windows: dict[Any, NodeInterval | None] = dict(extents)
    notes: list[Loss] = []
    if selection.begin is not None or selection.end is not None:
        for node, extent in extents.items():
            windows[node] = _time_window(extent, selection, notes)
    if selection.between is not None:
        between = _windows_between(source, nodes, chosen_nodes, selection.between, notes)
        windows = {node: _intersection(window, between.get(node)) for node, window in windows.items()}
    return Windows([windows.get(node) for node in nodes], list(dict.fromkeys(notes)))


def _nodes(source: RunSource) -> list[Any]:
    """The node of each process: machine id, else host name, else a number of its own.

    Runs merged into one file have separate rows for the same node, which the machine id brings together.
    """
    identities: list[Any] = []
    for piece in source.chunks("nodes", ["machine_id", "hostname"]):
        numbered = enumerate(piece.iter_rows(), start=len(identities))
        identities += [machine or host or number for number, (machine, host) in numbered]
    rows = [row for piece in source.chunks("processes", ["node"]) for row in piece["node"]]
    return [None if row is None else identities[row] for row in rows]


def _extents(source: RunSource, nodes: list[Any]) -> dict[Any, NodeInterval]:
    """Node -> from the first start to the last end of its events."""
    extents: dict[Any, NodeInterval] = {}
    for table, (start, end) in TIMED.items():
        for piece in source.chunks(table, list(dict.fromkeys(["process", start, end]))):
            first = pl.col(start).min().alias("first")
            last = pl.max_horizontal(pl.col(start).max(), pl.col(end).max()).alias("last")
            for process, first_ns, last_ns in piece.group_by("process").agg(first, last).iter_rows():
                if process is None or first_ns is None:
                    continue
                node = nodes[process]
                extent = extents.get(node, NodeInterval(first_ns, last_ns))
                extents[node] = NodeInterval(min(first_ns, extent.start), max(last_ns, extent.end))
    return extents


def _time_window(extent: NodeInterval, selection: RunSelection, notes: list[Loss]) -> NodeInterval:
    """The window of `--time` on a node, without what lies outside the recording (a note says so)."""
    start = extent.start if selection.begin is None else _moment(selection.begin, extent)
    end = extent.end if selection.end is None else _moment(selection.end, extent)
    text = f"{selection.begin or ''}:{selection.end or ''}"
    if start > end:
        advice = "pass the earlier time first, for example --time 30%:60%"
        raise UsageError(f"the window {text} ends before it starts", advice=advice)
    if start < extent.start or end > extent.end:
        notes.append(Loss("window_beyond_run", detail=f"{text}; the run is {extent.start}:{extent.end} ns"))
    if start > extent.end or end < extent.start:
        # Outside the recording: it stays as it is, so that it selects nothing. Clipped, it would end before it starts.
        return NodeInterval(start, end)
    return NodeInterval(max(start, extent.start), min(end, extent.end))


def _moment(text: str, extent: NodeInterval) -> int:
    """The time that a text means, in ns of the node's clock; fractions of a nanosecond are cut off.

    A bare integer is a time of the node's clock. `5ms` counts from the start of the extent, `-5ms` from its end, and
    `30%` is a part of the extent after its start. Raises `UsageError` for anything else.

    >>> [_moment(text, NodeInterval(1_000, 3_000)) for text in ("1200", "0.5us", "-100ns", "30%")]
    [1200, 1500, 2900, 1600]
    """
    match = _TIME.fullmatch(text.strip())
    if match is None or (match[2] is None and "." in match[1]):
        what = f"{text[:40]!r} is not a time"
        raise UsageError(what, advice="times are 30%, 1.5s, 20ms, 10us, 5ns after the start, or nanoseconds: 123456789")
    number, unit = Fraction(match[1]), match[2]
    if unit is None:
        moment = int(number)
    elif unit == "%":
        moment = extent.start + (extent.end - extent.start) * number // 100
    else:
        origin = extent.end if match[1].startswith("-") else extent.start
        moment = origin + number * _UNITS_NS[unit] // 1
    return max(-_INT64_MAX, min(int(moment), _INT64_MAX))


def _intersection(left: NodeInterval | None, right: NodeInterval | None) -> NodeInterval | None:
    if left is None or right is None:
        return None
    start, end = max(left.start, right.start), min(left.end, right.end)
    return NodeInterval(start, end) if start <= end else None


def _windows_between(
    source: RunSource, nodes: list[Any], chosen_nodes: Collection[Any], names: tuple[str, str], notes: list[Loss]
) -> dict[Any, NodeInterval]:
    """Node -> from the start of its first marker with the first name to the end of its last with the second."""
    starts, ends = _marker_times(source, nodes, chosen_nodes, names, notes)
    windows = {node: NodeInterval(starts[node], ends[node]) for node in starts if node in ends}
    forward = {node: window for node, window in windows.items() if window.start <= window.end}
    if windows and not forward:
        what = f"marker {names[1]!r} ends before {names[0]!r} starts"
        raise UsageError(what, where=source.path, advice="pass the earlier marker first")
    return forward


def _marker_times(
    source: RunSource, nodes: list[Any], chosen_nodes: Collection[Any], names: tuple[str, str], notes: list[Loss]
) -> tuple[Mapping[Any, int], Mapping[Any, int]]:
    """Node -> first start of a marker with the first name, and node -> last end of one with the second.

    Raises `UsageError` when a name occurs on no chosen node; a name that occurs more than once is a note.
    """
    starts: dict[Any, int] = {}
    ends: dict[Any, int] = {}
    counts = dict.fromkeys(names, 0)
    recorded_names: set[str] = set()
    processes = pl.Series([process for process, node in enumerate(nodes) if node in chosen_nodes], dtype=pl.UInt32)
    for piece in _markers(source):
        markers = piece.filter(pl.col("process").is_in(processes.implode()))
        for name, times, earliest_or_latest, column in ((names[0], starts, min, "start"), (names[1], ends, max, "end")):
            matches = markers.filter(pl.col("name") == name)
            counts[name] += matches.height
            for process, time in matches.select("process", column).iter_rows():
                node = nodes[process]
                times[node] = earliest_or_latest(time, times.get(node, time))
        if len(recorded_names) < _NAMES_COMPARED_MAX:
            recorded_names.update(markers["name"].unique().to_list())
    for name, times in zip(names, (starts, ends), strict=True):
        if not times:
            raise _no_marker(name, recorded_names, source.path)
    lookups = 2 if names[0] == names[1] else 1  # one name for both: each of its markers was counted twice
    for name, count in counts.items():
        if count > lookups:
            notes.append(Loss("repeated_marker", count // lookups, detail=name))
    return starts, ends


def _markers(source: RunSource) -> Iterator[pl.DataFrame]:
    """Ranges and marks of the application: process, name, start, end."""
    for table, start, end in (("regions", "start_ns", "end_ns"), ("samples", "time_ns", "time_ns")):
        for piece in source.chunks(table, list(dict.fromkeys(["process", "domain", "name", start, end]))):
            yield piece.filter(
                pl.col("domain").cast(pl.String) == "MARKER",
                pl.col("process").is_not_null(),
                pl.col(start).is_not_null(),
            ).select(
                "process",
                pl.col("name").cast(pl.String),
                pl.col(start).alias("start"),
                pl.coalesce(pl.col(end), pl.col(start)).alias("end"),
            )


def _no_marker(name: str, recorded_names: set[str], path: str) -> UsageError:
    """The error that no marker has the name, with the most similar names of recorded markers."""
    what = f"no marker {name!r}"
    candidates = sorted(filter(None, recorded_names))
    if not candidates:
        return UsageError(what, where=path, advice="this run has no markers; choose the time with --time")
    similar = difflib.get_close_matches(name, candidates, n=_NAMES_SHOWN, cutoff=0.5) or candidates[:_NAMES_SHOWN]
    rest = f" and {len(candidates) - len(similar):,} more" if len(candidates) > len(similar) else ""
    return UsageError(what, where=path, advice=f"markers: {', '.join(map(repr, similar))}{rest}")
