"""Horizontal bars, plain or stacked, one per row, with names at the left, and values in them and at their right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wavewright.writers.svg.markup import Svg
from wavewright.writers.svg.plot_axes import Scale, bottom_axis, plain
from wavewright.writers.svg.plot_frame import SMALL, TEXT, Frame, cut, hint, width_of

ROW, BAR = 26.0, 18.0
_THIN = 3.0  #: Width of a part from which it gets an edge.
_VISIBLE = 0.05
_PADDING = 8.0
_LEAST_AXIS = 60.0
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


def label_room(labels: Sequence[str], most: float = 300.0) -> float:
    """The width that names at the left take, at most so much."""
    return min(most, max((width_of(label, TEXT) for label in labels), default=0.0)) + 14


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
    """The height that `bar_panel` takes for this number of rows."""
    return ROW * count + _AXIS


def bar_panel(
    frame: Frame,
    bars: Sequence[Bar],
    *,
    top: float,
    high: float,
    ticks: Sequence[float],
    name: str,
    words: Callable[[float], str] = plain,
    label_width: float = 300.0,
    at_end: bool = False,
) -> None:
    """Bars over an axis from 0 to `high`, across the whole frame."""
    start = frame.left + label_room([bar.label for bar in bars], label_width)
    scale = Scale(0, high, start, _scale_end(bars, start, frame.right, high, at_end=at_end))
    bottom_axis(frame.svg, scale, ticks, top=top, bottom=top + ROW * len(bars) + 4, words=words, name=name)
    draw_bars(frame.svg, bars, scale, left=frame.left, top=top + 2, at_end=at_end)


def draw_bars(svg: Svg, bars: Sequence[Bar], scale: Scale, *, left: float, top: float, at_end: bool = False) -> None:
    """Draw one row per bar; `at_end`: values are written at the end of the scale, one below the other."""
    for number, bar in enumerate(bars):
        y = top + ROW * number + (ROW - BAR) / 2
        strong = " p-strong" if bar.is_strong else ""
        name = cut(bar.label, TEXT, scale.start - left - 12)
        svg.label(f"p-ink{strong}", left, y + 13.5, name, size=TEXT, title=hint(bar.title or bar.label))
        reached = 0.0
        for part in bar.parts:
            begin, end = scale.at(reached), scale.at(reached + part.value)
            reached += part.value
            _part(svg, part, begin, end, y)
        x = scale.end if at_end else scale.at(reached)
        if bar.words:
            svg.label(f"p-ink p-number p-halo{strong}", x + _PADDING, y + 13.5, bar.words, size=TEXT)


def _part(svg: Svg, part: Part, begin: float, end: float, y: float) -> None:
    width = end - begin
    if width < _VISIBLE:
        return
    edge = " p-edge" if width >= _THIN else ""
    svg.add("rect", f"p-{part.colour}{edge}", title=hint(part.title), x=begin, y=y, width=width, height=BAR)
    if part.words and width_of(part.words, SMALL) + _PADDING / 2 <= width:
        middle = (begin + end) / 2
        svg.label(f"p-in-{part.colour} p-number", middle, y + 13, part.words, size=SMALL, anchor="middle")
