"""Shares and curves as characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wavewright.base.words import percent
from wavewright.model.blocks import Part, Sentence, sentence

_STEPS = " ▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉█"
# Okabe-Ito colours: distinguishable with any colour vision.
STATE_COLOURS = {"IDLE": "#999999", "EXEC": "#009E73", "WAIT": "#E69F00", "STALL": "#D55E00", "EMPTY": "#56B4E9"}


def sparkline(values: Sequence[float]) -> str:
    """Values as one character each, from 0 to the largest.

    >>> sparkline([0, 1, 4, 8])
    ' ▁▄█'
    """
    top = max(values, default=0)
    if top <= 0:
        return " " * len(values)
    return "".join(_STEPS[min(8, max(0, round(8 * value / top)))] for value in values)


def bar(share: float, width: int = 10) -> str:
    """A bar for a share from 0 to 1, in eighths of a character.

    >>> bar(0.5, 4)
    '██  '
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, part = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[part] if part else "")).ljust(width)


def share_bar(amounts: Mapping[str, int], width: int = 60) -> Sentence:
    """Amounts as one coloured bar with a legend of percentages.

    >>> share_bar({"EXEC": 3, "WAIT": 1}, width=8).text
    '████████  EXEC 75.0 %  WAIT 25.0 %'
    """
    total = sum(amounts.values())
    parts: list[Part] = []
    cells, drawn = 0.0, 0
    for name, amount in amounts.items() if total else ():
        cells += amount / total * width
        parts.append(("█" * (round(cells) - drawn), STATE_COLOURS.get(name, "")))
        drawn = round(cells)
    for name, amount in amounts.items() if total else ():
        parts += ["  ", (name, STATE_COLOURS.get(name, "")), f" {percent(amount / total)}"]
    return sentence(*parts)
