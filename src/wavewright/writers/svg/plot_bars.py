"""Horizontal bars, plain or stacked, one per row, with names at the left, and values in them and at their right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wavewright.writers.svg.markup import Svg
from wavewright.writers.svg.plot_axes import Scale, bottom_axis, time_unit, unit_ticks
from wavewright.writers.svg.plot_frame import SMALL, TEXT, Frame, cut, hint, width_of

ROW, BAR = 26.0, 18.0  #: Heights of a row, and of the bar in it.
_MIN_EDGED = 3.0  #: Width of a part from which it gets an edge.
_MIN_DRAWN = 0.05  #: Width below which a part is not drawn.
_PADDING = 8.0
_LEAST_AXIS = 60.0  #: Width.
_MOST_LABEL = 300.0  #: Width of names at the left.
_AXIS = 46.0  #: Space for an axis with its name.


@dataclass(frozen=True)
class Part:
    """A part of a bar."""

    value: float
    colour: str
    words: str = ""  #: Written in it where there is room.
    title: str = ""  #: Shown where the pointer rests.


@dataclass(frozen=True)
class Bar:
    """A row."""

    label: str
    parts: tuple[Part, ...]
    words: str = ""  #: Written at its right.
    title: str = ""  #: The whole label.
    is_strong: bool = False


def _scale_end(bars: Sequence[Bar], start: float, right: float, high: float, *, at_end: bool) -> float:
    """The end of an axis, so that the values at the right of all bars fit."""
    end = right
    for bar in bars:
        free = right - start - (width_of(bar.words, TEXT) + _PADDING if bar.words else 0.0)
        share = 1.0 if at_end else min(1.0, sum(part.value for part in bar.parts) / (high or 1))
        if share > 0:
            end = min(end, start + max(_LEAST_AXIS, free / share))
    return end


def bars_height(count: int) -> float:
    """The height that `draw_bars` takes for this number of rows."""
    return ROW * count + _AXIS


def draw_bars(
    frame: Frame, bars: Sequence[Bar], *, axis: str, unit: Literal["time", "share"], at_end: bool = False
) -> None:
    """Bars from the top of the frame over an axis to the longest of them, in the unit that suits it, or to 100 %.

    With `at_end` values are written at the end of the scale, one below the other.
    """
    svg, top = frame.svg, frame.top
    high = 100.0 if unit == "share" else max(sum(part.value for part in bar.parts) for bar in bars) or 1
    unit_name, factor = ("%", 1.0) if unit == "share" else time_unit(high)
    label_width = min(_MOST_LABEL, max((width_of(bar.label, TEXT) for bar in bars), default=0.0)) + 14
    start = frame.left + label_width
    scale = Scale(0, high, start, _scale_end(bars, start, frame.right, high, at_end=at_end))
    bottom = top + ROW * len(bars) + 4
    bottom_axis(svg, scale, unit_ticks(high, factor), top=top, bottom=bottom, name=f"{axis} ({unit_name})")
    for number, bar in enumerate(bars):
        y = top + 2 + ROW * number + (ROW - BAR) / 2
        strong = " p-strong" if bar.is_strong else ""
        label = cut(bar.label, TEXT, label_width - 12)
        svg.label(f"p-ink{strong}", frame.left, y + 13.5, label, size=TEXT, title=hint(bar.title or bar.label))
        drawn_value = 0.0
        for part in bar.parts:
            part_start, part_end = scale.at(drawn_value), scale.at(drawn_value + part.value)
            drawn_value += part.value
            _part(svg, part, part_start, part_end, y)
        x = scale.end if at_end else scale.at(drawn_value)
        if bar.words:
            svg.label(f"p-ink p-number p-halo{strong}", x + _PADDING, y + 13.5, bar.words, size=TEXT)


def _part(svg: Svg, part: Part, begin: float, end: float, y: float) -> None:
    width = end - begin
    if width < _MIN_DRAWN:
        return
    edge = " p-edge" if width >= _MIN_EDGED else ""
    svg.add("rect", f"p-{part.colour}{edge}", title=hint(part.title), x=begin, y=y, width=width, height=BAR)
    if part.words and width_of(part.words, SMALL) + _PADDING / 2 <= width:
        middle = (begin + end) / 2
        svg.label(f"p-in-{part.colour} p-number", middle, y + 13, part.words, size=SMALL, anchor="middle")
