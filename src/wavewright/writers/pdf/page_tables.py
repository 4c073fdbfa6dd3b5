"""Tables on paper: widths of columns, size of type and direction of the page, so that none runs over the edge.

A table of words becomes the fields that the Typst template draws. Layouts are tried from the most readable one to the
narrowest; where none holds all columns, the last ones are left out, and a note names them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from wavewright.base.shown import printable
from wavewright.base.words import shortened
from wavewright.model.blocks import Table
from wavewright.writers.pdf.fonts import mono_width, sans_width
from wavewright.writers.pdf.page_text import Names, Runs, cut_to

#: Points between the margins of A4 (18 mm each), upright and across.
UPRIGHT, ACROSS = 493.0, 739.0
_ROUNDING = 0.3  #: Points by which a column is wider than its widest cell.
MONO_SIZE = 0.92  #: Of names, in the size of the table: the font looks larger than the other.


class _Trial(NamedTuple):
    """A way to set a table; lengths in points."""

    page_width: float
    type_size: float
    padding: float  #: At both sides of a cell together.
    name_letters: int  #: Characters that a name gets at least.


#: The first that fits is taken: names are cut before the type becomes tiny, and the page is turned last.
_TRIALS = (
    _Trial(UPRIGHT, 8.0, 9.0, 60),
    _Trial(UPRIGHT, 7.5, 9.0, 60),
    _Trial(UPRIGHT, 7.0, 8.0, 46),
    _Trial(UPRIGHT, 8.0, 9.0, 34),
    _Trial(UPRIGHT, 7.5, 9.0, 30),
    _Trial(UPRIGHT, 7.0, 8.0, 26),
    _Trial(UPRIGHT, 6.5, 6.5, 22),
    _Trial(UPRIGHT, 6.0, 6.0, 20),
    _Trial(ACROSS, 7.0, 8.0, 26),
    _Trial(ACROSS, 6.0, 6.0, 20),
)
_HASH = re.compile("[0-9a-f]{32,64}")
_BARS = frozenset("▁▂▃▄▅▆▇█")
#: Widths in sizes of the type (em): of a column of words at least, longer texts are wrapped; of the longest word of a
#: cell and of a heading, longer ones are cut.
_LEAST_WORDS, _LONGEST_WORD, _LONGEST_HEADING_WORD = 12.0, 26.0, 14
_BOLD = 1.04  #: How much wider headings are.
_WHOLE_CELL = 1_500  #: Characters of a cell up to which its row stays on one page.


@dataclass(frozen=True)
class _Extent:
    """The width that a column needs, in sizes of the type."""

    least: float  #: Less cannot be read.
    full: float  #: Nothing is cut or wrapped.
    is_name: bool = False  #: May be cut to fewer characters.

    def with_letters(self, letters: int) -> _Extent:
        """The width where names need at most that many characters."""
        return _Extent(max(self.least, min(self.full, letters * _mono("x"))), self.full) if self.is_name else self


def table_page(table: Table, cut_names: Mapping[str, str], names: Names) -> dict[str, Any]:
    """A table with its widths; empty columns are left out, and with a note those that no page can hold."""
    shown = [at for at in range(len(table.columns)) if not table.rows or any(row[at].strip() for row in table.rows)]
    extents = [_extent(table, at) for at in shown]
    layouts = (_layout(extents[:count]) for count in range(len(shown), 0, -1))
    # Where not even one column fits, it is cut to the widest page.
    trial, widths = next(filter(None, layouts), None) or (_TRIALS[-1], [ACROSS] * min(len(shown), 1))
    size, padding = trial.type_size, trial.padding
    dropped = [shortened(printable(table.columns[at].heading), 40) for at in shown[len(widths) :]]
    shown = shown[: len(widths)]
    columns = [table.columns[at] for at in shown]
    rooms = [(width - padding) / size for width in widths]
    rows = [
        [
            _cell(row[at], room, names, cut_names, is_name=column.is_name, is_number=column.is_number)
            for at, room, column in zip(shown, rooms, columns, strict=True)
        ]
        for row in table.rows
    ]
    heads = [
        {"heading": _heading(column.heading), "is_number": column.is_number, "is_name": column.is_name}
        for column in columns
    ]
    note = f"Left out, because the page is too narrow: {', '.join(dropped)}; workbooks (.xlsx) have all."
    return {
        "kind": "table", "title": names.prose(table.heading), "columns": heads, "rows": rows, "widths": widths,
        "size": size, "padding": padding, "is_across": trial.page_width > UPRIGHT, "note": note if dropped else "",
        "is_whole": all(len(cell) < _WHOLE_CELL for row in table.rows for cell in row),
    }  # fmt: skip


def _layout(needed: Sequence[_Extent]) -> tuple[_Trial, list[float]] | None:
    """The first trial that holds the columns, and their widths in points with padding; None = no page does."""
    for trial in _TRIALS:
        extents = [extent.with_letters(trial.name_letters) for extent in needed]
        room = trial.page_width - len(extents) * (trial.padding + _ROUNDING)
        if sum(extent.least for extent in extents) * trial.type_size <= room:
            return trial, [width + trial.padding for width in _spread(extents, room, trial.type_size)]
    return None


def _spread(extents: Sequence[_Extent], room: float, size: float) -> list[float]:
    """Widths between the least and the full ones: the free room is shared equally among columns that are not full.

    Each round fills a column, which leaves some of its share to the next one, or uses up the room.
    """
    widths = [extent.least * size for extent in extents]
    for _ in extents:
        unfilled = [at for at, extent in enumerate(extents) if extent.full * size > widths[at] + 0.01]
        free = room - sum(widths)
        if not unfilled or free < 0.5:
            break
        share = free / len(unfilled)
        for at in unfilled:
            widths[at] = min(extents[at].full * size, widths[at] + share)
    return [round(width + _ROUNDING, 2) for width in widths]


def _extent(table: Table, at: int) -> _Extent:
    """The width that a column needs: numbers on one line, names cut, words wrapped."""
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
    most = _LONGEST_HEADING_WORD
    words = (word if sans_width(word) <= most else f"{cut_to(word, most - 1, sans_width)}…" for word in text.split(" "))
    return " ".join(words)


def _cell(
    text: str, room: float, names: Names, cut_names: Mapping[str, str], *, is_name: bool, is_number: bool
) -> Runs:
    """A cell in a room (em); what is cut gets the number under which the appendix has it in full."""
    text = printable(text)
    if is_name and not _BARS.isdisjoint(text):  # a chart made of characters
        return text if _mono(text) <= room else f"{cut_to(text, room - 1, _mono)}…"
    if is_name:
        full = cut_names.get(text, text)
        if full == text:
            return names.cut(text, room, _mono)
        ending = f" [{names.number(printable(full))}]"  # the words of the answer cut it already
        if _mono(text + ending) <= room:
            return text + ending
        return f"{cut_to(text.rstrip('…'), room - _mono(ending) - 1, _mono)}…{ending}"
    if is_number:
        return names.cut(text, room + 0.01, sans_width)
    return names.prose(text, max(room, 4))
