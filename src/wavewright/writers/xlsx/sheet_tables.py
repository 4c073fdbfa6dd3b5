"""Sheets of a workbook: frames with declared columns, rows of text, pictures.

Every sheet leaves a `SheetNote` in its book: *About*, written last, lists them and says what was cut.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any, TypeAlias

import polars as pl

from wavewright.base.shown import printable
from wavewright.model.blocks import Picture
from wavewright.model.report import DataTable, Section
from wavewright.writers.svg.png import png_bytes
from wavewright.writers.xlsx.sheet_cells import (
    Cuts,
    SheetNames,
    heading,
    is_number,
    is_share,
    number_format,
    text_cell,
    values,
)

Workbook: TypeAlias = Any  #: Of xlsxwriter, which declares no types; likewise the others.
Worksheet: TypeAlias = Any
Format: TypeAlias = Any

SHEET_ROWS = 1_048_576  #: Rows that a sheet holds, the header among them.
SHEET_COLUMNS = 16_384
MAX_ROWS = 100_000  #: Rows of a frame that are written: more is slow to open, and Parquet suits it better.
_BAR, _HEAD, _CUT = "#9DC3E6", "#E8EDF3", "#C00000"  #: Colours of bars, headers, and tabs of sheets that were cut.
_WIDTH = (6, 60)  #: Characters of a column, at least and at most.
_SAMPLE = 200  #: Rows that decide how wide a column is.
_BAR_RULES = {"type": "data_bar", "bar_color": _BAR, "bar_solid": True, "min_type": "num", "min_value": 0}
_PIXELS_PER_ROW = 20  #: Of the usual height of a row, 15 points.
_COMMENT_LETTERS = 36  #: Of a line of a comment 260 pixels wide, in size 9.
_PARQUET = "all rows: `wavewright convert` (runs) or `wavewright decode` (thread traces) writes Parquet"


@dataclass(frozen=True)
class SheetNote:
    """The row of a sheet in *About*."""

    name: str
    title: str
    question: str
    row: str  #: What a row is.
    row_count: int  #: Rows of the answer.
    written_count: int  #: Rows that the sheet has.
    cuts: tuple[str, ...] = ()


@dataclass
class Book:
    """A workbook that is being written."""

    workbook: Workbook
    names: SheetNames = field(default_factory=SheetNames)
    notes: list[SheetNote] = field(default_factory=list)
    _formats: dict[str, Format] = field(default_factory=dict)

    def sheet(self, wish: str) -> Worksheet:
        """A new sheet of that name, or of one near it."""
        sheet = self.workbook.add_worksheet(self.names.name(wish))
        sheet.set_landscape()
        sheet.set_paper(9)  # A4
        sheet.fit_to_pages(1, 0)
        return sheet

    def format(self, **rules: Any) -> Format:
        """A format, made once."""
        key = repr(sorted(rules.items()))
        if key not in self._formats:
            self._formats[key] = self.workbook.add_format({"valign": "top", **rules})
        return self._formats[key]

    @property
    def head(self) -> Format:
        """The format of headers."""
        return self.format(bold=True, bg_color=_HEAD, bottom=1, text_wrap=True)


def write_frame(book: Book, wish: str, section: Section, table: DataTable) -> None:
    """A sheet with a frame: numbers as numbers, comments of headers that say what a column means, bars of shares."""
    frame, losses = _bounded(table.frame)
    specs, cuts = {column.name: column for column in table.spec.columns}, Cuts()
    sheet = book.sheet(wish)
    has_bars = False  # only the first column of shares gets them
    for place, column in enumerate(frame.iter_columns()):
        spec = specs.get(column.name)
        unit = spec.unit if spec else ""
        head = text_cell(heading(column.name, unit))
        cells = list(values(column, spec, cuts))
        is_numeric = is_number(spec, column.name, column.dtype)
        format_code = number_format(column.name, unit, column.dtype) if is_numeric else "@"  # Excel's code for text
        cell_format = book.format(num_format=format_code)
        sheet.write_string(0, place, head, book.head)
        _comment(sheet, place, spec.meaning if spec else "", losses if place == 0 else ())
        sheet.set_column(place, place, _column_width(head, cells[:_SAMPLE], format_code), cell_format)
        write_number, write_string = sheet.write_number, sheet.write_string
        for row, cell in enumerate(cells, 1):
            if isinstance(cell, str):
                write_string(row, place, cell, cell_format)
            elif cell is not None:
                write_number(row, place, cell, cell_format)
        if is_numeric and not has_bars and frame.height and is_share(column.name, unit):
            sheet.conditional_format(1, place, frame.height, place, _BAR_RULES)
            has_bars = True
    _finish(sheet, frame.height, frame.width)
    if losses:
        sheet.set_tab_color(_CUT)
    identity = sheet.get_name(), section.title, section.question, table.spec.row
    note = SheetNote(*identity, row_count=table.frame.height, written_count=frame.height)
    book.notes.append(replace(note, cuts=(*losses, *cuts.words())))


def _bounded(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The part of a frame that a sheet gets, and sentences about the rest."""
    losses = []
    if frame.height >= SHEET_ROWS:
        losses = [f"NOT WRITTEN: {frame.height:,} rows are more than a sheet holds ({SHEET_ROWS - 1:,}); {_PARQUET}"]
        frame = frame.clear()
    elif frame.height > MAX_ROWS:
        losses = [f"CUT: the first {MAX_ROWS:,} of {frame.height:,} rows, in the order of the answer; {_PARQUET}"]
        frame = frame.head(MAX_ROWS)
    if frame.width > SHEET_COLUMNS:
        losses.append(f"CUT: the first {SHEET_COLUMNS:,} of {frame.width:,} columns")
        frame = frame[:, :SHEET_COLUMNS]
    return frame, losses


def write_rows(
    book: Book,
    wish: str,
    head: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    section: Section | None = None,
    what: str = "",
) -> None:
    """A sheet with rows of texts, integers and shares (floats); `what` says what a row is."""
    sheet, cuts = book.sheet(wish), Cuts()
    prose, integer, share = book.format(text_wrap=True), book.format(num_format="0"), book.format(num_format="0.0%")
    written_rows = rows[:MAX_ROWS]
    losses = [f"CUT: the first {MAX_ROWS:,} of {len(rows):,} rows"] if len(rows) > MAX_ROWS else []
    for place, title in enumerate(head):
        sheet.write_string(0, place, text_cell(title), book.head)
        sheet.set_column(place, place, _column_width(title, [row[place] for row in rows[:_SAMPLE]], "@"))
    for row_number, cells in enumerate(written_rows, 1):
        for place, cell in enumerate(cells):
            if isinstance(cell, str) and cell:
                text = "\n".join(text_cell(line, cuts) for line in cell.split("\n"))
                sheet.write_string(row_number, place, text, prose)
            elif isinstance(cell, int | float):
                sheet.write_number(row_number, place, cell, share if isinstance(cell, float) else integer)
    _finish(sheet, len(written_rows), len(head))
    title, question = (section.title, section.question) if section else (wish, "")
    note = SheetNote(sheet.get_name(), title, question, printable(what), len(rows), len(written_rows))
    book.notes.append(replace(note, cuts=(*losses, *cuts.words())))


def write_pictures(book: Book, pictures: Sequence[Picture]) -> None:
    """A sheet with the pictures one below the other, each after the sentence that it shows."""
    if not pictures:
        return
    if find_spec("resvg_py") is None:
        why = "not drawn: pictures in workbooks need the package resvg-py (pip install 'wavewright[plot]')"
        book.notes.append(SheetNote("Pictures", "Pictures", "", "one picture", len(pictures), 0, (why,)))
        return
    sheet = book.sheet("Pictures")
    sheet.hide_gridlines(2)  # on the screen and on paper
    sheet.set_column(0, 0, 140)
    row = 0
    for picture in pictures:
        image = png_bytes(picture.svg)
        sheet.write_string(row, 0, text_cell(picture.alt or picture.name), book.format(bold=True, text_wrap=True))
        height = int.from_bytes(image[20:24]) / 2  # in the PNG's header; two of its pixels are one here
        options = {"x_scale": 0.5, "y_scale": 0.5, "description": printable(picture.alt)[:2000]}
        sheet.insert_image(row + 1, 0, f"{len(book.notes)}-{row}.png", {"image_data": io.BytesIO(image), **options})
        row += 3 + round(height / _PIXELS_PER_ROW)
    book.notes.append(SheetNote("Pictures", "Pictures", "", "one picture", len(pictures), len(pictures)))


def _comment(sheet: Worksheet, place: int, meaning: str, losses: Sequence[str]) -> None:
    """The comment of a header, as high as its text."""
    text = "\n".join([*losses, *([printable(meaning)] if meaning else [])])
    if text:
        line_count = sum(max(1, len(textwrap.wrap(line, _COMMENT_LETTERS))) for line in text.split("\n"))
        sheet.write_comment(0, place, text[:2000], {"width": 260, "height": 18 * line_count + 14, "font_size": 9})


def _column_width(head: str, cells: Sequence[Any], format_code: str) -> float:
    """Characters that the header and most cells need."""
    longest = max((len(_as_shown(cell, format_code)) for cell in cells if cell is not None), default=0)
    return min(max(len(head) + 3, longest + 2, _WIDTH[0]), _WIDTH[1])


def _as_shown(cell: Any, format_code: str) -> str:
    """A text at least as long as what a spreadsheet shows of a cell in a format."""
    if isinstance(cell, str):
        return max(cell.split("\n"), key=len)
    if "%" in format_code:
        return "100.0%"
    if isinstance(cell, float) and format_code != "General":
        return f"{cell:,.3f}"
    return f"{cell:,}" if "," in format_code else f"{cell:.10g}"


def _finish(sheet: Worksheet, row_count: int, column_count: int) -> None:
    sheet.freeze_panes(1, 0)
    sheet.repeat_rows(0)
    if column_count:
        sheet.autofilter(0, 0, row_count, column_count - 1)
