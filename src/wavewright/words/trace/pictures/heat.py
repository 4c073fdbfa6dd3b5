"""The picture of the hottest lines of the source, or of the code where no source is known.

A few lines stand around each hot one, with a bar of what its cycles were; what is between such windows is folded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wavewright.analysis.trace.listing import IsaListing, SampleListing
from wavewright.analysis.trace.listing.source_lines import SampleLines, SourceListing
from wavewright.base.shown import printable
from wavewright.base.words import counted, short
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.words.kit.frame_tables import hexadecimal, place
from wavewright.words.kit.line_windows import line_ranges
from wavewright.words.trace.listing.measures import Measure
from wavewright.writers.svg.plot_frame import Frame, Key
from wavewright.writers.svg.plot_heat import PART_COLOURS, HeatLine, draw_heat, heat_height
from wavewright.writers.svg.plot_words import headline, sentences

_TOP, _CONTEXT = 8, 2  #: Hot lines unless a number is asked for, and lines around each.
_MOST = 64  #: Lines of a picture; the others are counted in its note.
#: Part of the cycles -> its name in the legend, where that says more than its own.
_WORDS = {"hidden": "hidden by other waves", "sampled": "samples"}
_NO_SOURCE = "The source is not here; these are instructions"


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """Windows around the hottest lines, with bars of what their cycles were; what is between them is folded."""
    trace = document.trace
    if not (trace.instruction_count or trace.samples.height):
        raise UsageError("the trace has neither instructions nor samples", where=document.label)
    listing = _listing(document)
    if listing.has_text:
        return _source(document, listing, theme, top or _TOP)
    return _code(document, theme, top or _TOP)


def _listing(document: Document) -> SourceListing | SampleLines:
    from wavewright.analysis.trace.listing.source_lines import sample_lines, source_listing

    trace = document.trace
    listing_of = source_listing if trace.instruction_count else sample_lines
    return document.kept(("plot", "source"), lambda: listing_of(trace))


def _source(document: Document, listing: SourceListing | SampleLines, theme: str, top: int) -> Picture:
    from wavewright.analysis.trace.listing.source_lines import SourceListing
    from wavewright.words.trace.listing.measures import CYCLES, sample_measure
    from wavewright.words.trace.listing.source import SourceView, sampled_source_report, source_report

    if isinstance(listing, SourceListing):
        measure, report = CYCLES, source_report(listing, SourceView())
        unmapped = listing.unmapped_cycles_total
    else:
        measure, report = sample_measure(listing.lines), sampled_source_report(listing, SourceView())
        unmapped = listing.unmapped_sample_count
    rows = listing.lines.to_dicts()
    total = sum(measure.total(row) for row in rows if row["row_count"]) + unmapped
    hot_lines = _hottest(rows, measure, top)
    if not hot_lines:
        raise UsageError("no source line was executed", where=document.label)
    by_file: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_file.setdefault(row["file"], []).append(row)
    lines: list[HeatLine] = []
    hot_files = {file for file, _ in hot_lines}
    for file in dict.fromkeys(listing.files["file"]):
        if file in hot_files:
            file_rows = by_file[file]
            hot_rows = [index for index, row in enumerate(file_rows) if (file, row["line"]) in hot_lines]
            lines.append(HeatLine("", printable(file), is_heading=True))
            lines += _windows(file_rows, hot_rows, measure, total, _source_words)
    return _picture(lines, measure, headline(report), theme)


def _code(document: Document, theme: str, top: int) -> Picture:
    from wavewright.analysis.trace.listing import IsaListing, isa_listing, sample_listing
    from wavewright.words.trace.listing.measures import CYCLES, sample_measure

    trace = document.trace
    listing: IsaListing | SampleListing
    listing = isa_listing(trace) if trace.instruction_count else sample_listing(trace)
    measure = CYCLES if isinstance(listing, IsaListing) else sample_measure(listing.rows)
    rows = [row for row in listing.rows.to_dicts() if row["text"]]
    total = sum(map(measure.total, listing.rows.to_dicts()))
    ranked = sorted(range(len(rows)), key=lambda index: (-measure.hot(rows[index]), index))
    hot_rows = sorted(index for index in ranked[:top] if measure.hot(rows[index]) > 0)
    if not hot_rows:
        raise UsageError("no instruction was executed in the trace", where=document.label)
    first = rows[ranked[0]]
    share = measure.hot(first) / (total or 1)
    where = place(first["file"], first["line"])
    source = f" ({printable(where)})" if where else ""
    cost = f"{short(measure.hot(first))} {measure.unit}, {100 * share:.1f} % of all {measure.unit}"
    sentence = f"Hottest: {printable(first['text'])}{source}: {cost}."
    lines = _windows(rows, hot_rows, measure, total, _code_words, "instructions")
    return _picture(lines, measure, sentence, theme, _NO_SOURCE)


def _code_words(row: dict[str, Any]) -> tuple[str, str]:
    """The address of an instruction, and its text."""
    return hexadecimal(row["address"]), row["text"]


def _source_words(row: dict[str, Any]) -> tuple[str, str]:
    """The number of a source line, and its text; the text may not be part of the capture."""
    return ("", "(no line)") if row["line"] is None else (str(row["line"]), row["text"] or "")


def _hottest(rows: Sequence[dict[str, Any]], measure: Measure, top: int) -> set[tuple[str, int | None]]:
    """The hottest lines by file and number (None = rows of the file without a line)."""
    costly = [row for row in rows if row["row_count"] and measure.hot(row) > 0]
    costly.sort(key=lambda row: (-measure.hot(row), row["file"] or "", row["line"] or 0))
    return {(row["file"], row["line"]) for row in costly[:top]}


def _windows(
    rows: Sequence[dict[str, Any]],
    hot_rows: Sequence[int],
    measure: Measure,
    total: float,
    words: Callable[[dict[str, Any]], tuple[str, str]],
    row_name: str = "lines",
) -> list[HeatLine]:
    """Windows around the hot rows; `words` gives the number and the text of a row, `total` is 100 %."""
    lines: list[HeatLine] = []
    for part in line_ranges(len(rows), dict.fromkeys(hot_rows, _CONTEXT)):
        if part.is_folded:
            folded = counted(part.end - part.begin, row_name)
            lines.append(HeatLine("", f"… {folded} …"))
            continue
        for row in rows[part.begin : part.end]:
            number, text = words(row)
            is_seen = bool(row.get("row_count", 1)) and measure.is_seen(row)
            parts = {name: float(max(0, amount)) for name, amount in measure.parts(row).items()} if is_seen else {}
            share = measure.hot(row) / (total or 1) if is_seen else None
            lines.append(HeatLine(number, printable(text), parts, share))
    return lines


def _picture(lines: list[HeatLine], measure: Measure, sentence: str, theme: str, note: str = "") -> Picture:
    drawn_lines = lines[:_MOST]
    left_out = len(lines) - len(drawn_lines)
    part_names = [name for name in PART_COLOURS if any(line.parts.get(name) for line in drawn_lines)]
    frame = Frame(
        "heat",
        "Heat of the code" if note else "Heat of the source",
        sentence,
        height=heat_height(drawn_lines),
        theme=theme,
        legend=[Key(PART_COLOURS[name], _WORDS.get(name, name)) for name in part_names],
        note=sentences(
            note,
            f"percentages: {'exposed ' * (measure.unit == 'cycles')}{measure.unit} of all {measure.unit} of the waves",
            f"{counted(left_out, 'lines')} left out" if left_out else "",
        ),
    )
    draw_heat(frame, drawn_lines)
    return frame.picture()
