"""Tables on paper: widths of columns, size of type and direction of the page, so that none runs over the edge."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wavewright.base.shown import printable
from wavewright.base.words import shortened
from wavewright.model.blocks import Table
from wavewright.writers.pdf.fonts import mono_width, sans_width
from wavewright.writers.pdf.page_text import Names, Runs, cut_to

#: Points between the margins of A4 (18 mm each), upright and across.
UPRIGHT, ACROSS = 493.0, 739.0
_ROUNDING = 0.3  #: Points by which a column is wider than its widest cell.
MONO_SIZE = 0.92  #: Of names, in the size of the table: the font looks larger than the other.
#: Width of the page, size of type, points at both sides of a cell together, and characters that a name gets at least:
#: the first that fits is taken.
_TRIALS = (
    (UPRIGHT, 8.0, 9.0, 60),
    (UPRIGHT, 7.5, 9.0, 60),
    (UPRIGHT, 7.0, 8.0, 46),
    (UPRIGHT, 8.0, 9.0, 34),
    (UPRIGHT, 7.5, 9.0, 30),
    (UPRIGHT, 7.0, 8.0, 26),
    (UPRIGHT, 6.5, 6.5, 22),
    (UPRIGHT, 6.0, 6.0, 20),
    (ACROSS, 7.0, 8.0, 26),
    (ACROSS, 6.0, 6.0, 20),
)
_HASH = re.compile("[0-9a-f]{32,64}")
_BARS = frozenset("▁▂▃▄▅▆▇█")
_LEAST_WORDS = 12.0  #: Width of a column of words, in sizes of the type; longer texts are wrapped.
_BOLD = 1.04  #: How much wider headings are.
_LONGEST_WORD = 26.0  #: Words of a cell are cut to this.
_WHOLE_CELL = 1_500  #: Characters of a cell up to which its row stays on one page.


@dataclass(frozen=True)
class _Extent:
    """The width that a column needs, in sizes of the type."""

    least: float
    full: float
    is_name: bool = False  #: May be cut to fewer characters.

    def with_letters(self, letters: int) -> _Extent:
        """The width where names need at most that many characters."""
        return _Extent(max(self.least, min(self.full, letters * _mono("x"))), self.full) if self.is_name else self


def table_page(table: Table, cut_names: Mapping[str, str], names: Names) -> dict[str, Any]:
    """A table with its widths; columns that no page can hold are left out, and named."""
    filled = [at for at in range(len(table.columns)) if not table.rows or any(row[at].strip() for row in table.rows)]
    extents = [_extent(table, at) for at in filled]
    shape = next((shape for count in range(len(filled), 0, -1) if (shape := _shape(extents[:count]))), None)
    count = len(shape[3]) if shape else min(len(filled), 1)
    dropped = [shortened(printable(table.columns[at].heading), 40) for at in filled[count:]]
    filled = filled[:count]
    across, size, padding, widths = shape or (*_TRIALS[-1][:3], [ACROSS] * len(filled))
    rows = [
        [
            _cell(row[at], (width - padding) / size, names, cut_names, is_name=table.columns[at].is_name,
                  is_number=table.columns[at].is_number)
            for at, width in zip(filled, widths, strict=True)
        ]
        for row in table.rows
    ]  # fmt: skip
    heads = [
        {
            "heading": _heading(table.columns[at].heading),
            "is_number": table.columns[at].is_number,
            "is_name": table.columns[at].is_name,
        }
        for at in filled
    ]
    note = (
        f"Left out, because the page is too narrow: {', '.join(dropped)}; workbooks (.xlsx) have all."
        if dropped
        else ""
    )
    return {
        "kind": "table", "title": names.prose(table.heading), "columns": heads, "rows": rows, "widths": widths,
        "size": size, "padding": padding, "is_across": across > UPRIGHT, "note": note,
        "is_whole": all(len(cell) < _WHOLE_CELL for row in table.rows for cell in row),
    }  # fmt: skip


def _shape(needed: Sequence[_Extent]) -> tuple[float, float, float, list[float]] | None:
    """Width of the page, size of the type, padding, widths of the columns in points; None = they fit on no page."""
    for page, size, padding, letters in _TRIALS:
        extents = [extent.with_letters(letters) for extent in needed]
        room = page - len(extents) * (padding + _ROUNDING)
        if sum(extent.least for extent in extents) * size <= room:
            return page, size, padding, [width + padding for width in _spread(extents, room, size)]
    return None


def _spread(extents: Sequence[_Extent], room: float, size: float) -> list[float]:
    """Widths between what is needed and what is wished for: what is left is shared among those that wish for more."""
    widths = [extent.least * size for extent in extents]
    for _ in extents:
        wishes = [at for at, extent in enumerate(extents) if extent.full * size > widths[at] + 0.01]
        left = room - sum(widths)
        if not wishes or left < 0.5:
            break
        share = left / len(wishes)
        for at in wishes:
            widths[at] = min(extents[at].full * size, widths[at] + share)
    return [round(width + _ROUNDING, 2) for width in widths]


def _extent(table: Table, at: int) -> _Extent:
    column = table.columns[at]
    cells = [printable(row[at]) for row in table.rows]
    if column.is_name:  # a name that is cut already gets a number
        cells = [f"{cell} [999]" if "…" in cell else cell for cell in cells]
    full = max(map(_mono if column.is_name else sans_width, cells), default=0.0)
    heading = _heading(column.heading)
    head = max(sans_width(word) for word in heading.split(" ")) * _BOLD
    if column.is_number:
        width = max(min(full, _LONGEST_WORD), head)
        return _Extent(width, max(width, min(sans_width(heading) * _BOLD, width + 3)))
    if column.is_name:
        is_hash = bool(cells) and all(map(_HASH.fullmatch, cells))  # of no use when cut
        return _Extent(max(head, full if is_hash else 0.0), max(full, head), is_name=not is_hash)
    words = (min(sans_width(word), _LONGEST_WORD) for cell in cells for word in cell.split(" "))
    least = max(max(words, default=0.0), min(full, _LEAST_WORDS), head)
    return _Extent(least, max(full, least))


def _mono(text: str) -> float:
    return MONO_SIZE * mono_width(text)


def _heading(text: str) -> str:
    text = printable(text)
    words = (word if sans_width(word) <= 14 else f"{cut_to(word, 13, sans_width)}…" for word in text.split(" "))
    return " ".join(words)


def _cell(
    text: str, room: float, names: Names, cut_names: Mapping[str, str], *, is_name: bool, is_number: bool
) -> Runs:
    text = printable(text)
    if is_name and not _BARS.isdisjoint(text):  # a chart made of characters
        return text if _mono(text) <= room else f"{cut_to(text, room - 1, _mono)}…"
    if is_name:
        full = cut_names.get(text, text)
        if full != text:  # cut already by the words of the answer
            ending = f" [{names.number(printable(full))}]"
            head = (
                text
                if _mono(text + ending) <= room
                else f"{cut_to(text.rstrip('…'), room - _mono(ending) - 1, _mono)}…"
            )
            return head + ending
        return names.cut(text, room, _mono)
    if is_number:
        return names.cut(text, room + 0.01, sans_width)
    return names.prose(text, max(room, 4))
