"""`wavewright report`: what a capture shows, as a document to hand over"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from wavewright.base.shown import printable
from wavewright.base.words import amount, counted
from wavewright.cli.kit.form import typed_again
from wavewright.cli.kit.io import console, emit_json, progress
from wavewright.errors import UsageError
from wavewright.export.kit.writer_result import Written
from wavewright.export.report import check_report_path, write_report
from wavewright.export.report.composition import make_report
from wavewright.export.report.sections.own import read_own_sections
from wavewright.model.blocks import Sentence, sentence
from wavewright.model.counters import CounterSet
from wavewright.model.document import DOCUMENTS, Document, Library
from wavewright.model.kept_source import kept_run
from wavewright.model.report import Report
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace
from wavewright.page.inputs import label_of, read_paths
from wavewright.readers.files.hashes import input_files
from wavewright.readers.files.kinds import document_at
from wavewright.words.kit.anonymous import Labels, labels_for
from wavewright.words.kit.anonymous import anonymous as without_names

_DATA_ROWS = 5000  #: Rows of a table of data (workbook, JSON, CSV), unless --top asks for more.


def command(
    paths: tuple[Path, ...],
    outputs: tuple[str, ...],
    purpose: str,
    baseline: Path | None,
    is_compared: bool,
    own_file: Path | None,
    top: int | None,
    anonymous: bool,
    no_source: bool,
    force: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Write a report."""
    reading = {name: how.pop(name) for name in ("dispatch", "target", "source_root", "code_objects", "resources")}
    with_source = not (anonymous or no_source)
    if baseline is not None and is_compared:
        raise UsageError("--compare and --baseline are two ways to compare", advice="give one of them")
    every_path = [*paths, *([baseline] if baseline is not None else [])]
    check_outputs(outputs, every_path, force=force)
    own_sections = () if own_file is None else read_own_sections(own_file)
    documents = documents_at(paths, reading, is_compared=is_compared)
    base = documents_at([baseline], reading) if baseline is not None else []
    with progress("making the report"), ThreadPoolExecutor(1) as hasher:
        inputs = hasher.submit(input_files, every_path, leave_out=outputs)  # hashed while the sections are made
        report = make_report(
            documents,
            purpose=purpose,
            top=top,
            baseline=base[0] if base else None,
            with_source=with_source,
            own_sections=own_sections,
            command=typed_again("as_json", "force"),
            inputs=lambda: inputs.result()[0],
            **how,
        )
    if anonymous:
        report = without_names(report, names_to_hide([*documents, *base], every_path))
    data_rows = None if top == 0 else max(top or 0, _DATA_ROWS)
    shown = [] if anonymous or len(documents) > 1 else [(document.label, document.opened) for document in documents]
    options: dict[str, Any] = {"force": force, "purpose": purpose, "documents": shown, "with_source": with_source}
    written = []
    for output in outputs:
        # JSON, workbooks and folders of CSV have the tables of data: what is cut of these is a loss there only.
        has_data = Path(output).suffix.lower() in (".json", ".xlsx", "") or output.endswith("/")
        with progress(f"writing {Path(output).name}"):
            written.append(write_report(report, output, top=data_rows if has_data else None, **options))
    _tell(report, written, [*map(str, paths)], as_json=as_json)


def _tell(report: Report, written: Sequence[Written], paths: list[str], *, as_json: bool) -> None:
    """Print the files that were written, and the headline."""
    sentences = [block for section in report.sections for block in section.blocks if isinstance(block, Sentence)]
    headline = next((block.text for block in sentences if block.style == "headline"), "")
    skipped = {section.name: section.skipped for section in report.sections if section.skipped}
    if as_json:
        body = {
            "title": report.title,
            "kind": report.kind,
            "headline": headline,
            "sections": [section.name for section in report.sections if not section.skipped],
            "skipped": skipped,
            "written": [{"path": str(file.path), "byte_count": file.byte_count} for file in written],
        }
        emit_json(body, inputs=paths, losses=report.losses)
        return
    out = console()
    if headline:
        out.print(sentence((printable(headline), "bold")))
    for file in written:
        out.print(Sentence(f"{printable(str(file.path))}: {amount(file.byte_count)}"))
    if skipped:
        out.print(Sentence(f"not answered: {', '.join(skipped)} (the report says why)"))


_MOST_CAPTURES = 8  #: At most so many captures are compared in one report.
#: Words in names of facts of counter captures that name machines and people, and that are command lines.
_HOST_WORDS, _COMMAND_WORDS = ("host", "node", "machine", "user", "login"), ("command", "cmd")


def check_outputs(outputs: Sequence[str], inputs: Sequence[Path], *, force: bool) -> None:
    """Raise `UsageError` for an output with an unknown ending, or that exists, is given twice, or is an input."""
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

    Raises `UsageError` when a path does not exist, or they are of different kinds.
    """
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
    opened = read_paths(paths, **reading)
    return kept_run(opened) if isinstance(opened, Run) else opened


def names_to_hide(documents: Sequence[Document], paths: Iterable[Path]) -> Labels:
    """Labels for the paths that were given and found, and for what the captures say about hosts, users and commands."""
    given = [str(path) for path in paths]
    places = [*given, *(str(Path(path).resolve()) for path in given)]
    hosts: list[str] = []
    commands: list[str] = []
    for document in documents:
        if document.kind == "run":
            run = document.run
            places += [source.path for source in run.origins]
            for column in run.read("nodes", ["hostname", "machine_id"]).iter_columns():
                hosts += column.drop_nulls().to_list()
            commands += run.read("processes", ["command"])["command"].drop_nulls().to_list()
        elif document.kind == "trace":
            places.append(document.trace.source.path)
        else:
            places += document.counters.passes["file"].drop_nulls().to_list()
            for name, value in document.counters.system.described.items():
                hosts += [value] * any(word in name.lower() for word in _HOST_WORDS)
                commands += [value] * any(word in name.lower() for word in _COMMAND_WORDS)
    return labels_for(dict.fromkeys(places), hosts=dict.fromkeys(hosts), commands=dict.fromkeys(commands))
