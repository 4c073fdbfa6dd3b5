"""Captures that clients named: each has a handle, is read when first asked about, and leaves memory for others."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.base.shown import shown
from wavewright.errors import UsageError
from wavewright.mcp.roots import Roots
from wavewright.model.counters import CounterSet
from wavewright.model.document import Document
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace

MOST_OPEN = 8  #: Captures whose data are in memory.
MOST_BYTES = 4 << 30  #: Of tables in memory; the capture of the current question may take more.
MOST_HANDLES = 10_000  #: Captures that one server names.
MOST_ANSWERS = 100  #: Cached results of one capture.
_HANDLE = re.compile(r"c[0-9]{1,6}")
_DEPTH = 4  #: Nested containers and objects in which tables are looked for, to add up their memory.


@dataclass(frozen=True)
class Capture:
    """A capture that was named: its handle stays valid, its data may be read again."""

    handle: str
    path: Path
    name: str  #: How a client names its path.
    wanted: str = ""  #: trace, run or counters, if the client chose one.
    dispatch: str = ""
    target: str = ""  #: The GPU of counters that do not name it.


class Captures:
    """All captures that were named, and the few of them whose data are in memory."""

    def __init__(self, roots: Roots) -> None:
        self.roots = roots
        self._lock = threading.Lock()
        self._named: dict[tuple[str, str, str, str], Capture] = {}
        self._by_handle: dict[str, Capture] = {}
        self._documents: OrderedDict[str, Document] = OrderedDict()

    @property
    def named(self) -> list[Capture]:
        """Every capture that has a handle."""
        return list(self._by_handle.values())

    def at(self, given: str) -> list[Capture]:
        """The captures with this handle, name or path."""
        return [capture for capture in self.named if given in (capture.handle, capture.name, str(capture.path))]

    def is_open(self, handle: str) -> bool:
        """True if its data are in memory."""
        document = self._documents.get(handle)
        return document is not None and document.is_open

    def add(self, given: str, *, wanted: str = "", dispatch: str = "", target: str = "") -> Capture:
        """The capture at a path, which gets a handle if it has none.

        Raises `UsageError` when the path is not one that may be read.
        """
        path = self.roots.path(given)
        name = self.roots.relative(path)
        with self._lock:
            key = (str(path), wanted, dispatch.removeprefix("d"), target)
            if key not in self._named:
                if len(self._named) >= MOST_HANDLES:
                    problem = f"more than {MOST_HANDLES:,} captures were opened"
                    raise UsageError(problem, advice="start the server again")
                capture = Capture(f"c{len(self._named) + 1}", path, name, *key[1:])
                self._named[key] = self._by_handle[capture.handle] = capture
            return self._named[key]

    def get(self, given: str) -> Capture:
        """The capture of a handle, or at a path. Raises `UsageError` when there is none."""
        if not _HANDLE.fullmatch(given):
            return self.add(given)
        if given not in self._by_handle:
            handles = ", ".join(self._by_handle) or "none"
            advice = f"open_capture gives a handle for a path; handles so far: {handles[:200]}"
            raise UsageError(f"there is no capture {given}", advice=advice)
        return self._by_handle[given]

    def document(self, capture: Capture) -> Document:
        """The data of a capture; the captures that were not used for longest leave memory."""
        with self._lock:
            document = self._documents.get(capture.handle)
            if document is None:
                if not self.roots.holds(capture.path):  # it may have been replaced by a link since it was named
                    what = "this path leads out of the folders that may be read"
                    raise UsageError(what, where=capture.name, advice="list_captures finds others")
                label = shown(capture.path.name)
                document = Document(0, label, str(capture.path), partial(_opened, capture))
                self._documents[capture.handle] = document
            self._documents.move_to_end(capture.handle)
        try:
            _ = document.opened
        except BaseException:
            with self._lock:
                self._documents.pop(capture.handle, None)  # the next try may succeed
            raise
        with self._lock:
            self._make_room()
            for key in list(document.cache)[:-MOST_ANSWERS]:
                document.cache.pop(key, None)  # the oldest results
        return document

    def _make_room(self) -> None:
        sizes = {handle: _byte_count(document) for handle, document in self._documents.items()}
        while len(sizes) > 1 and (len(sizes) > MOST_OPEN or sum(sizes.values()) > MOST_BYTES):
            handle = next(iter(sizes))
            del sizes[handle], self._documents[handle]


def _opened(capture: Capture) -> ThreadTrace | Run | CounterSet:
    from wavewright.base.job_folders import read_instead
    from wavewright.readers.opening import open as open_path
    from wavewright.readers.opening import open_trace
    from wavewright.readers.trace.sources import add_sources_beside

    path = read_instead(str(capture.path))
    if capture.wanted == "counters" or capture.target:
        from wavewright.readers.counters import open_counters

        return open_counters(path, target=capture.target or None)
    if capture.wanted == "run":
        from wavewright.readers.run.inputs import open_run

        return open_run(path)
    opener = open_trace if capture.wanted == "trace" else open_path
    opened = opener(path, dispatch=capture.dispatch or None)
    if isinstance(opened, ThreadTrace):
        for place in {capture.path, Path(opened.source.path)}:
            add_sources_beside(opened, place)
    elif capture.dispatch:
        raise UsageError("only thread traces have dispatches to choose", where=capture.name, advice="leave it out")
    return opened


def _byte_count(document: Document) -> int:
    """Estimated memory of the tables of a document."""
    if not document.is_open:
        return 0
    return _frames_bytes([vars(document.opened), document.cache], _DEPTH, set())


def _frames_bytes(value: Any, depth: int, seen: set[int]) -> int:
    if id(value) in seen:  # tables that several answers share count once
        return 0
    seen.add(id(value))
    if isinstance(value, pl.DataFrame | pl.Series):
        return int(value.estimated_size())
    if depth == 0:
        return 0
    if isinstance(value, dict):
        return sum(_frames_bytes(item, depth - 1, seen) for item in list(value.values()))
    if isinstance(value, list | tuple):
        return sum(_frames_bytes(item, depth - 1, seen) for item in value[:1000])
    return _frames_bytes(vars(value), depth - 1, seen) if hasattr(value, "__dict__") else 0
