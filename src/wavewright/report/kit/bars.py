"""Small pictures made of characters: shares, sparklines, bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from wavewright.base.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_STEPS = " ▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉█"
# Okabe-Ito colours: distinguishable with any colour vision.
STATE_COLOURS = {"IDLE": "#999999", "EXEC": "#009E73", "WAIT": "#E69F00", "STALL": "#D55E00", "EMPTY": "#56B4E9"}


def sparkline(values: Sequence[float]) -> str:
    """Values as one character each, from 0 to the largest.

    Examples
    --------
    >>> sparkline([0, 1, 4, 8])
    ' ▁▄█'
    """
    top = max(values, default=0)
    if top <= 0:
        return " " * len(values)
    return "".join(_STEPS[min(8, max(0, round(8 * value / top)))] for value in values)


def bar(share: float, width: int = 10) -> str:
    """A bar for a share from 0 to 1, in eighths of a character.

    Examples
    --------
    >>> bar(0.5, 4)
    '██  '
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def is_bar(text: str) -> bool:
    """Whether a cell is a bar, of `bar`, or empty.

    Examples
    --------
    >>> is_bar(bar(0.3)), is_bar(""), is_bar("3 █")
    (True, True, False)
    """
    return not text.strip(_EIGHTHS)


def rescaled(text: str, width: int) -> str:
    """A bar in another width.

    Examples
    --------
    >>> rescaled(bar(0.5, 8), 4)
    '██  '
    """
    cells = sum(_EIGHTHS.index(letter) for letter in text) / 8
    return bar(cells / len(text), width) if text else text


def share_bar(amounts: Mapping[str, int], width: int = 60) -> Text:
    """Amounts as one coloured bar with a legend of percentages.

    Examples
    --------
    >>> print(share_bar({"EXEC": 3, "WAIT": 1}, width=8))
    ████████  EXEC 75.0 %  WAIT 25.0 %
    """
    total = sum(amounts.values())
    text = Text()
    if not total:
        return text
    cells, drawn = 0.0, 0
    for name, amount in amounts.items():
        cells += amount / total * width
        text.append("█" * (round(cells) - drawn), STATE_COLOURS.get(name, ""))
        drawn = round(cells)
    for name, amount in amounts.items():
        text.append("  ")
        text.append(name, STATE_COLOURS.get(name, ""))
        text.append(f" {percent(amount / total)}")
    return text
