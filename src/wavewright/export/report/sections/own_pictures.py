"""Pictures of the rows of a query: bars of the first names and numbers, or a line over the first two numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from wavewright.words.kit.brief_names import brief
from wavewright.writers.svg.plot_axes import Scale, bottom_axis, left_axis, plain, round_ticks
from wavewright.writers.svg.plot_bars import Bar, Part, bar_panel, bars_height
from wavewright.writers.svg.plot_frame import SMALL, Frame, width_of

if TYPE_CHECKING:
    from wavewright.model.blocks import Picture

_MOST_BARS = 30
_MOST_POINTS = 2000
_NAME = 48
_HEIGHT = 240.0


def drawn_rows(kind: str, rows: pl.DataFrame, *, name: str, title: str) -> Picture | None:
    """The rows as bars or as a line; None = they have no columns for it."""
    return _bars(rows, name, title) if kind == "bar" else _line(rows, name, title)


def _numbers(rows: pl.DataFrame) -> list[str]:
    return [column for column, dtype in rows.schema.items() if dtype.is_numeric()]


def _bars(rows: pl.DataFrame, name: str, title: str) -> Picture | None:
    names = [column for column, dtype in rows.schema.items() if dtype == pl.String]
    numbers = _numbers(rows)
    if not names or not numbers:
        return None
    shown = rows.select(pl.col(names[0]).fill_null("-"), pl.col(numbers[0]).cast(pl.Float64)).head(_MOST_BARS)
    values = [(label, value) for label, value in shown.iter_rows() if value is not None and 0 <= value < math.inf]
    if not values:
        return None
    high = max(value for _, value in values) or 1.0
    bars = [Bar(brief(label, _NAME), (Part(value, "blue"),), plain(value), title=label) for label, value in values]
    first = f"{numbers[0]} by {names[0]}: {brief(values[0][0], _NAME)} {plain(values[0][1])}"
    note = f"showing {len(values)} of {rows.height:,} rows" if len(values) < rows.height else ""
    frame = Frame(name, title, first, height=bars_height(len(bars)), note=note)
    bar_panel(frame, bars, top=frame.top, high=high, ticks=round_ticks(0, high), name=numbers[0])
    return frame.picture()


def _line(rows: pl.DataFrame, name: str, title: str) -> Picture | None:
    numbers = _numbers(rows)
    if len(numbers) < 2:
        return None
    across, up = numbers[:2]
    points = rows.select(pl.col(across, up).cast(pl.Float64)).filter(pl.all_horizontal(pl.all().is_finite()))
    points = points.sort(across, up).head(_MOST_POINTS)
    if points.height < 2:
        return None
    xs, ys = points[across].to_list(), points[up].to_list()
    low, high = min(0.0, *ys), max(0.0, *ys) or 1.0
    sentence = f"{up} over {across}: from {plain(min(ys))} to {plain(max(ys))}"
    note = f"showing {points.height:,} of {rows.height:,} rows" if points.height < rows.height else ""
    frame = Frame(name, title, sentence, height=_HEIGHT + 60, note=note)
    ticks = round_ticks(low, high, 5)
    left = frame.left + max(width_of(plain(tick), SMALL) for tick in ticks) + 12
    bottom = frame.top + _HEIGHT
    vertical = Scale(low, high, bottom, frame.top + 24)
    horizontal = Scale(xs[0], xs[-1], left, frame.right)
    left_axis(frame.svg, vertical, ticks, left=left, right=frame.right, name=up)
    bottom_axis(frame.svg, horizontal, round_ticks(xs[0], xs[-1]), top=frame.top + 24, bottom=bottom, name=across)
    line = [(horizontal.at(x), vertical.at(y)) for x, y in zip(xs, ys, strict=True)]
    frame.svg.line("p-line-blue", line)
    return frame.picture()
