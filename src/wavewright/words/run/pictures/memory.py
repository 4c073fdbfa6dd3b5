"""The picture of memory in use over time: a panel per GPU, process and allocator, with its peak."""

from __future__ import annotations

from typing import Any

from wavewright.analysis.run.memory.memory import Memory
from wavewright.base.words import duration, size
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.writers.svg.plot_areas import draw_area
from wavewright.writers.svg.plot_axes import Scale, bottom_axis, left_axis, time_unit, unit_ticks
from wavewright.writers.svg.plot_frame import SMALL, TEXT, Frame, cut
from wavewright.writers.svg.plot_words import headline, rows_shown, sentences

_TOP, _BINS = 6, 240  #: Panels, and points of time of each.
_PANEL, _HEAD = 110.0, 34.0  #: Heights of a panel, and of the space above it.
_UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))
_NOTE, _SHOWN = "Each bin shows the most that was in use in it", "those with the highest peaks"


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """The picture of a run."""
    from wavewright.analysis.run.memory.memory import memory

    answer: Memory = document.kept(("plot", "memory"), lambda: memory(document.run, bins=_BINS))
    return drawn_memory(answer, theme, top, where=document.label)


def drawn_memory(answer: Memory, theme: str, top: int | None = None, *, where: str = "") -> Picture:
    """One curve per GPU, process and allocator, the one with the highest peak first.

    Raises `UsageError` when there is none.
    """
    from wavewright.words.run.memory import memory_report, place_curve, place_label

    if not answer.places.height:
        advice = "record them with rocprofv3 --memory-allocation-trace, or PyTorch's profile_memory=True"
        raise UsageError("no allocations were recorded", where=where, advice=advice)
    places = answer.places.head(top or _TOP).to_dicts()
    end = max(1, int(answer.curve["end_ns"].max() or 1))  # type: ignore[arg-type]  # integers
    frame = Frame(
        "memory",
        "Memory in use",
        headline(memory_report(answer)),
        height=(_PANEL + _HEAD) * len(places) + 30,
        theme=theme,
        note=sentences(_NOTE, rows_shown(len(places), answer.places.height, "memories", _SHOWN)),
    )
    unit, factor = time_unit(end)
    left = frame.left + max(unit_ticks(_most(place), _size_unit(place)[1], 3).room for place in places)
    across = Scale(0, end, left, frame.right)
    several = answer.places["pid"].n_unique() > 1
    for number, place in enumerate(places):
        base = frame.top + (_PANEL + _HEAD) * number + _PANEL
        label = place_label(place, with_process=several)
        curve = place_curve(answer, place).select("start_ns", "end_ns", "live_bytes", "reserved_bytes").rows()
        _panel(frame, place, curve, label, across, base)
        name = f"time since the start of the run ({unit})" if number == len(places) - 1 else ""
        bottom_axis(frame.svg, across, unit_ticks(end, factor, 8), top=base, bottom=base, name=name)
    return frame.picture()


def _panel(
    frame: Frame,
    place: dict[str, Any],
    curve: list[tuple[int, int, int, int | None]],
    label: str,
    across: Scale,
    base: float,
) -> None:
    """The curves of one of `places`, whose time axis is at `base`: reserved memory behind memory in use."""
    (unit, factor), most = _size_unit(place), _most(place)
    up = Scale(0, most * 1.1, base, base - _PANEL + 26)
    left_axis(frame.svg, up, unit_ticks(most, factor, 3), left=across.start, right=across.end)
    reserved = [(start, end, top) for start, end, _, top in curve if end > start and top is not None]
    draw_area(frame.svg, "grey", reserved, across, up)
    draw_area(frame.svg, "blue", [(start, end, live) for start, end, live, _ in curve if end > start], across, up)
    y = base - _PANEL + 17
    frame.svg.label("p-ink", across.start, y, cut(f"{label}, {unit}", TEXT, 420), size=TEXT, title=label)
    peak = f"peak {size(place['peak_bytes'])} at +{duration(place['peak_ns'])}"
    if reserved:
        peak += f"; reserved (grey) at most {size(place['reserved_peak_bytes'])}"
    frame.svg.label("p-soft p-number", across.end, y, peak, size=SMALL, anchor="end")
    x, top = across.at(place["peak_ns"]), up.at(place["peak_bytes"])
    frame.svg.add("circle", "p-red p-edge", title=peak, cx=x, cy=top, r=4.5)


def _most(place: dict[str, Any]) -> int:
    """The largest amount of bytes that is drawn of a place."""
    return max(place["peak_bytes"] or 1, place["reserved_peak_bytes"] or 0)


def _size_unit(place: dict[str, Any]) -> tuple[str, float]:
    """The unit in which the bytes of a place are written, and its bytes."""
    return next((pair for pair in _UNITS if _most(place) >= 2 * pair[1]), _UNITS[-1])
