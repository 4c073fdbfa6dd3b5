"""Inputs and outputs of reports: documents at paths, outputs that may be written, names to hide, the command itself."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.base.words import counted
from wavewright.cli.kit.io import progress
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wavewright.model.counters import CounterSet
    from wavewright.model.document import Document
    from wavewright.model.run import Run
    from wavewright.model.trace import ThreadTrace
    from wavewright.words.kit.anonymous import Labels

_MOST_CAPTURES = 8  #: That one report compares.
#: Facts of counter captures that name machines and people.
_HOST_WORDS = ("host", "node", "machine", "user", "login")


def check_outputs(outputs: Sequence[str], inputs: Sequence[Path], *, force: bool) -> None:
    """Refuse outputs that cannot be written, before anything is read.

    Raises
    ------
    UsageError
        When an ending is not known, an output exists already, is given twice, or is an input.
    """
    from wavewright.export.report import check_report_path

    read = {os.path.realpath(path) for path in inputs}
    seen: set[str] = set()
    for output in outputs:
        check_report_path(output)
        place = os.path.realpath(output)
        if place in seen:
            raise UsageError("this output is given twice", where=output)
        seen.add(place)
        if place in read or any(path.startswith(place + os.sep) for path in read):
            raise UsageError("the output is an input, or holds it", where=output, advice="give another place with -o")
        if Path(output).is_file() and not force:
            raise UsageError("this file exists already", where=output, advice="--force replaces it")


def documents_at(paths: Sequence[Path], reading: dict[str, Any], *, is_compared: bool = False) -> list[Document]:
    """The documents at the paths: one document for the files of a run, else one for each; all are read.

    Raises
    ------
    UsageError
        When a path does not exist, or they are of different kinds.
    """
    from wavewright.model.document import DOCUMENTS, Library
    from wavewright.page.inputs import label_of
    from wavewright.readers.files.kinds import document_at

    library = Library()
    kinds = dict.fromkeys(document_at(path) for path in paths)
    if len(kinds) > 1:
        what = f"these are {' and '.join(DOCUMENTS[kind] if kind else 'something else' for kind in kinds)}"
        raise UsageError(what, advice="a report is about captures of one kind")
    is_one_run = "run" in kinds and not is_compared
    if is_one_run or len(paths) == 1:
        library.add(label_of(paths), str(paths[0]), partial(_read, paths, **reading))
    else:
        if len(paths) > _MOST_CAPTURES:
            what = f"{counted(len(paths), 'captures')} are more than a report compares ({_MOST_CAPTURES})"
            raise UsageError(what, advice="give fewer")
        for path in paths:
            library.add(path.resolve().name, str(path), partial(_read, [path], **reading))
    for document in library.documents:
        with progress(f"reading {document.label}"):
            _ = document.opened
    return library.documents


def _read(paths: Sequence[Path], **reading: Any) -> ThreadTrace | Run | CounterSet:
    from wavewright.model.kept_source import kept_run
    from wavewright.model.run import Run
    from wavewright.page.inputs import read_paths

    opened = read_paths(paths, **reading)
    return kept_run(opened) if isinstance(opened, Run) else opened


def names_to_hide(documents: Sequence[Document], paths: Iterable[Path]) -> Labels:
    """Labels for the paths that were given and found, and for what the captures say about hosts, users and commands."""
    from wavewright.words.kit.anonymous import labels_for

    given = [str(path) for path in paths]
    found_paths = [text for document in documents for text in _paths_of(document)]
    both = [*given, *(str(Path(path).resolve()) for path in given), *found_paths]
    hosts = [name for document in documents for name in _hosts(document)]
    commands = [command for document in documents for command in _commands(document)]
    return labels_for(dict.fromkeys(both), hosts=dict.fromkeys(hosts), commands=dict.fromkeys(commands))


def _paths_of(document: Document) -> Iterator[str]:
    if document.kind == "run":
        yield from (source.path for source in document.run.origins)
    elif document.kind == "trace":
        yield document.trace.source.path
    else:
        yield from (file for file in document.counters.passes["file"].drop_nulls().to_list())


def _hosts(document: Document) -> Iterator[str]:
    if document.kind == "run":
        nodes = document.run.read("nodes", ["hostname", "machine_id"])
        yield from (name for column in nodes.columns for name in nodes[column].drop_nulls().to_list())
    elif document.kind == "counters":
        described = document.counters.system.described
        yield from (value for name, value in described.items() if any(word in name.lower() for word in _HOST_WORDS))


def _commands(document: Document) -> Iterator[str]:
    if document.kind == "run":
        yield from document.run.read("processes", ["command"])["command"].drop_nulls().to_list()
    elif document.kind == "counters":
        described = document.counters.system.described
        yield from (value for name, value in described.items() if "command" in name.lower() or "cmd" in name.lower())
