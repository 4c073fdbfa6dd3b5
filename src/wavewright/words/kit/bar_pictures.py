"""Pictures of bars over one axis: of time, of shares of 100 %, or of a count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from wavewright.model.blocks import Picture
from wavewright.writers.svg.plot_axes import plain, round_ticks, time_unit
from wavewright.writers.svg.plot_bars import Bar, bar_panel, bars_height
from wavewright.writers.svg.plot_frame import Frame, Key

Unit = Literal["time", "share", "count"]


def bar_picture(
    name: str,
    title: str,
    sentence: str,
    bars: Sequence[Bar],
    *,
    axis: str,
    unit: Unit,
    theme: str,
    legend: Sequence[Key] = (),
    note: str = "",
    at_end: bool = False,
    label_width: float = 300.0,
) -> Picture:
    """The bars below a title and the sentence that they show; see `bar_panel` for the rest."""
    frame = Frame(name, title, sentence, height=bars_height(len(bars)), theme=theme, legend=legend, note=note)
    draw_bar_panel(frame, bars, top=frame.top, axis=axis, unit=unit, at_end=at_end, label_width=label_width)
    return frame.picture()


def draw_bar_panel(
    frame: Frame,
    bars: Sequence[Bar],
    *,
    top: float,
    axis: str,
    unit: Unit,
    at_end: bool = False,
    label_width: float = 300.0,
) -> None:
    """Bars over an axis to the longest of them, or to 100 %; times are in the unit that suits it."""
    high = 100.0 if unit == "share" else max(sum(part.value for part in bar.parts) for bar in bars) or 1
    words, factor = time_unit(high) if unit == "time" else ("%" if unit == "share" else "", 1.0)
    bar_panel(
        frame,
        bars,
        top=top,
        high=high,
        ticks=[tick * factor for tick in round_ticks(0, high / factor, *((5,) if unit == "count" else ()))],
        name=f"{axis} ({words})" if words else axis,
        words=lambda value: plain(value / factor),
        label_width=label_width,
        at_end=at_end,
    )
