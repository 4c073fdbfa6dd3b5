"""The requested time window of a source, on the clock of each of its nodes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import polars as pl

from wavewright.analysis.run.select.choice import RunSelection
from wavewright.errors import UsageError
from wavewright.model.losses import Loss
from wavewright.model.run import RunSource

#: Table of events -> its columns of start and end; a run lasts from the first start to the last end.
TIMED = {
    "dispatches": ("start_ns", "end_ns"),
    "copies": ("start_ns", "end_ns"),
    "allocations": ("start_ns", "end_ns"),
    "regions": ("start_ns", "end_ns"),
    "samples": ("time_ns", "time_ns"),
}

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
_TIME = re.compile(r"([+-]?\d{1,40}(?:\.\d{1,40})?)\s*(%|ns|us|µs|ms|s)?")
_FARTHEST = (1 << 63) - 1
_NAMES_COMPARED = 20_000
_NAMES_TOLD = 5


@dataclass
class Windows:
    """The window [start, end] of each process of a source, in ns of its node's clock; None = nothing of it."""

    by_process: list[tuple[int, int] | None]
    notes: list[Loss] = field(default_factory=list)


def windows_of(source: RunSource, selection: RunSelection, processes: Collection[int]) -> Windows | None:
    """The windows of a source, of nodes on which one of the processes ran; None = all of its time.

    Percent, and times after the begin or before the end, refer to what this source recorded on each node: clocks of
    nodes are not aligned, and files are answered one by one. Both kinds of bounds, when given, must hold. Raises
    `UsageError` when a time cannot be read, the window ends before it begins, or no marker has the text.
    """
    if not selection.has_window:
        return None
    nodes = _nodes(source)
    chosen_nodes = {nodes[process] for process in processes}
    starts = dict(selection.node_starts_ns)
    runs = {
        node: (starts.get(node, starts.get(source.path, start)), end)
        for node, (start, end) in _runs(source, nodes).items()
        if node in chosen_nodes
    }
    windows: dict[Any, tuple[int, int] | None] = dict(runs)
    notes: list[Loss] = []
    if selection.begin is not None or selection.end is not None:
        for node, run in runs.items():
            windows[node] = _window(run, selection, notes)
    if selection.between is not None:
        marked = _between(source, nodes, chosen_nodes, selection.between, notes)
        windows = {node: _common(window, marked.get(node)) for node, window in windows.items()}
    return Windows([windows.get(node) for node in nodes], list(dict.fromkeys(notes)))


def _nodes(source: RunSource) -> list[Any]:
    """The node of each process: runs merged into one file have separate rows for the same node."""
    identities: list[Any] = []
    for piece in source.chunks("nodes", ["machine_id", "hostname"]):
        identities += [
            machine or host or len(identities) + place for place, (machine, host) in enumerate(piece.iter_rows())
        ]
    rows = [row for piece in source.chunks("processes", ["node"]) for row in piece["node"]]
    return [None if row is None else identities[row] for row in rows]


def _runs(source: RunSource, nodes: list[Any]) -> dict[Any, tuple[int, int]]:
    """Node -> from the first start to the last end of its events."""
    runs: dict[Any, tuple[int, int]] = {}
    for table, (begin, end) in TIMED.items():
        for piece in source.chunks(table, list(dict.fromkeys(["process", begin, end]))):
            least = pl.col(begin).min().alias("least")
            most = pl.max_horizontal(pl.col(begin).max(), pl.col(end).max()).alias("most")
            for process, first, last in piece.group_by("process").agg(least, most).iter_rows():
                if process is None or first is None:
                    continue
                extent = runs.get(nodes[process], (first, last))
                runs[nodes[process]] = (min(first, extent[0]), max(last, extent[1]))
    return runs


def _window(run: tuple[int, int], selection: RunSelection, notes: list[Loss]) -> tuple[int, int]:
    begin = run[0] if selection.begin is None else _moment(selection.begin, run)
    end = run[1] if selection.end is None else _moment(selection.end, run)
    if begin > end:
        what = f"the window {selection.begin or ''}:{selection.end or ''} ends before it starts"
        raise UsageError(what, advice="pass the earlier time first, for example --time 30%:60%")
    if begin < run[0] or end > run[1]:
        text = f"{selection.begin or ''}:{selection.end or ''}"
        notes.append(Loss("window_beyond_run", detail=f"{text}; the run is {run[0]}:{run[1]} ns"))
    is_apart = begin > run[1] or end < run[0]
    return (begin, end) if is_apart else (max(begin, run[0]), min(end, run[1]))


def _moment(text: str, run: tuple[int, int]) -> int:
    """A time on the clock of the run: fractions of a nanosecond are cut off."""
    match = _TIME.fullmatch(text.strip())
    if match is None or (match[2] is None and "." in match[1]):
        what = f"{text[:40]!r} is not a time"
        raise UsageError(what, advice="times are 30%, 1.5s, 20ms, 10us, 5ns after the start, or nanoseconds: 123456789")
    number, unit = Fraction(match[1]), match[2]
    if unit is None:
        moment = int(number)
    elif unit == "%":
        moment = run[0] + (run[1] - run[0]) * number // 100
    else:
        is_before_end = match[1].startswith("-")
        moment = run[1 if is_before_end else 0] + number * _UNITS[unit] // 1
    return max(-_FARTHEST, min(int(moment), _FARTHEST))


def _common(left: tuple[int, int] | None, right: tuple[int, int] | None) -> tuple[int, int] | None:
    if left is None or right is None:
        return None
    begin, end = max(left[0], right[0]), min(left[1], right[1])
    return (begin, end) if begin <= end else None


def _between(
    source: RunSource, nodes: list[Any], chosen_nodes: Collection[Any], texts: tuple[str, str], notes: list[Loss]
) -> dict[Any, tuple[int, int]]:
    """Node -> from the start of the first marker with the first name to the end of the last with the second."""
    begins: dict[Any, int] = {}
    ends: dict[Any, int] = {}
    counts = dict.fromkeys(texts, 0)
    names: set[str] = set()
    here = pl.Series([process for process, node in enumerate(nodes) if node in chosen_nodes], dtype=pl.UInt32)
    for markers in _markers(source):
        piece = markers.filter(pl.col("process").is_in(here.implode()))
        for text, best, pick, column in ((texts[0], begins, min, "begin"), (texts[1], ends, max, "end")):
            matches = piece.filter(pl.col("name") == text)
            counts[text] += matches.height
            for process, time in matches.select("process", column).iter_rows():
                node = nodes[process]
                best[node] = pick(time, best.get(node, time))
        if len(names) < _NAMES_COMPARED:
            names.update(piece["name"].unique().to_list())
    for text, times in zip(texts, (begins, ends), strict=True):
        if not times:
            raise _no_marker(text, names, source.path)
    repeats = 2 if texts[0] == texts[1] else 1  # each occurrence was counted for both ends
    for text, count in counts.items():
        if count > repeats:
            notes.append(Loss("repeated_marker", count // repeats, detail=text))
    both = {node: (begins[node], ends[node]) for node in begins if node in ends}
    backward = [node for node, (begin, end) in both.items() if begin > end]
    if backward and len(backward) == len(both):
        what = f"marker {texts[1]!r} ends before {texts[0]!r} starts"
        raise UsageError(what, where=source.path, advice="pass the earlier marker first")
    return {node: window for node, window in both.items() if node not in backward}


def _markers(source: RunSource) -> Iterator[pl.DataFrame]:
    """Ranges and marks of the application: process, name, start, end."""
    for table, begin, end in (("regions", "start_ns", "end_ns"), ("samples", "time_ns", "time_ns")):
        for piece in source.chunks(table, list(dict.fromkeys(["process", "domain", "name", begin, end]))):
            yield piece.filter(
                pl.col("domain").cast(pl.String) == "MARKER",
                pl.col("process").is_not_null(),
                pl.col(begin).is_not_null(),
            ).select(
                "process",
                pl.col("name").cast(pl.String),
                pl.col(begin).alias("begin"),
                pl.coalesce(pl.col(end), pl.col(begin)).alias("end"),
            )


def _no_marker(text: str, names: set[str], path: str) -> UsageError:
    what = f"no marker {text!r}"
    recorded = sorted(name for name in names if name)
    if not recorded:
        return UsageError(what, where=path, advice="this run has no markers; choose the time with --time")
    near = difflib.get_close_matches(text, recorded, n=_NAMES_TOLD, cutoff=0.5) or recorded[:_NAMES_TOLD]
    more = f" and {len(recorded) - len(near):,} more" if len(recorded) > len(near) else ""
    return UsageError(what, where=path, advice=f"markers: {', '.join(map(repr, near))}{more}")
