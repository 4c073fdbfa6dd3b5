"""Inputs as documents of a page: one for each path, and more for what else stands there; read when they are looked at.

The command line, the list of recent inputs and files that were dropped on the page all come in here.
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

MOST_SIBLINGS = 1_000  #: Other dispatches of a folder that the page can open.


class Reading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of `wavewright open` that say how inputs are read."""

    dispatch: int | str | None = None
    source_root: str | None = None
    target: str | None = None
    code_objects: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    amd: bool = False
    one_run: bool = False  #: Whether all paths are one run.
    captures: tuple[str, ...] = ()  #: Traces of the capture of graphs that the run replays.


def add_inputs(
    library: Library,
    paths: Sequence[Path],
    reading: Reading | None = None,
    *,
    has_notes: bool = True,
    tell: Callable[[str], None] = lambda _: None,
) -> list[Document]:
    """New documents for paths, not yet read; `tell` is called with what the page does not show.

    Raises `UsageError, NotATraceError` when a path is nothing that can be shown: then there is no new document.
    """
    reading = reading or Reading()
    if reading.one_run or reading.captures:
        label = paths[0].name if len(paths) == 1 else label_of(paths)
        return [
            library.add(label, str(paths[0]), partial(_one_run, paths, reading.captures), notes=notes_beside(paths[0]))
        ]
    inventory = Inventory()
    for path in paths:
        what_is(path, inventory)
    is_only = len(paths) == 1 and not library.documents
    labels = labels_of(paths)
    inputs = [_Input(library, path, labels[path], reading, inventory, is_only, has_notes, tell) for path in paths]
    return [each.added() for each in inputs]


def what_is(path: Path, inventory: Inventory | None = None) -> str:
    """Description of an input in words; reading it may wait until it is looked at.

    Raises `UsageError, NotATraceError` when it is nothing that can be shown.
    """
    from wavewright.readers.opening import does_not_fit

    kind = sniff(path, inventory or Inventory())
    if INPUTS[kind].document is None and kind is not Kind.STORE:
        raise does_not_fit(kind, path)
    return INPUTS[kind].what


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
    """The document at the paths, several of which are files of one run; a trace with source texts from below a folder,
    else from beside it."""
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
    """The names of the paths; of those that are called alike the folders that tell them apart.

    >>> list(labels_of([Path("/old/c1/raw"), Path("/old/c2/raw"), Path("/old/c3")]).values())
    ['c1/raw', 'c2/raw', 'c3']
    """
    ends = {path: path.resolve().parts for path in paths}
    counts = dict.fromkeys(ends, 1)
    while alike := _alike({path: ends[path][-counts[path] :] for path in ends}):
        deeper = [path for path in alike if counts[path] < len(ends[path])]
        if not deeper:
            break
        counts.update((path, counts[path] + 1) for path in deeper)
    return {path: "/".join(ends[path][-counts[path] :]) for path in ends}


def _alike(names_of: dict[Path, tuple[str, ...]]) -> list[Path]:
    counts = Counter(names_of.values())
    return [path for path, name in names_of.items() if counts[name] > 1]


@dataclass
class _Input:
    """One path and the documents that it becomes."""

    library: Library
    path: Path
    label: str
    reading: Reading
    inventory: Inventory
    is_only: bool  #: Whether it is the only input: then the documents beside it need no longer names.
    has_notes: bool
    tell: Callable[[str], None]
    _lock: Lock = field(default_factory=Lock)
    _has_beside: bool = False  #: Whether what else stands there was added.
    _document: Document = field(init=False, repr=False)  #: Of the path itself.

    def added(self) -> Document:
        if sniff(self.path, self.inventory) is Kind.STORE:  # without notes: they would lie among its files
            return self.library.add(self.label, str(self.path), partial(_store, self.path))
        self._document = self._add(self.label, self.open)
        return self._document

    def open(self) -> Shown:
        """Open the path. What else stands there becomes documents, too: other dispatches, counters of a run."""
        about = INPUTS[sniff(self.path, self.inventory)].document
        Thread(target=questions_about, args=(about,), daemon=True).start()  # imports: half a second beside the reading
        content = self._read(self.reading.dispatch, self.inventory)
        with self._lock:
            is_first, self._has_beside = not self._has_beside, True
        if is_first:
            self._add_beside(content)
        return content

    def _add_beside(self, content: Shown) -> None:
        name = self.label
        if isinstance(content, Run) and self.path.is_file() and content.count("counter_info"):
            from wavewright.readers.counters import open_counters  # folders are several processes

            counters = partial(open_counters, self.path, target=self.reading.target)
            self._add("counters" if self.is_only else f"{name}, counters", counters, ".counters")
        if isinstance(content, ThreadTrace):
            if self.path.is_dir():
                self._add_of_folder(name)
            others = content.source.other_dispatches
            if others:  # the name of the input alone would not say which of them it is
                self._document.label = shown(f"{name}, dispatch {content.source.dispatch_key}")
            for number in others[:MOST_SIBLINGS]:
                label = f"dispatch {number}" if self.is_only else f"{name}, dispatch {number}"
                self._add(label, partial(self._read, number, None), f".dispatch_{number}")
            if len(others) > MOST_SIBLINGS:
                self.tell(f"{MOST_SIBLINGS:,} of {len(others):,} other dispatches are offered; --dispatch opens any")
            for loss in [loss for loss in content.losses.to_dicts() if loss["kind"] == "all_in_memory"]:
                self.tell(f"{name}: {loss['message']}; {loss['advice']}")

    def _add_of_folder(self, name: str) -> None:
        """The run and the counters in the folder of thread traces."""
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
