"""The first sheet of a workbook: what the report says, what it was made of, which sheets follow, and what was cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from wavewright.model.blocks import Finding, Sentence
from wavewright.model.report import InputFile, Report, Section
from wavewright.writers.xlsx.sheet_cells import text_cell
from wavewright.writers.xlsx.sheet_tables import Book, Worksheet

_HOW_TO_READ = (
    "Cells hold exact numbers; formats only round what is shown. An empty cell: not known, or not a number. "
    "Comments on headers say what a column means. Names are as they were recorded, with escapes for what cannot be "
    "shown; no cell is a formula or a link."
)
_COLUMN_WIDTHS = (26, 26, 46, 12, 12, 50, 60)  #: Characters.
_LINE_POINTS = 15  #: Height of a line.


def headline_of(report: Report) -> str:
    """The sentence that a reader should see first: the verdict of the diagnosis, else another, else the first finding.

    >>> from wavewright.model.report import Provenance, Report, Section
    >>> section = Section("gaps", "Idle time", "when?", blocks=(Sentence("busy 92.0 %", "headline"),))
    >>> headline_of(Report("a run", "run", (section,), Provenance("0.2.0", "")))
    'busy 92.0 %'
    """

    def is_diagnosis(section: Section) -> bool:
        return section.name == "diagnose" or any(isinstance(block, Finding) for block in section.blocks)

    sections = sorted(report.sections, key=lambda section: not is_diagnosis(section))
    blocks = [block for section in sections for block in section.blocks]
    verdicts = [block.text for block in blocks if isinstance(block, Sentence) and block.style == "headline"]
    findings = [block.verdict for block in blocks if isinstance(block, Finding)]
    return next(iter(verdicts + findings), "")


def hash_words(file: InputFile) -> str:
    """The hash of an input, and of what it is.

    >>> from wavewright.model.report import InputFile
    >>> hash_words(InputFile("a.db", 3, "ff", is_whole=False))
    'ff (of the first and the last MiB, and of the size)'
    """
    return file.sha256 + ("" if file.is_whole else " (of the first and the last MiB, and of the size)")


def write_about(book: Book, sheet: Worksheet, report: Report) -> None:
    """Fill the sheet; the other sheets are written already, so that their notes are known."""
    rows = _Rows(book, sheet)
    for column, width in enumerate(_COLUMN_WIDTHS):
        sheet.set_column(column, column, width)
    sheet.hide_gridlines(2)  # on the screen and on paper
    rows.add([report.title], bold=True, font_size=16)
    rows.add([headline_of(report)], bold=True)
    rows.add([_HOW_TO_READ], font_color="#555555")
    provenance = report.provenance
    rows.head("What it was made of")
    facts = {"kind": report.kind, "made by": f"wavewright {provenance.version}", **provenance.facts}
    facts |= {f"filter {name}": value for name, value in provenance.filters.items()}
    for name, value in {**facts, "command": provenance.command}.items():
        rows.add([name, value])
    rows.head("Inputs", ("file", "bytes", "SHA-256"))
    for file in provenance.inputs:
        rows.add([file.path, file.byte_count, hash_words(file)])
    rows.head("Sheets", ("sheet", "section", "a row is", "rows", "rows here", "what was cut", "question"))
    for note in book.notes:
        cells: list[str | int] = [note.name, note.title, note.row, note.row_count, note.written_count]
        colour = {"font_color": "#C00000"} if note.cuts else {}
        rows.add([*cells, "; ".join(note.cuts), note.question], text_wrap=True, **colour)
    definitions = {section.title: section.definition for section in report.sections if section.definition}
    if definitions:
        rows.head("How numbers are made")
    for title, definition in definitions.items():
        rows.paragraph(title, definition)
    skipped = [section for section in report.sections if section.skipped]
    rows.listed("Not answered", (f"{section.title}: {section.skipped}" for section in skipped))
    rows.listed("What was lost", report.losses or ["nothing that the capture records"])
    sheet.freeze_panes(1, 0)


class _Rows:
    """Rows from the top of a sheet on."""

    def __init__(self, book: Book, sheet: Worksheet) -> None:
        self._book, self._sheet, self._row = book, sheet, 0

    def add(self, cells: Sequence[str | int], **rules: Any) -> None:
        """A row of texts and numbers."""
        for at, cell in enumerate(cells):
            if isinstance(cell, int):
                self._sheet.write_number(self._row, at, cell, self._book.format(num_format="#,##0", align="left"))
            elif cell:
                self._sheet.write_string(self._row, at, text_cell(cell), self._book.format(**rules))
        self._row += 1

    def head(self, title: str, columns: Sequence[str] = ()) -> None:
        """A heading after an empty row, and the names of the columns."""
        self._row += 1
        self.add([title], bold=True, font_size=12)
        for at, name in enumerate(columns):
            self._sheet.write_string(self._row, at, name, self._book.head)
        self._row += bool(columns)

    def paragraph(self, label: str, text: str) -> None:
        """A label and a long text across the other columns."""
        across = len(_COLUMN_WIDTHS) - 1
        self._sheet.set_row(self._row, _LINE_POINTS * (1 + len(text) // sum(_COLUMN_WIDTHS[1:])))
        wrapped = self._book.format(text_wrap=True)
        self._sheet.merge_range(self._row, 1, self._row, across, "", wrapped)
        self._sheet.write_string(self._row, 1, text_cell(text), wrapped)
        self.add([label])

    def listed(self, title: str, texts: Iterable[str]) -> None:
        """A heading and a row per text; nothing where there are none."""
        lines = list(texts)
        if lines:
            self.head(title)
        for text in lines:
            self.add([text])
