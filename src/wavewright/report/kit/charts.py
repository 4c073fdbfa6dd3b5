"""Charts over time made of characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from wavewright.report.kit.bars import STATE_COLOURS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: What a state is drawn with, from the bottom up: readable without colours too.
SHADES = {"EXEC": "█", "STALL": "▓", "WAIT": "▒", "IDLE": "░", "EMPTY": "·", "OTHER": "?"}


class ChartLine(Text):
    """A line of a picture made of characters: writers keep its columns, and those without pictures leave it out."""


def stacked_chart(series: Mapping[str, Sequence[float]], *, height: int, top: float) -> list[Text]:
    """Values over time on top of each other, in the order of `SHADES`; one line per character row, highest first."""
    order = [name for name in SHADES if name in series]
    width = max((len(series[name]) for name in order), default=0)
    columns: list[list[str]] = []
    for at in range(width):
        column: list[str] = []
        reached = 0.0
        for name in order:
            reached += series[name][at]
            column += [name] * (min(height, round(reached * height / top if top > 0 else 0)) - len(column))
        columns.append(column)
    lines = []
    for level in reversed(range(height)):
        line = Text()
        for column in columns:
            name = column[level] if level < len(column) else ""
            line.append(SHADES.get(name, " "), STATE_COLOURS.get(name, ""))
        lines.append(line)
    return lines


def share_line(shares: Mapping[str, float], width: int) -> Text:
    """Shares of one whole as one line of `width` characters, in the order of `SHADES`.

    Examples
    --------
    >>> print(share_line({"WAIT": 0.25, "EXEC": 0.75}, 8))
    ██████▒▒
    """
    line, reached, drawn = Text(), 0.0, 0
    for name in (name for name in SHADES if name in shares):
        reached += shares[name]
        cells = round(reached * width) - drawn
        line.append(SHADES[name] * cells, STATE_COLOURS.get(name, ""))
        drawn += cells
    return line


def legend(names: Sequence[str]) -> Text:
    """Which character stands for what.

    Examples
    --------
    >>> print(legend(["WAIT", "EXEC"]))
    █ EXEC  ▒ WAIT
    """
    shown = [name for name in SHADES if name in names]
    parts: list[str | tuple[str, str]] = []
    for name in shown:
        parts += ["  " if parts else "", (SHADES[name], STATE_COLOURS.get(name, "")), f" {name}"]
    return Text.assemble(*parts)


def time_axis(start_cycles: int, end_cycles: int, width: int, *, clock_mhz: float | None) -> str:
    """A line under a chart: where it starts and ends.

    Examples
    --------
    >>> time_axis(100, 4_100, 40, clock_mhz=2_000.0)
    'cycle 100              4,100 (2.0 us on)'
    """
    left = f"cycle {start_cycles:,}"
    right = f"{end_cycles:,}"
    if clock_mhz:
        right += f" ({(end_cycles - start_cycles) / clock_mhz:,.1f} us on)"
    return left + right.rjust(max(width - len(left), len(right) + 1))


def resampled(values: Sequence[float], width: int) -> list[float]:
    """Values over equal bins as means over at most `width` equal bins.

    Examples
    --------
    >>> resampled([1.0, 3.0, 5.0, 7.0], 2), resampled([1.0, 2.0, 3.0], 2)
    ([2.0, 6.0], [1.3333333333333333, 2.6666666666666665])
    """
    count = len(values)
    if count <= width or width < 1:
        return list(values)
    means = []
    for at in range(width):
        begin, end = at * count / width, (at + 1) * count / width
        covered = range(int(begin), min(count, -int(-end // 1)))
        means.append(sum(values[i] * (min(i + 1, end) - max(i, begin)) for i in covered) / (end - begin))
    return means
