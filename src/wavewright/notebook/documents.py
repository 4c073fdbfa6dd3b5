"""Opened traces, runs and counters, as the documents that questions are asked about."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from wavewright.errors import UsageError
from wavewright.model.counters import CounterSet
from wavewright.model.document import Document, Library, Shown
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace


def document_of(opened: Shown) -> Document:
    """A trace, a run or counters as a document, which caches what is computed from it."""
    if not isinstance(opened, ThreadTrace | Run | CounterSet):
        problem = f"this is neither a trace nor a run nor counters, but {type(opened).__name__}"
        raise UsageError(problem, advice="open something with wavewright.open(PATH), and give what it returns")
    path = path_of(opened)
    document = Library().add(label_of(opened), path, lambda: opened)
    _ = document.opened
    return document


def path_of(opened: Shown) -> str:
    """The path that the contents were read from (of a run, the first file); empty = they were not read from a file."""
    if isinstance(opened, ThreadTrace):
        return opened.source.path
    if isinstance(opened, CounterSet):
        return opened.path
    return next((source.path for source in opened.origins), "")


def label_of(opened: Shown) -> str:
    """A short name: the last part of the path, else the kind."""
    words: dict[type[Any], str] = {ThreadTrace: "trace", Run: "run", CounterSet: "counters"}
    path = PurePath(path_of(opened))
    if isinstance(opened, Run) and len(opened.origins) > 1:
        path = path.parent  # the folder of its ranks
    return path.name or words[type(opened)]
