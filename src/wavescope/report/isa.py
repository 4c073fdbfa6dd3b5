"""The code as a listing: arrows, heat, costs, address, text and source of each row; the cold rest is folded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavescope.report.arrows import ASCII, UNICODE, Drawing, draw_arrows
from wavescope.report.fitting import fitted
from wavescope.report.heat import legend
from wavescope.report.isa_columns import WIDE, columns_for
from wavescope.report.isa_lines import (
    IsaView,
    contexts,
    cycles_of,
    exposed_of,
    hottest,
    isa_arrows,
    isa_lines,
)
from wavescope.report.tables import printable, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.text import Text

    from wavescope.analysis.listing import IsaListing
    from wavescope.report.isa_lines import Line, Row

__all__ = ["IsaView", "isa_report"]

_MAX_FUNCTION = 90
_LEFT_OUT_WIDTH = 4


def isa_report(listing: IsaListing, view: IsaView) -> Iterator[RenderableType]:
    """The listing with a sentence about its hottest row on top.

    Examples
    --------
    >>> parts = list(isa_report(listing, IsaView()))  # doctest: +SKIP
    """
    from rich.text import Text

    rows = listing.rows.to_dicts()
    if not rows:
        yield Text("there is no code to list")
        return
    yield from _verdict(listing, rows)
    yield _Listing(listing, view, rows)


def _verdict(listing: IsaListing, rows: Sequence[Row]) -> Iterator[Text]:
    from rich.text import Text

    executed = sum(row["hit_count"] > 0 for row in rows)
    total, stall = sum(map(cycles_of, rows)), sum(row["stall_cycles_total"] for row in rows)
    which = "" if listing.wave is None else f" by wave {listing.wave}"
    if listing.iteration is not None:
        which += f", their execution {listing.iteration} (from 0)"
    share = f", {stall / total:.1%} of them stall" if total else ""
    yield Text(f"{len(rows):,} rows, {executed:,} executed{which}: {short(total)} cycles{share}", style="bold")
    for index in hottest(rows, 1):
        row = rows[index]
        exposed, everything = exposed_of(row), sum(map(exposed_of, rows))
        hidden = "" if row["exposed_cycles_total"] is None else " that nothing hides"
        producers = listing.arrows.filter(listing.arrows["wait_row"] == row["row"])["producer_row"].n_unique()
        waits = f"; it waits for {producers:,} row{'s' * (producers > 1)}" if producers else ""
        what = f"{short(exposed)} cycles{hidden}, {exposed / everything:.1%} of all{waits}"
        yield Text.assemble(("hottest: ", "bold"), f"{printable(row['text'])} at {row['address']:#x}: {what}")


@dataclass
class _Listing:
    """Renders itself to the width and the characters of the console."""

    listing: IsaListing
    view: IsaView
    rows: Sequence[Row]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        lines = isa_lines(self.rows, contexts(self.listing, self.view, self.rows))
        folds = {number for number, line in enumerate(lines) if line.is_fold}
        drawing = draw_arrows(
            isa_arrows(self.listing, self.view, self.rows, lines),
            folded=folds,
            max_lanes=8 if options.max_width >= WIDE else 4,
            glyphs=ASCII if options.ascii_only else UNICODE,
        )
        gutter = drawing.width + (_LEFT_OUT_WIDTH if drawing.left_out else 0) + 1
        columns = columns_for(
            [self.rows[line.begin] for line in lines if line.is_row],
            cost=self.view.cost,
            width=options.max_width,
            gutter=gutter,
            scale=max(map(cycles_of, self.rows)),
            ascii_only=options.ascii_only,
        )
        yield fitted(Text(" " * gutter).append_text(columns.head()), options)
        for number, line in enumerate(lines):
            text = _gutter(drawing, number)
            text.append_text(columns.line(self.rows[line.begin]) if line.is_row else self._other(line))
            yield fitted(text, options)
        yield from self._foot(lines, options)

    def _other(self, line: Line) -> Text:
        from rich.text import Text

        if line.heading:
            name = printable(line.heading)
            return Text(name if len(name) <= _MAX_FUNCTION else name[: _MAX_FUNCTION - 1] + "…", style="bold")
        folded = self.rows[line.begin : line.end]
        share = sum(map(cycles_of, folded)) / (sum(map(cycles_of, self.rows)) or 1)
        return Text(f"… {len(folded):,} rows, {share:.1%} of the cycles …", style="dim")

    def _foot(self, lines: Sequence[Line], options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        parts = ("stall", "issue", "idle", "hidden") if self.listing.iteration is None else ("stall", "issue", "idle")
        yield legend(ascii_only=options.ascii_only, parts=parts)
        shown = sum(line.is_row for line in lines)
        if shown < len(self.rows):
            yield Text(f"showing {shown:,} of {len(self.rows):,} rows; --all shows every row", style="dim")
        if self.view.hint:
            yield Text(self.view.hint, style="dim")


def _gutter(drawing: Drawing, number: int) -> Text:
    text = drawing.line(number)
    if drawing.left_out:
        left_out = drawing.left_out.get(number, 0)
        text.append((f"+{left_out}" if left_out else "").ljust(_LEFT_OUT_WIDTH), "dim")
    return text.append(" ")
