"""The code as a listing: arrows, heat, costs, address, text and source of each row; the cold rest is folded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wavewright.analysis.trace.listing import IsaListing, SampleListing
from wavewright.base.shown import printable
from wavewright.base.words import counted, percent, short
from wavewright.model.blocks import AnyBlock, Named, Part, Sentence, chart, headline, sentence
from wavewright.words.kit.arrows import ASCII, UNICODE, Drawing, draw_arrows
from wavewright.words.kit.frame_tables import hexadecimal, place
from wavewright.words.kit.heat import emphasis, heat_bar, legend
from wavewright.words.kit.line_windows import ListingLine
from wavewright.words.trace.listing.lines import IsaView, contexts, focus, hottest, isa_arrows, isa_lines, pairs_of
from wavewright.words.trace.listing.measures import (
    CYCLES_OF_ONE,
    WIDE,
    Cell,
    ListingRow,
    Measure,
    cycle_measure,
    sample_measure,
)
from wavewright.writers.terminal.texts import fitted

_MAX_FUNCTION = 90  #: Characters of the name of a function.
_LEFT_OUT_WIDTH = 4  #: Of the number of arrows for which there is no lane.


def isa_report(listing: IsaListing, view: IsaView) -> Iterator[AnyBlock]:
    """The listing with a sentence about its hottest row on top."""
    rows = listing.rows.to_dicts()
    measure = cycle_measure(listing.rows) if listing.iteration is None else CYCLES_OF_ONE
    total, stall = sum(map(measure.total, rows)), sum(row["stall_cycles_total"] for row in rows)
    executed = sum(map(measure.is_seen, rows))
    which = "" if listing.wave is None else f" by wave {listing.wave}"
    if listing.iteration is not None:
        which += f", their execution {listing.iteration} (from 0)"
    share = f", {percent(stall / total)} of them stall" if total else ""
    yield headline(f"{len(rows):,} rows, {executed:,} executed{which}: {short(total)} cycles{share}")
    for index in hottest(rows, measure, 1):
        hidden = " that nothing hides" if listing.iteration is None else ""
        producers = listing.arrows.filter(listing.arrows["wait_row"] == rows[index]["row"])["producer_row"].n_unique()
        waits = f"; it waits for {producers:,} row{'s' * (producers > 1)}" if producers else ""
        yield _hottest_line(rows, index, measure, hidden, waits)
    if rows:
        yield from _listing(rows, measure, view, pairs_of(listing, view), listing.loops.to_dicts())


def samples_report(listing: SampleListing, view: IsaView) -> Iterator[AnyBlock]:
    """The code with its samples of the program counter."""
    rows, measure = listing.rows.to_dicts(), sample_measure(listing.rows)
    sampled = sum(map(measure.is_seen, rows))
    informative = listing.sample_count - int(listing.rows["unknown_count"].sum())
    share = f", {percent(listing.stalled_count / informative)} of them stalled" if informative else ""
    verdict = f"{counted(len(rows), 'rows')}, {sampled:,} sampled: {counted(listing.sample_count, 'samples')}{share}"
    yield headline(verdict)
    for index in hottest(rows, measure, 1):
        reason = f"; stalled mostly by: {rows[index]['reason']}" if rows[index]["reason"] else ""
        yield _hottest_line(rows, index, measure, "", reason)
    if rows:
        yield from _listing(rows, measure, view)


def _hottest_line(rows: Sequence[ListingRow], index: int, measure: Measure, how: str, more: str) -> Sentence:
    row, total = rows[index], sum(map(measure.total, rows))
    share = f"{percent(measure.hot(row) / total)} of all {measure.unit}{more}"
    what = f"{short(measure.hot(row))} {measure.unit}{how}, {share}"
    where: list[Part] = [] if row["address"] is None else [" at ", Named(hexadecimal(row["address"]), "i")]
    return sentence(("hottest: ", "bold"), row["text"] or "?", *where, f": {what}")


def _listing(
    rows: Sequence[ListingRow],
    measure: Measure,
    view: IsaView,
    pairs: Sequence[tuple[int, int]] = (),
    loops: Sequence[ListingRow] = (),
) -> Iterator[AnyBlock]:
    """The lines in the width and the characters of the view, and what it does not show."""
    chosen = focus(view, rows, measure)
    lines = isa_lines(rows, contexts(pairs, view, rows, chosen), loops)
    weights = {row["row"]: float(measure.total(row)) for row in rows}
    drawing = draw_arrows(
        isa_arrows(pairs, weights, rows, lines, chosen),
        folded={number for number, line in enumerate(lines) if line.is_fold},
        max_lanes=8 if view.width >= WIDE else 4,
        glyphs=ASCII if view.ascii_only else UNICODE,
    )
    gutter = drawing.width + (_LEFT_OUT_WIDTH if drawing.left_out else 0) + 1
    columns = columns_for(rows, [rows[line.begin] for line in lines if line.is_row], measure, view, gutter=gutter)
    body = [sentence(" " * gutter, columns.head())]
    for number, line in enumerate(lines):
        text = columns.line(rows[line.begin]) if line.is_row else _heading_or_fold(line, rows, measure)
        body.append(sentence(*_gutter(drawing, number), text))
    body.append(legend(ascii_only=view.ascii_only, parts=measure.part_names))
    yield chart(fitted(line, view.width, ascii_only=view.ascii_only) for line in body)
    shown = sum(line.is_row for line in lines)
    if shown < len(rows):
        yield sentence((f"showing {shown:,} of {len(rows):,} rows; --all shows every row", "dim"), style="advice")
    if view.hint:
        yield sentence((view.hint, "dim"), style="advice")


def _heading_or_fold(line: ListingLine, rows: Sequence[ListingRow], measure: Measure) -> Sentence:
    if line.heading:
        name = printable(line.heading)
        name = name if len(name) <= _MAX_FUNCTION else name[: _MAX_FUNCTION - 1] + "…"
        return sentence((name, "bold" if line.is_name else "dim italic"))
    folded = rows[line.begin : line.end]
    share = sum(map(measure.total, folded)) / (sum(map(measure.total, rows)) or 1)
    return sentence((f"… {counted(len(folded), 'rows')}, {percent(share)} of the {measure.unit} …", "dim"))


def _gutter(drawing: Drawing, number: int) -> Iterator[Part]:
    yield drawing.line(number)
    if drawing.left_out:
        left_out = drawing.left_out.get(number, 0)
        yield (f"+{left_out}" if left_out else "").ljust(_LEFT_OUT_WIDTH), "dim"
    yield " "


# --- columns of a listing, as far as they fit its width ---


_MAX_PLACE, _MIN_TEXT = 28, 20  #: Characters for source lines at most, and for instructions at least.


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
    hottest: int  #: What the hottest row costs.
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
        tone = emphasis(self.measure.hot(row), self.hottest) if self.measure.is_seen(row) else "dim"
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
    room = width - gutter - bar_width - sum(2 + wide for wide in widths.values()) - min(places, _MAX_PLACE) - 4
    longest = max((len(printable(row["text"])) for row in shown), default=0)
    return IsaColumns(
        cells=cells,
        widths=widths,
        text_width=max(_MIN_TEXT, min(longest, room)),
        with_place=with_place,
        bar_width=bar_width,
        measure=measure,
        scale=max(map(measure.total, rows), default=0),
        hottest=max(map(measure.hot, rows), default=0),
        ascii_only=view.ascii_only,
    )
