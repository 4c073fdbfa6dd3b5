"""Source files with what each line cost, and what was inlined into it below; the cold rest is folded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavescope.report.fitting import fitted
from wavescope.report.folding import stretches
from wavescope.report.heat import emphasis, heat_bar, legend
from wavescope.report.measures import CYCLES
from wavescope.report.tables import place, printable, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.text import Text

    from wavescope.analysis.source_lines import SourceListing
    from wavescope.report.measures import Row

__all__ = ["SourceView", "source_report"]

_WIDE = 100
_LEAST_INLINED_SHARE = 0.01
"""Inlined lines with less of a file's cycles are only counted."""


@dataclass(frozen=True)
class SourceView:
    """What of the source to show.

    Examples
    --------
    >>> SourceView().context
    3
    """

    top: int = 10
    """Windows around so many of the costliest lines, over all files."""
    context: int = 3
    show_all: bool = False
    advice: str = ""
    """What to do where the text of a file is not here."""


def source_report(listing: SourceListing, view: SourceView) -> Iterator[RenderableType]:
    """The files with their lines, the costliest file first.

    Examples
    --------
    >>> parts = list(source_report(listing, SourceView()))  # doctest: +SKIP
    """
    from rich.text import Text

    lines = listing.lines.to_dicts()
    costly = sorted((line for line in lines if line["row_count"]), key=lambda line: -CYCLES.hot(line))
    if not costly:
        yield Text("no row has a debug line: compile with -g, or look at the instructions with --isa")
        return
    yield from _verdict(listing, costly)
    hot = {(line["file"], line["line"]) for line in costly[: view.top] if CYCLES.hot(line) > 0}
    scale = max(map(CYCLES.total, costly))
    total = sum(map(CYCLES.total, costly)) + listing.unmapped_cycles_total
    inlined: dict[tuple[str, int | None], list[Row]] = {}
    for row in listing.inlined.to_dicts():
        inlined.setdefault((row["file"], row["line"]), []).append(row)
    unshown = 0
    for file in listing.files.to_dicts():
        its_lines = [line for line in lines if line["file"] == file["file"]]
        its_hot = {number for number, line in enumerate(its_lines) if (line["file"], line["line"]) in hot}
        if not (its_hot or view.show_all):
            unshown += 1
            continue
        yield _File(file, its_lines, its_hot, inlined, view, scale, CYCLES.hot(costly[0]), total)
    yield _Foot(listing, unshown, total)


def _verdict(listing: SourceListing, costly: Sequence[Row]) -> Iterator[Text]:
    from rich.text import Text

    total = sum(map(CYCLES.hot, costly)) or 1
    first = costly[0]
    what = f"{short(CYCLES.hot(first))} cycles that nothing hides, {CYCLES.hot(first) / total:.1%} of all"
    yield Text.assemble(("hottest: ", "bold"), f"{printable(place(first['file'], first['line']))}: {what}")


@dataclass
class _File:
    """One file; renders itself to the width of the console."""

    file: Row
    lines: Sequence[Row]
    hot: set[int]
    inlined: dict[tuple[str, int | None], list[Row]]
    view: SourceView
    scale: int
    hottest: int
    total: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        share = CYCLES.total(self.file) / (self.total or 1)
        yield Text()
        yield fitted(Text(f"{printable(self.file['file'])}  {share:.1%} of the cycles", style="bold"), options)
        if not self.file["has_text"]:
            yield Text(f"  its text is not here; {self.view.advice}", style="yellow")
        wide = options.max_width >= _WIDE
        yield fitted(Text(_head(wide=wide), style="bold"), options)
        context = len(self.lines) if self.view.show_all else self.view.context
        for part in stretches(len(self.lines), dict.fromkeys(self.hot or {0}, context)):
            if part.is_folded:
                folded = self.lines[part.begin : part.end]
                cold = sum(map(CYCLES.total, folded)) / (self.total or 1)
                folded_text = Text(f"  …  {len(folded):,} lines, {cold:.1%} of the cycles …", style="dim")
                yield fitted(folded_text, options)
                continue
            for line in self.lines[part.begin : part.end]:
                yield fitted(self._line(line, options, wide=wide), options)
                for text in self._inlined(line, options, wide=wide):
                    yield fitted(text, options)

    def _line(self, line: Row, options: ConsoleOptions, *, wide: bool) -> Text:
        from rich.text import Text

        style = emphasis(CYCLES.hot(line), self.hottest) if line["row_count"] else "dim"
        text = Text().append(f"{line['line'] or '?':>5} ", style)
        text.append_text(self._costs(line, options, wide=wide))
        words = "" if line["text"] is None else printable(line["text"].rstrip().expandtabs(4))
        return text.append(words, style)

    def _inlined(self, line: Row, options: ConsoleOptions, *, wide: bool) -> Iterator[Text]:
        """What was inlined into a line, as a tree, costly branches first; cheap ones are counted."""
        from rich.text import Text

        arrow = "`" if options.ascii_only else "↳"
        cheap = 0
        for row in _tree(self.inlined.get((line["file"], line["line"]), [])):
            if CYCLES.total(row) < _LEAST_INLINED_SHARE * self.total and not self.view.show_all:
                cheap += 1
                continue
            text = Text("      ").append_text(self._costs(row, options, wide=wide))
            words = printable((row["inlined_text"] or "").strip().expandtabs(4))
            where = printable(place(row["inlined_file"], row["inlined_line"]))
            yield text.append(f"{'  ' * row['depth']}{arrow} {where}  {words}", "italic")
        if cheap:
            many = f"{cheap:,} inlined lines cost" if cheap > 1 else "1 inlined line costs"
            yield Text(f"{'':{_costs_width(wide=wide) + 8}}{arrow} {many} less than 1 %", "dim")

    def _costs(self, row: Row, options: ConsoleOptions, *, wide: bool) -> Text:
        from rich.text import Text

        if not row["row_count"]:
            return Text(" " * _costs_width(wide=wide))
        text = heat_bar(CYCLES.parts(row), self.scale, width=10, ascii_only=options.ascii_only)
        text.append(f" {short(row['hit_count']):>7} {short(row['stall_cycles_total']):>7}")
        text.append(f" {short(CYCLES.hot(row)):>7}")
        if wide:
            text.append(f"  {(row.get('stall_class') or '')[:16]:<16}")
        return text.append("  ")


def _costs_width(*, wide: bool) -> int:
    return 10 + 3 * 8 + (18 if wide else 0) + 2


def _head(*, wide: bool) -> str:
    classes = f"  {'stalls on':<16}" if wide else ""
    return f"{'line':>5} {'heat':<10} {'hits':>7} {'stall':>7} {'exposed':>7}{classes}  source"


def _tree(rows: Sequence[Row]) -> Iterator[Row]:
    """Depth first, costly branches first."""
    children: dict[str, list[Row]] = {}
    for row in rows:
        parent, _, _ = row["path"].rpartition(" -> ")
        children.setdefault(parent, []).append(row)
    for below in children.values():
        below.sort(key=CYCLES.total)
    waiting = children.get("", [])[:]
    while waiting:
        row = waiting.pop()
        yield row
        waiting += children.get(row["path"], [])


@dataclass
class _Foot:
    """Legend, and what was not shown."""

    listing: SourceListing
    unshown: int
    total: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        chain = f"rows belong to the {self.listing.attribution} line of their inline chain"
        yield legend(ascii_only=options.ascii_only).append(f"; {chain}", "dim")
        if self.listing.unmapped_cycles_total:
            share = self.listing.unmapped_cycles_total / (self.total or 1)
            yield Text(f"{self.listing.unmapped_row_count:,} rows without a debug line have {share:.1%} of the cycles")
        if self.unshown:
            yield Text(f"{self.unshown:,} more files have colder lines; --all shows every file and line", style="dim")
