"""`wavewright report`: what a capture shows, as a document to hand over"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.cli.kit.form import typed_again
from wavewright.cli.kit.io import console, emit_json, progress
from wavewright.cli.kit.options import declared_command
from wavewright.cli.kit.report_documents import check_outputs, documents_at, names_to_hide
from wavewright.errors import UsageError
from wavewright.model.blocks import Sentence, sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.export.kit.writer_result import Written
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
    from wavewright.export.report import write_report
    from wavewright.export.report.composition import make_report
    from wavewright.export.report.sections.own import read_own_sections
    from wavewright.readers.files.hashes import input_files

    reading = {name: how.pop(name) for name in ("dispatch", "target", "source_root", "code_objects", "resources")}
    with_source = not (anonymous or no_source)
    if baseline is not None and is_compared:
        raise UsageError("--compare and --baseline are two ways to compare", advice="give one of them")
    every_path = [*paths, *([baseline] if baseline is not None else [])]
    check_outputs(outputs, every_path, force=force)
    own_sections = () if own_file is None else read_own_sections(own_file)
    documents = documents_at(paths, reading, is_compared=is_compared)
    base = documents_at([baseline], reading) if baseline is not None else []
    with progress("hashing inputs"):
        inputs, _ = input_files(every_path, leave_out=outputs)
    with progress("making the report"):
        report = make_report(
            documents,
            purpose=purpose,
            top=top,
            baseline=base[0] if base else None,
            with_source=with_source,
            own_sections=own_sections,
            command=typed_again("as_json", "force"),
            inputs=inputs,
            **how,
        )
    if anonymous:
        from wavewright.words.kit.anonymous import anonymous as hidden

        report = hidden(report, names_to_hide([*documents, *base], every_path))
    data_rows = None if top == 0 else max(top or 0, _DATA_ROWS)
    shown = [] if anonymous or len(documents) > 1 else [(each.label, each.opened) for each in documents]
    written = []
    for output in outputs:
        rows = data_rows if _has_data(output) else None
        options: dict[str, Any] = {
            "force": force,
            "top": rows,
            "purpose": purpose,
            "documents": shown,
            "with_source": with_source,
        }
        with progress(f"writing {Path(output).name}"):
            written.append(write_report(report, output, **options))
    _tell(report, written, [*map(str, paths)], as_json=as_json)


def _has_data(output: str) -> bool:
    """True if the format has the tables of data: what is cut of them is a loss there, and nowhere else."""
    return Path(output).suffix.lower() in (".json", ".xlsx", "") or output.endswith("/")


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
