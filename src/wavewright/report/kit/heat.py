"""Heat bars: what the cycles of a line were, stacked in one small bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Part -> character, its stand-in in ASCII, colour (Okabe-Ito); parts can be told apart without colours.
PARTS = {
    "stall": ("█", "#", "#D55E00"),
    "issue": ("▓", "=", "#009E73"),
    "idle": ("░", ".", "#999999"),
    "hidden": ("·", "~", "#56B4E9"),
    "sampled": ("▒", "+", "#CC79A7"),
}

_EIGHTHS = " ▏▎▍▌"
_LEAST_MARK = 1 / 16
_BOLD_FROM = 4


def heat_bar(cycles: Mapping[str, int], scale: int, *, width: int = 10, ascii_only: bool = False) -> Text:
    """The parts of a line's cycles, `width` characters for `scale` cycles; less than a character is a thin mark.

    Examples
    --------
    >>> heat_bar({"stall": 50, "issue": 25, "hidden": 25}, scale=200, width=8).plain
    '██▓·    '
    """
    amounts = {part: max(0, cycles.get(part, 0)) for part in PARTS}
    full = max(scale, sum(amounts.values())) or 1
    lengths = {part: amount / full * width for part, amount in amounts.items()}
    cells = _cells(lengths, width)
    text = Text()
    for part, (block, plain, colour) in PARTS.items():
        text.append((plain if ascii_only else block) * cells[part], colour)
    drawn, length = sum(cells.values()), sum(lengths.values())
    if not drawn and length >= _LEAST_MARK:
        largest = max(PARTS, key=lambda part: lengths[part])
        text.append("." if ascii_only else _EIGHTHS[round(8 * length)], PARTS[largest][2])
        drawn = 1
    return text.append(" " * (width - drawn))


def _cells(lengths: Mapping[str, float], width: int) -> dict[str, int]:
    """Whole characters for each part, in all as many as fit; the largest remainders are rounded up."""
    cells = {part: int(length) for part, length in lengths.items()}
    left = min(width, round(sum(lengths.values()))) - sum(cells.values())
    for part in sorted(lengths, key=lambda part: cells[part] - lengths[part])[: max(0, left)]:
        cells[part] += 1
    return cells


def emphasis(amount: int, hottest: int) -> str:
    """Style of a line: bold from a quarter of the hottest one on.

    Examples
    --------
    >>> emphasis(30, 100), emphasis(20, 100)
    ('bold', '')
    """
    return "bold" if amount > 0 and _BOLD_FROM * amount >= hottest else ""


def legend(*, ascii_only: bool = False, parts: tuple[str, ...] = tuple(PARTS)) -> Text:
    """What the characters of heat bars mean.

    Examples
    --------
    >>> legend().plain
    '█ stall  ▓ issue  ░ idle  · hidden  ▒ sampled'
    """
    pieces = []
    for part in parts:
        block, plain, colour = PARTS[part]
        pieces.append(Text.assemble((plain if ascii_only else block, colour), f" {part}"))
    return Text("  ").join(pieces)
