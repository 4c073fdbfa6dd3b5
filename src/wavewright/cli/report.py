"""`wavewright report`: what a capture shows, as a document to hand over"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.cli.kit.io import console, emit_json, progress
from wavewright.cli.kit.options import declared_command
from wavewright.cli.kit.report_documents import again, check_outputs, documents_at, is_comparison, names_to_hide
from wavewright.errors import UsageError
from wavewright.model.blocks import Sentence, sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.export.kit.writer_result import Written
    from wavewright.export.report.sections.own import OwnSection
    from wavewright.model.document import Document
    from wavewright.model.report import Report

_DATA_ROWS = 5000  #: Rows of a table of data (workbook, JSON, CSV), unless --top asks for more.


@declared_command("report")
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
    if anonymous:
        no_source = True
    if baseline is not None and is_compared:
        raise UsageError("--compare and --baseline are two ways to compare", advice="give one of them")
    check_outputs(outputs, [*paths, *([baseline] if baseline is not None else [])], force=force)
    declared = _own(own_file)
    documents = documents_at(paths, reading, is_compared=is_compared)
    base = documents_at([baseline], reading)[0] if baseline is not None else None
    report = _made(documents, base, paths, outputs, purpose, top, declared, with_source=not no_source, **how)
    if anonymous:
        report = _hidden(report, documents, base, [*paths, *([baseline] if baseline is not None else [])])
    data_rows = None if top == 0 else max(top or 0, _DATA_ROWS)
    shown = [] if anonymous or is_comparison(documents) else [(each.label, each.opened) for each in documents]
    written = [
        _write(
            report,
            output,
            force=force,
            top=data_rows if _has_data(output) else None,
            purpose=purpose,
            documents=shown,
            with_source=not no_source,
        )
        for output in outputs
    ]
    _tell(report, written, [*map(str, paths)], as_json=as_json)


def _has_data(output: str) -> bool:
    """True if the format has the tables of data: what is cut of them is a loss there, and nowhere else."""
    return Path(output).suffix.lower() in (".json", ".xlsx", "") or output.endswith("/")


def _own(file: Path | None) -> tuple[OwnSection, ...]:
    if file is None:
        return ()
    from wavewright.export.report.sections.own import read_own_sections

    return read_own_sections(file)


def _made(
    documents: Sequence[Document],
    base: Document | None,
    paths: Sequence[Path],
    outputs: Sequence[str],
    purpose: str,
    top: int | None,
    declared: tuple[OwnSection, ...],
    *,
    with_source: bool,
    sections: tuple[str, ...],
    without: tuple[str, ...],
    title: str,
    date: str,
) -> Report:
    from wavewright.export.report.composition import make_report
    from wavewright.readers.files.hashes import input_files

    with progress("hashing inputs"):
        inputs, _ = input_files([*paths, *([base.path] if base is not None else [])], leave_out=outputs)
    with progress("making the report"):
        return make_report(
            documents,
            purpose=purpose,
            top=top,
            sections=sections,
            without=without,
            baseline=base,
            title=title,
            with_source=with_source,
            own_sections=declared,
            command=again(),
            inputs=inputs,
            date=date,
        )


def _hidden(report: Report, documents: Sequence[Document], base: Document | None, paths: Sequence[Path]) -> Report:
    from wavewright.words.kit.anonymous import anonymous

    return anonymous(report, names_to_hide([*documents, *([base] if base is not None else [])], paths))


def _write(report: Report, output: str, **how: Any) -> Written:
    from wavewright.export.report import write_report

    with progress(f"writing {Path(output).name}"):
        return write_report(report, output, **how)


def _tell(report: Report, written: Sequence[Written], paths: list[str], *, as_json: bool) -> None:
    """Print the files that were written, and the headline."""

    headlines = [
        block.text
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Sentence) and block.style == "headline"
    ]
    skipped = {section.name: section.skipped for section in report.sections if section.skipped}
    if as_json:
        body = {
            "title": report.title,
            "kind": report.kind,
            "headline": headlines[0] if headlines else "",
            "sections": [section.name for section in report.sections if not section.skipped],
            "skipped": skipped,
            "written": [{"path": str(each.path), "byte_count": each.byte_count} for each in written],
        }
        emit_json(body, inputs=paths, losses=report.losses)
        return

    from wavewright.base.shown import printable
    from wavewright.base.words import amount

    out = console()
    if headlines:
        out.print(sentence((printable(headlines[0]), "bold")))
    for each in written:
        out.print(Sentence(f"{printable(str(each.path))}: {amount(each.byte_count)}"))
    if skipped:
        out.print(Sentence(f"not answered: {', '.join(skipped)} (the report says why)"))
