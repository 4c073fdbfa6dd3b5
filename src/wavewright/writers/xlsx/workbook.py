"""A report as a workbook: a sheet about the report, its findings, and a sheet per table with numbers that are numbers.

Recorded names are texts: no cell is a formula or a link, whatever its first character.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from wavewright.base.packages import require
from wavewright.base.shown import printable
from wavewright.model.blocks import Code, Finding, Labelled, Picture, Preformatted, Sentence, Table
from wavewright.model.report import DataTable, Report, Section
from wavewright.writers.xlsx.sheet_about import write_about
from wavewright.writers.xlsx.sheet_tables import Book, write_frame, write_pictures, write_rows

#: Of every workbook, so that the same report gives the same bytes.
_CREATED = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
_OWN = ("about", "findings", "text", "pictures")  #: Sheets that are not tables: no section gets such a name.
_OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_numbers": False,
    "strings_to_urls": False,
    "nan_inf_to_errors": False,
}


def check_xlsx() -> None:
    """Make sure that workbooks can be written.

    Raises `MissingToolError` when the package that writes them is missing.
    """
    require("xlsxwriter", "xlsx")


def render(report: Report) -> bytes:
    """The workbook; the same report gives the same bytes.

    Raises `MissingToolError` when the package that writes workbooks is missing.
    """
    check_xlsx()
    xlsxwriter = import_module("xlsxwriter")
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, _OPTIONS) as workbook:
        workbook.set_properties(
            {"title": printable(report.title)[:255], "created": _CREATED, "comments": "made by wavewright"}
        )
        book = Book(workbook)
        about = book.sheet("About")
        _findings(book, report)
        for section in report.sections:
            _section(book, section)
        _text(book, report)
        pictures = [block for section in report.sections for block in section.blocks if isinstance(block, Picture)]
        write_pictures(book, pictures)
        write_about(book, about, report)
    return out.getvalue()


def _findings(book: Book, report: Report) -> None:
    """A row per finding; a column per label of their paragraphs, in the order of their first use."""
    findings = [
        (section, block) for section in report.sections for block in section.blocks if isinstance(block, Finding)
    ]
    labels = list(dict.fromkeys(part.label for _, finding in findings for part in finding.paragraphs))
    rows = [
        (
            section.title,
            finding.number,
            finding.handle,
            finding.verdict,
            finding.gain,
            *("\n".join(part.text for part in finding.paragraphs if part.label == label) for label in labels),
        )
        for section, finding in findings
    ]
    write_rows(book, "Findings", ("section", "number", "handle", "finding", "gain at most", *labels), rows)


def _section(book: Book, section: Section) -> None:
    """The sheets of a section: its frames, or where it has none its tables as people read them; and its code."""
    for table in section.data:
        write_frame(book, sheet_wish(section, table), section, table)
    for block in section.blocks:
        if isinstance(block, Code):
            lines = [(line.number, line.handle, line.share, line.cost, line.text) for line in block.lines]
            head = ("line", "handle", "share", "cost", "text")
            write_rows(book, f"{section.name} code", head, lines, section=section, what=block.file)
        elif isinstance(block, Table) and not section.data:
            names = tuple(column.heading for column in block.columns)
            write_rows(book, section.name, names, block.rows, section=section, what=block.heading)


def sheet_wish(section: Section, table: DataTable) -> str:
    """The name of the sheet of a table, if it is free."""
    is_only = len(section.data) == 1 and section.name.casefold() not in _OWN
    return section.name if is_only else f"{section.name} {table.name}"


def _text(book: Book, report: Report) -> None:
    """The sentences of the sections."""
    rows = [(section.title, *row) for section in report.sections for row in _sentences(section)]
    if rows:
        write_rows(book, "Text", ("section", "kind", "text"), rows)


def _sentences(section: Section) -> Iterator[tuple[Any, ...]]:
    if section.skipped:
        yield "not answered", section.skipped
    for block in section.blocks:
        match block:
            case Sentence(text, style):
                yield "sentence" if style == "plain" else style, text
            case Labelled(label, text):
                yield label, text
            case Preformatted(text, is_chart) if not is_chart:
                yield "text", text
            case _:
                pass
