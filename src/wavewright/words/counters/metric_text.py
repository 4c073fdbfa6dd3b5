"""Values of metrics in characters: readable numbers, blanks with footnotes, and small pictures of spread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wavewright.base.shown import printable
from wavewright.base.words import short

BLANK = "\N{EN DASH}"
_SCALED_FROM = 1e7  #: From here on numbers end with M, G or T.
_WHOLE_FROM = 1000  #: From here on they have no decimals.
_SMALLEST = 0.005  #: Below, two decimals would show nothing: three digits are written.
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_STEPS = "▁▂▃▄▅▆▇█"
_NOT_MEASURED = "·"


def figure(value: float | None, decimals: int | None = None) -> str:
    """A value without its unit; grouped digits, and M, G or T where there would be too many. None = blank.

    With `decimals` all digits are written.

    >>> figure(0.25), figure(1234.5), figure(12_345_678.0), figure(0.00123), figure(0.0)
    ('0.25', '1,234', '12.35M', '0.00123', '0')
    >>> figure(12_345_678.25, 3), figure(None) == BLANK
    ('12,345,678.250', True)
    """
    if value is None or value - value != 0:  # infinite, or not a number
        return BLANK
    if decimals is not None:
        return f"{value:,.{decimals}f}"
    size = abs(value)
    if size >= _SCALED_FROM:
        return short(value)
    if size >= _WHOLE_FROM or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.2f}" if size >= _SMALLEST else f"{value:.3g}"


class Footnotes:
    """Numbers for reasons, in the order in which they are first needed."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, reason: str) -> str:
        """A blank cell that refers to its reason; without one, a blank."""
        if not reason:
            return BLANK
        number = self._numbers.setdefault(reason, len(self._numbers) + 1)
        return BLANK + str(number).translate(_SUPERSCRIPTS)

    def lines(self) -> list[str]:
        """The reasons with their numbers."""
        return [f"{str(number).translate(_SUPERSCRIPTS)} {printable(why)}" for why, number in self._numbers.items()]


def box_plot(five: Sequence[float | None], scale: float, width: int = 16) -> str:
    """Minimum, quartiles and maximum from 0 to `scale` as one line: ─ whiskers, ▒ the middle half, █ the median.

    >>> box_plot([10, 20, 30, 40, 80], 80, 16)
    '  ──▒▒█▒▒───────'
    """
    values = [value for value in five if value is not None]
    if len(values) < len(five) or scale <= 0 or values[0] < 0:
        return ""
    low, q1, median, q3, high = (min(width - 1, max(0, int(value / scale * width))) for value in values)
    cells = [" "] * width
    cells[low : high + 1] = "─" * (high + 1 - low)
    cells[q1 : q3 + 1] = "▒" * (q3 + 1 - q1)
    cells[median] = "█"
    return "".join(cells)


def strip(values: Sequence[float | None], *, group: int = 16) -> str:
    """Values as one character each from 0 to the largest, a space between groups; · = not measured.

    >>> strip([1, 2, None, 4], group=2)
    '▂▄ ·█'
    """
    top = max((value for value in values if value is not None), default=0.0)
    marks = []
    for value in values:
        if value is None:
            marks.append(_NOT_MEASURED)
        elif top <= 0:
            marks.append(_STEPS[0])
        else:
            marks.append(_STEPS[min(7, max(0, round(8 * value / top) - 1))])
    groups = ["".join(marks[at : at + group]) for at in range(0, len(marks), group)]
    return " ".join(groups)


def folded_names(names: Iterable[str]) -> list[str]:
    """Names in order; those that differ in what stands in parentheses at their end only are put together.

    >>> folded_names(["MFMA FLOPs (F16)", "IPC", "MFMA FLOPs (F32)"])
    ['MFMA FLOPs (F16, F32)', 'IPC']
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        front, bracket, rest = printable(name).partition(" (")
        groups.setdefault(front, []).extend([rest.removesuffix(")")] if bracket else [])
    return [f"{front} ({', '.join(kinds)})" if kinds else front for front, kinds in groups.items()]
