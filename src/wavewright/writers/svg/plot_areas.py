"""Areas over time and columns, drawn as one path per colour, so that long curves stay small files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wavewright.writers.svg.markup import Svg
from wavewright.writers.svg.plot_axes import Scale

_MIN_HEIGHT = 0.05  #: Height below which a column is not drawn.


def number(value: float) -> str:
    """A coordinate with a tenth of a unit.

    >>> number(12.04), number(3.5)
    ('12', '3.5')
    """
    return f"{value:.1f}".removesuffix(".0")


def draw_columns(
    svg: Svg, colour: str, columns: Iterable[tuple[float, float, float, float]], across: Scale, up: Scale, *, gap: float
) -> None:
    """Columns of one colour: (from, to) on the scale across, (from, to) on the scale up; `gap` units stay free."""
    path = []
    for begin, end, low, high in columns:
        left, right = across.at(begin), across.at(end) - gap
        bottom, top = up.at(low), up.at(high)
        if bottom - top >= _MIN_HEIGHT and right > left:
            path.append(f"M{number(left)} {number(bottom)}V{number(top)}H{number(right)}V{number(bottom)}Z")
    if path:
        svg.add("path", f"p-{colour}", d="".join(path))


def draw_area(svg: Svg, colour: str, steps: Sequence[tuple[float, float, float]], across: Scale, up: Scale) -> None:
    """The area under a curve that is constant in each of its (start, end, value); where there is none, it is 0."""
    base = number(up.at(up.low))
    path: list[str] = []  #: Pieces; the last one is the step that may still become longer.
    last_end: float | None = None  #: The end of the steps so far; None = none yet.
    height = ""  #: Of the last step, as it was written; empty = a new area starts.
    for start, end, value in steps:
        left, right, top = (number(place) for place in (across.at(start), across.at(end), up.at(value)))
        if last_end is None or start > last_end:
            path.append(f"{'' if last_end is None else f'V{base}Z'}M{left} {base}")
            height = ""
        path[-1:] = [f"{path[-1]}V{top}H{right}"] if top != height else [f"{path[-1].rpartition('H')[0]}H{right}"]
        last_end, height = end, top
    if path:
        svg.add("path", f"p-{colour}", d=f"{''.join(path)}V{base}Z")


def draw_stack(
    svg: Svg, series: Sequence[tuple[str, Sequence[float]]], borders: Sequence[float], across: Scale, up: Scale
) -> None:
    """Curves on top of each other: (colour, values), each value constant between two of the borders."""
    below = [0.0] * (len(borders) - 1)
    for colour, values in series:
        above = [low + value for low, value in zip(below, values, strict=True)]
        if max(values, default=0.0) > 0:
            svg.add("path", f"p-{colour}", d=_band(below, above, borders, across, up))
        below = above


def _band(low: Sequence[float], high: Sequence[float], borders: Sequence[float], across: Scale, up: Scale) -> str:
    x = [number(across.at(border)) for border in borders]
    upper_edge = _steps([number(up.at(value)) for value in high], x[1:])
    lower_edge = _steps([number(up.at(value)) for value in reversed(low)], x[-2::-1])
    return f"M{x[0]} {number(up.at(low[0]))}{upper_edge}{lower_edge}Z"


def _steps(heights: Sequence[str], ends: Sequence[str]) -> str:
    """Steps of a path; those of the same height are one."""
    path = []
    for step, y in enumerate(heights):
        path.append(f"V{y}" if not step or y != heights[step - 1] else "")
        path.append(f"H{ends[step]}" if step == len(heights) - 1 or y != heights[step + 1] else "")
    return "".join(path)
