"""Charts over time made of characters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from wavewright.model.blocks import Part, Sentence, sentence
from wavewright.writers.terminal.bars import STATE_COLOURS

#: What a state is drawn with, from the bottom up: readable without colours too.
SHADES = {"EXEC": "█", "STALL": "▓", "WAIT": "▒", "IDLE": "░", "EMPTY": "·", "OTHER": "?"}


def stacked_chart(series: Mapping[str, Sequence[float]], *, height: int, top: float) -> list[Sentence]:
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
        names = (column[level] if level < len(column) else "" for column in columns)
        lines.append(sentence(*((SHADES.get(name, " "), STATE_COLOURS.get(name, "")) for name in names)))
    return lines


def share_line(shares: Mapping[str, float], width: int) -> Sentence:
    """Shares of one whole as one line of `width` characters, in the order of `SHADES`.

    >>> share_line({"WAIT": 0.25, "EXEC": 0.75}, 8).text
    '██████▒▒'
    """
    parts: list[Part] = []
    reached, drawn = 0.0, 0
    for name in (name for name in SHADES if name in shares):
        reached += shares[name]
        cells = round(reached * width) - drawn
        parts.append((SHADES[name] * cells, STATE_COLOURS.get(name, "")))
        drawn += cells
    return sentence(*parts)


def legend(names: Sequence[str]) -> Sentence:
    """The states that the characters of charts stand for."""
    return legend_of((name, mark, STATE_COLOURS.get(name, "")) for name, mark in SHADES.items() if name in names)


def legend_of(entries: Iterable[tuple[str, str, str]]) -> Sentence:
    """A line with the character of each entry in its colour and what it stands for: (name, character, colour)."""
    parts: list[Part] = []
    for name, mark, colour in entries:
        parts += ["  " if parts else "", (mark, colour), f" {name}"]
    return sentence(*parts)


def time_axis(start_cycles: int, end_cycles: int, width: int, *, clock_mhz: float | None) -> str:
    """A line under a chart: where it starts and ends.

    >>> time_axis(100, 4_100, 40, clock_mhz=2_000.0)
    'cycle 100              4,100 (2.0 us on)'
    """
    left = f"cycle {start_cycles:,}"
    right = f"{end_cycles:,}"
    if clock_mhz:
        right += f" ({(end_cycles - start_cycles) / clock_mhz:,.1f} us on)"
    return left + right.rjust(max(width - len(left), len(right) + 1))


def dense(rows: pl.DataFrame | None, column: str, count: int) -> list[float]:
    """The values of a column for each of `count` bins, 0 where `rows` (with the column `bin`) have none."""
    values = [0.0] * count
    if rows is not None:
        for at, value in rows.select("bin", column).iter_rows():
            values[at] = value or 0.0
    return values


def resampled(values: Sequence[float], width: int) -> list[float]:
    """Values over equal bins as means over at most `width` equal bins.

    >>> resampled([1.0, 3.0, 5.0, 7.0], 2), resampled([1.0, 2.0, 3.0], 2)
    ([2.0, 6.0], [1.3333333333333333, 2.6666666666666665])
    """
    count = len(values)
    if count <= width or width < 1:
        return list(values)
    means = []
    for at in range(width):
        begin, end = at * count / width, (at + 1) * count / width
        covered = range(int(begin), min(count, -int(-end // 1)))  # to the bin that holds the end, rounded up
        means.append(sum(values[i] * (min(i + 1, end) - max(i, begin)) for i in covered) / (end - begin))
    return means
