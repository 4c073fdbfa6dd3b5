"""The listing of a kernel: address, live registers, loops, text, targets of branches, waits, source lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wavewright.analysis.code.kernel import KernelCode
from wavewright.base.shown import printable
from wavewright.base.words import counted
from wavewright.model.blocks import Part, Preformatted, Sentence, chart, sentence
from wavewright.words.kit.arrows import ASCII, UNICODE, Arrow, Drawing, draw_arrows
from wavewright.words.kit.frame_tables import brief_place
from wavewright.words.kit.line_windows import ListingLine, line_ranges
from wavewright.writers.terminal.texts import fitted

_WHOLE_UP_TO = 200  #: Rows of a kernel that is listed whole.
_PLACES_FROM = 110  #: Characters per line from which on source lines have a column.
_TEXT_WIDTH, _NARROW_TEXT_WIDTH = 52, 30  #: Characters of an instruction before its note.
_MAX_LANES = 6  #: Of arrows.
_AROUND_PEAK = 8  #: Rows shown before and after the one with most live registers.


@dataclass(frozen=True)
class ListingView:
    """The rows to list, and the room for them."""

    show_all: bool = False
    first_row: int | None = None
    last_row: int | None = None
    with_source: bool = False  #: Source lines as headings.
    width: int = 120  #: Characters of a line.
    ascii_only: bool = False


def code_listing(answer: KernelCode, view: ListingView) -> Preformatted:
    """The column heads, and a line for each row."""
    listing = _Listing(answer, view)
    lines = (listing.head(), *(listing.line(number, line) for number, line in enumerate(listing.lines)))
    return chart(fitted(line, view.width, ascii_only=view.ascii_only) for line in lines)


class _Listing:
    """The lines of a listing, and what it takes to write them."""

    def __init__(self, answer: KernelCode, view: ListingView) -> None:
        table = answer.rows
        if view.first_row is not None or view.last_row is not None:
            first = view.first_row or 0
            last = table.height - 1 if view.last_row is None else view.last_row
            table = table.slice(first, max(0, last - first + 1))
        self.rows: list[dict[str, Any]] = table.to_dicts()
        self.lines = _lines(self.rows, _windows(answer, self.rows, view), with_source=view.with_source)
        glyphs = ASCII if view.ascii_only else UNICODE
        self.drawing: Drawing = draw_arrows(_arrows(self.rows, self.lines), max_lanes=_MAX_LANES, glyphs=glyphs)
        self.address_width = max([len("address"), *(len(f"{row['address']:x}") for row in self.rows)])
        self.has_agprs = any(row["live_agprs"] for row in self.rows)
        self.has_counts = any(row["live_vgprs"] is not None for row in self.rows)
        self.has_places = view.width >= _PLACES_FROM and any(row["file"] for row in self.rows)
        self.text_width = _TEXT_WIDTH if view.width >= _PLACES_FROM else _NARROW_TEXT_WIDTH
        self.peak_row = answer.peak_row
        self.addresses = dict(answer.rows.select("row", "address").iter_rows())
        self.waits = _wait_words(answer, self.addresses)

    def head(self) -> Sentence:
        """The column heads."""
        counts = f"{'V':>4}{'A' if self.has_agprs else '':>{4 * self.has_agprs}}{'S':>4}" if self.has_counts else ""
        place = f"{'source':<24}" if self.has_places else ""
        gutter = " " * self.drawing.width
        return sentence((f"{gutter}{'address':>{self.address_width}}{counts}  {place}instruction", "bold"))

    def line(self, number: int, line: ListingLine) -> Sentence:
        """A line with the arrows at its left."""
        drawn = self.drawing.line(number)
        gutter = " " * (self.drawing.width - len(drawn.text))
        if line.heading:
            return sentence(drawn, gutter, " " * self.address_width + " ", (line.heading, "dim italic"))
        if not line.is_row:
            count = line.end - line.begin
            return sentence(drawn, gutter, (f"{'…':>{self.address_width}} {counted(count, 'rows')}", "dim"))
        row = self.rows[line.begin]
        parts: list[Part] = [drawn, gutter, (f"{row['address']:>{self.address_width}x}", "dim")]
        if self.has_counts:
            agprs = f"{row['live_agprs']:>4}" if self.has_agprs else ""
            tone = "bold #D55E00" if row["row"] == self.peak_row else ""
            parts += [(f"{row['live_vgprs']:>4}{agprs}", tone), f"{row['live_sgprs']:>4}"]
        parts.append("  ")
        if self.has_places:
            parts.append((f"{printable(brief_place(row['file'], row['line'], 22)):<24}", "dim"))
        loops = "│" * min(row["depth"], 4) + (" " if row["depth"] else "")
        parts += [(loops, "dim"), (printable(row["text"]), "" if row["is_reached"] else "dim")]
        if note := self._note(row):
            room = " " * max(2, self.text_width - len(row["text"]))
            parts.append((room + note, "#E69F00" if row["row"] in self.waits else "dim"))
        return sentence(*parts)

    def _note(self, row: dict[str, Any]) -> str:
        parts = []
        if row["target_row"] is not None:
            parts.append(f"→ {self.addresses[row['target_row']]:x}")
        parts += self.waits.get(row["row"], [])
        if row["row"] == self.peak_row:
            parts.append("◀ most live")
        return ", ".join(parts)


def _windows(answer: KernelCode, rows: Sequence[dict[str, Any]], view: ListingView) -> dict[int, int]:
    """Rows to show, by index, and how many around each."""
    is_chosen = view.show_all or view.first_row is not None or view.last_row is not None
    if is_chosen or len(rows) <= _WHOLE_UP_TO:
        return {0: len(rows)}  # all rows are around the first
    windows = {0: 4}
    for first, last in answer.loops.select("first_row", "last_row").head(_WHOLE_UP_TO).iter_rows():
        windows |= {first: 2, last: 1}
    if answer.peak_row is not None:
        windows[answer.peak_row] = _AROUND_PEAK
    return windows


def _lines(rows: Sequence[dict[str, Any]], windows: dict[int, int], *, with_source: bool) -> list[ListingLine]:
    lines: list[ListingLine] = []
    function, chain = rows[0]["function"] if rows else None, None
    for part in line_ranges(len(rows), windows):
        if part.is_folded:
            lines.append(ListingLine(part.begin, part.end))
            continue
        for index in range(part.begin, part.end):
            row = rows[index]
            if row["function"] != function:
                function = row["function"]
                lines.append(ListingLine(heading=f"function {printable(function or '?')}"))
            if with_source and row["inline_chain"] != chain:
                chain = row["inline_chain"]
                lines.append(ListingLine(heading=printable(chain or "no source line")))
            lines.append(ListingLine(index, index + 1))
    return lines


def _arrows(rows: Sequence[dict[str, Any]], lines: Sequence[ListingLine]) -> list[Arrow]:
    """From branches to their targets, where both are listed."""
    line_of = {rows[line.begin]["row"]: number for number, line in enumerate(lines) if line.is_row}
    tails: dict[int, set[int]] = {}
    for row in rows:
        head, tail = line_of.get(row["target_row"]), line_of.get(row["row"])
        if head is not None and tail is not None:
            tails.setdefault(head, set()).add(tail)
    return [Arrow(head, tuple(sorted(ends)), weight=float(len(ends))) for head, ends in tails.items()]


def _wait_words(answer: KernelCode, addresses: dict[int, int]) -> dict[int, list[str]]:
    """Row -> what its wait waits for."""
    words: dict[int, list[str]] = {}
    for row in answer.waits.iter_rows(named=True):
        if row["producer_row"] is None:
            continue
        sure = "" if row["is_certain"] else "?"
        before = " of the iteration before" if row["is_around_loop"] else ""
        rows = counted(row["distance_rows"], "rows")
        words.setdefault(row["wait_row"], []).append(f"{rows} after {addresses[row['producer_row']]:x}{sure}{before}")
    return words
