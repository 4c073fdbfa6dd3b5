"""Source files with what each line cost, and what was inlined into it below; the cold rest is folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wavewright.analysis.trace.listing.source_lines import SampleLines, SourceListing
from wavewright.base.shown import printable
from wavewright.base.words import counted, percent, short
from wavewright.model.blocks import GAP, AnyBlock, Sentence, chart, sentence
from wavewright.words.kit.frame_tables import place
from wavewright.words.kit.heat import emphasis, heat_bar, legend
from wavewright.words.kit.line_windows import line_ranges
from wavewright.words.trace.listing.measures import ListingRow, Measure, cycle_measure, sample_measure
from wavewright.writers.terminal.texts import fitted

_WIDE = 100  #: Characters of a line from which on there is room for words beside the numbers.
_BAR, _WORDS = 10, 17  #: Characters of the heat bar, and of these words.
_LEAST_INLINED_SHARE = 0.01  #: Inlined lines with a smaller share of all cycles or samples are only counted.


@dataclass(frozen=True)
class SourceView:
    """The requested view of the source."""

    top: int = 10  #: Number of source windows shown, around the costliest lines of all files.
    context: int = 3
    show_all: bool = False
    advice: str = ""  #: What to do where the text of a file is not here.
    width: int = 120  #: Characters of a line.
    ascii_only: bool = False

    @property
    def is_wide(self) -> bool:
        """True if there is room for words beside the numbers."""
        return self.width >= _WIDE


def source_report(listing: SourceListing, view: SourceView) -> Iterator[AnyBlock]:
    """The files with their lines, the costliest file first."""
    yield from _report(
        listing, cycle_measure(listing.lines), listing.unmapped_cycles_total, view, " that nothing hides"
    )


def sampled_source_report(listing: SampleLines, view: SourceView) -> Iterator[AnyBlock]:
    """The files with the samples of their lines, the most sampled file first."""
    yield from _report(listing, sample_measure(listing.lines), listing.unmapped_sample_count, view, "")


def _report(
    listing: SourceListing | SampleLines, measure: Measure, unmapped: int, view: SourceView, how: str
) -> Iterator[AnyBlock]:
    by_file: dict[str, list[ListingRow]] = {}
    for line in listing.lines.to_dicts():
        by_file.setdefault(line["file"], []).append(line)
    costly = sorted((line for lines in by_file.values() for line in lines if line["row_count"]), key=measure.hot)[::-1]
    if not costly:
        yield Sentence("no row has a debug line: compile with -g, or look at the instructions with --isa")
        return
    first, total = costly[0], sum(map(measure.total, costly)) + unmapped
    share = f"{percent(measure.hot(first) / (total or 1))} of all {measure.unit}"
    where = printable(place(first["file"], first["line"]))
    yield sentence(("hottest: ", "bold"), f"{where}: {short(measure.hot(first))} {measure.unit}{how}, {share}")
    hot = {(line["file"], line["line"]) for line in costly[: view.top] if measure.hot(line) > 0}
    inlined: dict[tuple[str, int | None], list[ListingRow]] = {}
    for row in listing.inlined.to_dicts():
        inlined.setdefault((row["file"], row["line"]), []).append(row)
    scale = max(map(measure.total, costly))
    unshown = 0
    for file in listing.files.to_dicts():
        lines = by_file[file["file"]]
        its_hot = {number for number, line in enumerate(lines) if (line["file"], line["line"]) in hot}
        if its_hot or view.show_all:
            of_file = _File(
                file=file, lines=lines, hot=its_hot, inlined=inlined, view=view, measure=measure, scale=scale,
                hottest=measure.hot(first), total=total,
            )  # fmt: skip
            yield GAP
            yield chart(fitted(line, view.width, ascii_only=view.ascii_only) for line in of_file.text())
        else:
            unshown += 1
    yield chart([legend(ascii_only=view.ascii_only, parts=measure.part_names)])
    yield from _foot(listing, measure, unmapped / (total or 1), unshown)


@dataclass
class _File:
    """One file with what it takes to write its lines."""

    file: ListingRow
    lines: Sequence[ListingRow]
    hot: set[int]
    inlined: dict[tuple[str, int | None], list[ListingRow]]
    view: SourceView
    measure: Measure
    scale: int
    hottest: int
    total: int

    def text(self) -> Iterator[Sentence]:
        """A heading, then the lines around those that are hot."""
        share, unit = self.measure.total(self.file) / (self.total or 1), self.measure.unit
        yield sentence((f"{self.file['file']}  {percent(share)} of the {unit}", "bold"))
        if not self.file["has_text"]:
            yield sentence((f"  its text is not here; {self.view.advice}", "yellow"))
        *numbers, words = self.measure.line_cells
        cells = "".join(f" {name:>7}" for name in numbers) + (f"  {words:<{_WORDS}}" if self.view.is_wide else "")
        yield sentence((f"{'line':>5} {'heat':<{_BAR}}{cells}  source", "bold"))
        context = len(self.lines) if self.view.show_all else self.view.context
        for part in line_ranges(len(self.lines), dict.fromkeys(self.hot or {0}, context)):
            lines = self.lines[part.begin : part.end]
            if part.is_folded:
                cold = sum(map(self.measure.total, lines)) / (self.total or 1)
                yield sentence((f"  …  {counted(len(lines), 'lines')}, {percent(cold)} of the {unit} …", "dim"))
                continue
            for line in lines:
                tone = emphasis(self.measure.hot(line), self.hottest) if line["row_count"] else "dim"
                source = "" if line["text"] is None else printable(line["text"].rstrip().expandtabs(4))
                yield sentence((f"{line['line'] or '?':>5} ", tone), self._costs(line), (source, tone))
                yield from self._inlined(line)

    def _inlined(self, line: ListingRow) -> Iterator[Sentence]:
        """The lines inlined into a line, as a tree, costly branches first; cheap ones are counted."""
        arrow = "`" if self.view.ascii_only else "↳"
        cheap = 0
        for row in _tree(self.inlined.get((line["file"], line["line"]), []), self.measure):
            if self.measure.total(row) < _LEAST_INLINED_SHARE * self.total and not self.view.show_all:
                cheap += 1
                continue
            words = printable((row["inlined_text"] or "").strip().expandtabs(4))
            where = printable(place(row["inlined_file"], row["inlined_line"]))
            yield sentence("      ", self._costs(row), (f"{'  ' * row['depth']}{arrow} {where}  {words}", "italic"))
        if cheap:
            many = f"{cheap:,} inlined lines cost" if cheap > 1 else "1 inlined line costs"
            yield sentence((f"{'':{self._costs_width + 8}}{arrow} {many} less than 1 %", "dim"))

    def _costs(self, row: ListingRow) -> Sentence:
        if not row["row_count"]:
            return Sentence(" " * self._costs_width)
        heat = heat_bar(self.measure.parts(row), self.scale, width=_BAR, ascii_only=self.view.ascii_only)
        *numbers, words = self.measure.line_cells.values()
        cells = "".join(f" {number(row):>7}" for number in numbers)
        if self.view.is_wide:
            reason = words(row)
            cells += f"  {reason if len(reason) <= _WORDS else reason[: _WORDS - 1] + '…':<{_WORDS}}"
        return sentence(heat, f"{cells}  ")

    @property
    def _costs_width(self) -> int:
        return _BAR + 3 * 8 + (2 + _WORDS if self.view.is_wide else 0) + 2


def _tree(rows: Sequence[ListingRow], measure: Measure) -> Iterator[ListingRow]:
    """Inlined rows depth first, costly branches first; `path` of a row names the rows above it, joined by " -> "."""
    children: dict[str, list[ListingRow]] = {}
    for row in rows:
        parent, _, _ = row["path"].rpartition(" -> ")
        children.setdefault(parent, []).append(row)
    for below in children.values():
        below.sort(key=measure.total)
    waiting = children.get("", [])[:]  # a stack: the costliest, which was sorted to the end, is next
    while waiting:
        row = waiting.pop()
        yield row
        waiting += children.get(row["path"], [])


def _foot(
    listing: SourceListing | SampleLines, measure: Measure, unmapped_share: float, unshown: int
) -> Iterator[Sentence]:
    """Sentences about what rows belong to, and what was not shown."""
    frame = "first own" if listing.attribution == "mine" else listing.attribution
    yield sentence((f"rows belong to the {frame} line of their inline chain", "dim"))
    if unmapped_share:
        rows = f"{counted(listing.unmapped_row_count, 'rows')} without a debug line"
        yield Sentence(f"{rows} have {percent(unmapped_share)} of the {measure.unit}")
    if unshown:
        more = "1 more file has" if unshown == 1 else f"{unshown:,} more files have"
        yield sentence((f"{more} colder lines; --all shows every file and line", "dim"), style="advice")
