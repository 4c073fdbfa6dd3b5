"""Inputs as documents of a page: one per path, and more for other captures at it; each is read when first looked at.

Used by the command line, the list of recent inputs, and files that are dropped on the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import msgspec

from wavewright.base.shown import shown
from wavewright.model.document import CaptureStore, Document, Library, Shown
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace
from wavewright.page.protocol.notes import notes_beside
from wavewright.page.questions import questions_about
from wavewright.readers.files.inventory import Inventory
from wavewright.readers.files.kinds import COUNTER_CAPTURES, INPUTS, Kind, sniff

MOST_SIBLINGS = 1_000  #: Other dispatches of a folder that become documents.


class Reading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of `wavewright open` that say how inputs are read."""

    dispatch: int | str | None = None
    source_root: str | None = None
    target: str | None = None
    code_objects: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    amd: bool = False
    one_run: bool = False  #: Whether all paths are one run.
    captures: tuple[str, ...] = ()  #: Traces in which the graphs were captured that the run replays.


def add_inputs(
    library: Library,
    paths: Sequence[Path],
    reading: Reading | None = None,
    *,
    has_notes: bool = True,
    tell: Callable[[str], None] = lambda _: None,
) -> list[Document]:
    """New documents for paths, not yet read; `tell` is called with remarks for the terminal.

    Raises `UsageError, NotATraceError` when a path is nothing that can be shown: then no document is added.
    """
    reading = reading or Reading()
    if reading.one_run or reading.captures:
        label = paths[0].name if len(paths) == 1 else label_of(paths)
        opener = partial(_one_run, paths, reading.captures)
        return [library.add(label, str(paths[0]), opener, notes=notes_beside(paths[0]))]
    inventory = Inventory()
    for path in paths:  # raises for what cannot be shown, before any document is added
        what_is(path, inventory)
    is_only = len(paths) == 1 and not library.documents
    labels = labels_of(paths)
    inputs = [_Input(library, path, labels[path], reading, inventory, is_only, has_notes, tell) for path in paths]
    return [path_input.added() for path_input in inputs]


def what_is(path: Path, inventory: Inventory | None = None) -> str:
    """The description of an input's kind; nothing is read but its first bytes and names of files.

    Raises `UsageError, NotATraceError` when it is nothing that can be shown.
    """
    from wavewright.readers.opening import does_not_fit

    kind = sniff(path, inventory or Inventory())
    if INPUTS[kind].document is None and kind is not Kind.STORE:
        raise does_not_fit(kind, path)
    return INPUTS[kind].description


def _one_run(paths: Sequence[Path], captures: Sequence[str]) -> Run:
    from wavewright.readers.run.inputs import find_runs, open_inputs

    return open_inputs(find_runs(paths, captures=captures))


def read_paths(
    paths: Sequence[Path],
    *,
    source_root: str | Path | None = None,
    target: str | None = None,
    inventory: Inventory | None = None,
    **reading: Any,
) -> Shown:
    """The document at the paths; several paths are files of one run. A trace gets source texts from below
    `source_root`, else from beside it. `reading` has further options of `readers.opening.open`."""
    if len(paths) > 1 or (paths[0].is_file() and INPUTS[sniff(paths[0], inventory or Inventory())].document == "run"):
        return _one_run(paths, ())
    if target is not None and sniff(paths[0], inventory) in COUNTER_CAPTURES:
        from wavewright.readers.counters import open_counters

        return open_counters(paths[0], target=target, inventory=inventory)
    from wavewright.readers.opening import open as open_path

    content = open_path(paths[0], inventory=inventory, **reading)
    if isinstance(content, ThreadTrace):
        from wavewright.readers.trace.sources import add_sources, add_sources_beside

        if source_root is None:
            add_sources_beside(content, paths[0])
        else:
            add_sources(content, Path(source_root))
    return content


def _store(path: Path) -> CaptureStore:
    from wavewright.readers.store import open_store

    return open_store(str(path))


def label_of(paths: Sequence[Path]) -> str:
    """A short name for the document at the paths."""
    return paths[0].resolve().name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1:,} more"


def labels_of(paths: Sequence[Path]) -> dict[Path, str]:
    """Names of the paths: the last parts of each that no other path ends in.

    >>> list(labels_of([Path("/old/c1/raw"), Path("/old/c2/raw"), Path("/old/c3")]).values())
    ['c1/raw', 'c2/raw', 'c3']
    """
    tails = {path: _tails(path.resolve().parts) for path in paths}
    counts = Counter(tail for path_tails in tails.values() for tail in path_tails)
    return {
        path: "/".join(next((tail for tail in path_tails if counts[tail] == 1), path_tails[-1]))
        for path, path_tails in tails.items()
    }


def _tails(parts: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The last part, the last two, ... all parts."""
    return [parts[-length:] for length in range(1, len(parts) + 1)]


@dataclass
class _Input:
    """One path and the documents that are made of it."""

    library: Library
    path: Path
    label: str
    reading: Reading
    inventory: Inventory
    is_only: bool  #: Whether it is the only input: then the labels of its other documents need not name it.
    has_notes: bool
    tell: Callable[[str], None]
    _lock: Lock = field(default_factory=Lock)
    _are_others_added: bool = False  #: Whether the other documents at the path were added.
    _document: Document = field(init=False, repr=False)  #: The main document of the path.

    def added(self) -> Document:
        if sniff(self.path, self.inventory) is Kind.STORE:  # no notes: they would stand among its files
            return self.library.add(self.label, str(self.path), partial(_store, self.path))
        self._document = self._add(self.label, self.open)
        return self._document

    def open(self) -> Shown:
        """Open the path. The first time, other captures at it become documents too: dispatches, counters of a run."""
        kind = INPUTS[sniff(self.path, self.inventory)].document
        Thread(target=questions_about, args=(kind,), daemon=True).start()  # imports analyses (0.5 s) during the reading
        content = self._read(self.reading.dispatch, self.inventory)
        with self._lock:
            is_first, self._are_others_added = not self._are_others_added, True
        if is_first:
            self._add_others(content)
        return content

    def _add_others(self, content: Shown) -> None:
        name = self.label
        if isinstance(content, Run) and self.path.is_file() and content.count("counter_info"):
            from wavewright.readers.counters import open_counters  # folders are several processes

            counters = partial(open_counters, self.path, target=self.reading.target)
            self._add("counters" if self.is_only else f"{name}, counters", counters, ".counters")
        if isinstance(content, ThreadTrace):
            if self.path.is_dir():
                self._add_of_folder(name)
            others = content.source.other_dispatches
            if others:  # the name of the input alone does not tell which dispatch it is
                self._document.label = shown(f"{name}, dispatch {content.source.dispatch_key}")
            for number in others[:MOST_SIBLINGS]:
                label = f"dispatch {number}" if self.is_only else f"{name}, dispatch {number}"
                self._add(label, partial(self._read, number, None), f".dispatch_{number}")
            if len(others) > MOST_SIBLINGS:
                self.tell(f"{MOST_SIBLINGS:,} of {len(others):,} other dispatches are offered; --dispatch opens any")
            for loss in content.losses.filter(content.losses["kind"] == "all_in_memory").to_dicts():
                self.tell(f"{name}: {loss['message']}; {loss['advice']}")

    def _add_of_folder(self, name: str) -> None:
        """Add the run and the counters in a folder of thread traces."""
        from wavewright.readers.counters import open_counters
        from wavewright.readers.folder_of_run import holds_counters, holds_runs

        openers: dict[str, Callable[[], Shown]] = {}
        if holds_runs(self.path, self.inventory):
            openers["run"] = partial(_one_run, [self.path], self.reading.captures)
        if holds_counters(self.path, self.inventory):
            openers["counters"] = partial(open_counters, self.path, target=self.reading.target)
        for kind, opener in openers.items():
            self._add(kind if self.is_only else f"{name}, {kind}", opener, f".{kind}")

    def _add(self, label: str, opener: Callable[[], Shown], suffix: str = "") -> Document:
        notes = notes_beside(self.path, suffix) if self.has_notes else ""
        return self.library.add(label, str(self.path), opener, notes=notes)

    def _read(self, dispatch: int | str | None, inventory: Inventory | None) -> Shown:
        reading = {**msgspec.structs.asdict(self.reading), "dispatch": dispatch}
        del reading["one_run"], reading["captures"]  # of runs of several files
        return read_paths([self.path], inventory=inventory, **reading)
