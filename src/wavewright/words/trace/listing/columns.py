"""The columns of a listing of code: heat, costs, address, text and source, as many as the console has room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wavewright.base.shown import printable
from wavewright.model.blocks import Sentence, sentence
from wavewright.words.kit.frame_tables import place
from wavewright.words.kit.heat import emphasis, heat_bar
from wavewright.words.trace.listing.lines import IsaView
from wavewright.words.trace.listing.measures import WIDE, Cell, ListingRow, Measure

_MAX_PLACE, _MIN_TEXT = 28, 20


@dataclass(frozen=True)
class IsaColumns:
    """The columns of a listing of code, with their widths."""

    cells: Mapping[str, Cell]
    widths: Mapping[str, int]
    text_width: int
    with_place: bool
    bar_width: int
    measure: Measure
    scale: int  #: Value of a full bar.
    hottest: int
    ascii_only: bool

    def head(self) -> Sentence:
        """The headings."""
        names = [name.rjust(width) for name, width in self.widths.items()]
        words = ["heat".ljust(self.bar_width), *names, "instruction".ljust(self.text_width)]
        return sentence(("  ".join([*words, "source"] if self.with_place else words), "bold"))

    def line(self, row: ListingRow) -> Sentence:
        """The line of one row."""
        heat = heat_bar(self.measure.parts(row), self.scale, width=self.bar_width, ascii_only=self.ascii_only)
        cells = "".join("  " + cell(row).rjust(self.widths[name]) for name, cell in self.cells.items())
        words = printable(row["text"])
        if self.with_place:
            words = words if len(words) <= self.text_width else words[: self.text_width - 1] + "…"
            words = words.ljust(self.text_width) + "  " + printable(place(row["file"], row["line"]))
        seen = self.measure.is_seen(row)
        tone = emphasis(self.measure.hot(row), self.hottest) if seen else "dim"
        return sentence(heat, f"{cells}  ", (words, tone))


def columns_for(
    rows: Sequence[ListingRow], shown: Sequence[ListingRow], measure: Measure, view: IsaView, *, gutter: int
) -> IsaColumns:
    """The columns for the width of a view, of which `gutter` characters are taken."""
    width = view.width
    cells = measure.cells(view.cost, width)
    widths = {name: max([len(name), *(len(cell(row)) for row in shown)]) for name, cell in cells.items()}
    with_place = width >= WIDE and any(row["file"] for row in shown)
    places = max((len(place(row["file"], row["line"])) for row in shown), default=0) if with_place else 0
    bar_width = 10 if width >= WIDE else 6
    left = width - gutter - bar_width - sum(2 + wide for wide in widths.values()) - min(places, _MAX_PLACE) - 4
    longest = max((len(printable(row["text"])) for row in shown), default=0)
    return IsaColumns(
        cells=cells,
        widths=widths,
        text_width=max(_MIN_TEXT, min(longest, left)),
        with_place=with_place,
        bar_width=bar_width,
        measure=measure,
        scale=max(map(measure.total, rows), default=0),
        hottest=max(map(measure.hot, rows), default=0),
        ascii_only=view.ascii_only,
    )
