"""Heat bars: what the cycles of a line were, stacked in one small bar."""

from __future__ import annotations

from collections.abc import Mapping

from wavewright.model.blocks import Part, Sentence, sentence
from wavewright.words.kit.charts import legend_of

#: Part -> character, its stand-in in ASCII, colour (Okabe-Ito); parts can be told apart without colours.
PARTS = {
    "stall": ("█", "#", "#D55E00"),
    "issue": ("▓", "=", "#009E73"),
    "idle": ("░", ".", "#999999"),
    "hidden": ("·", "~", "#56B4E9"),
    "sampled": ("▒", "+", "#CC79A7"),
}

_EIGHTHS = " ▏▎▍▌"
_LEAST_MARK = 1 / 16  #: A bar that is shorter than this part of a character is not drawn.
_BOLD_FROM = 1 / 4  #: A line is bold if it has at least this share of the cycles of the hottest one.


def heat_bar(cycles: Mapping[str, int], scale: int, *, width: int = 10, ascii_only: bool = False) -> Sentence:
    """The parts of a line's cycles, `width` characters for `scale` cycles; less than a character is a thin mark."""
    amounts = {part: max(0, cycles.get(part, 0)) for part in PARTS}
    full = max(scale, sum(amounts.values())) or 1
    lengths = {part: amount / full * width for part, amount in amounts.items()}
    cells = _cells(lengths, width)
    pieces: list[Part] = [
        ((plain if ascii_only else block) * cells[part], colour) for part, (block, plain, colour) in PARTS.items()
    ]
    drawn, length = sum(cells.values()), sum(lengths.values())
    if not drawn and length >= _LEAST_MARK:  # less than half a character: a mark of up to four eighths
        largest = max(PARTS, key=lambda part: lengths[part])
        pieces.append(("." if ascii_only else _EIGHTHS[round(8 * length)], PARTS[largest][2]))
        drawn = 1
    return sentence(*pieces, " " * (width - drawn))


def _cells(lengths: Mapping[str, float], width: int) -> dict[str, int]:
    """Whole characters for each part, in all as many as fit; the largest remainders are rounded up."""
    cells = {part: int(length) for part, length in lengths.items()}
    missing = min(width, round(sum(lengths.values()))) - sum(cells.values())
    for part in sorted(lengths, key=lambda part: cells[part] - lengths[part])[: max(0, missing)]:
        cells[part] += 1
    return cells


def emphasis(amount: int, hottest: int) -> str:
    """Style of a line: bold from a quarter of the hottest one on."""
    return "bold" if amount > 0 and amount >= _BOLD_FROM * hottest else ""


def legend(*, ascii_only: bool = False, parts: tuple[str, ...] = tuple(PARTS)) -> Sentence:
    """The meaning of the characters of heat bars."""
    marks = {part: PARTS[part] for part in parts}
    return legend_of((part, plain if ascii_only else block, colour) for part, (block, plain, colour) in marks.items())
