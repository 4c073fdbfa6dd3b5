"""Spread of the durations of the kernels with most time."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.run.kernels import Kernels
from wavewright.base.words import counted, duration, percent
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.words.kit.brief_names import brief_kernels
from wavewright.writers.svg.plot_areas import draw_columns
from wavewright.writers.svg.plot_axes import Scale, Ticks, bottom_axis, power_ticks
from wavewright.writers.svg.plot_frame import SMALL, TEXT, Frame, cut, hint
from wavewright.writers.svg.plot_words import brief_time, rows_shown, sentences

_TOP = 8  #: Kernels that are drawn unless a number is asked for.
_ROW, _COLUMNS, _NAME = 70.0, 40.0, 470.0  #: Heights of a panel and of its columns, width of names, in pixels.
_STEP = 10**0.1  #: A range of durations ends at this many times its start.
_FEWEST = 10  #: Spread is told only of kernels with so many calls,
_VARIES = 1.2  #: and if the 99th percentile is at least this many times the median.
_NOTE = "Columns: number of calls by duration, each kernel to its own scale; the dashed line is the median"


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """One histogram per kernel, one below the other, over one logarithmic axis of durations."""
    from wavewright.analysis.run.kernels import kernels

    answer: Kernels = document.kept(("topic", "kernels"), lambda: kernels(document.run))
    timed = answer.kernels.filter(answer.kernels["max_ns"] > 0)
    if not timed.height:
        raise UsageError("no kernel with a duration was recorded", where=document.label)
    rows = timed.head(top or _TOP).to_dicts()
    counts = {name: frame for (name,), frame in answer.histogram.partition_by("name", as_dict=True).items()}
    starts = [start for row in rows for start in counts[row["name"]]["from_ns"]]
    low, high = max(1.0, min(start for start in starts if start > 0)), max(starts) * _STEP
    frame = Frame(
        "histogram",
        "Durations of kernels",
        _sentence(rows),
        height=_ROW * len(rows) + 46,
        theme=theme,
        note=sentences(_NOTE, rows_shown(len(rows), timed.height, "kernels", "those with most time")),
    )
    across = Scale(low, high, frame.left, frame.right, is_log=True)
    bottom = frame.top + _ROW * len(rows)
    ticks = Ticks(power_ticks(low, high), brief_time)
    bottom_axis(frame.svg, across, ticks, top=frame.top, bottom=bottom, name="duration of a call (logarithmic)")
    labels = brief_kernels([row["name"] for row in rows], 64)
    for number, (row, label) in enumerate(zip(rows, labels, strict=True)):
        _panel(frame, row, label, counts[row["name"]], across, frame.top + _ROW * (number + 1))
    return frame.picture()


def _panel(frame: Frame, row: dict[str, Any], label: str, counts: pl.DataFrame, across: Scale, base: float) -> None:
    up = Scale(0, int(counts["calls"].max() or 1), base, base - _COLUMNS)  # type: ignore[arg-type]  # integers
    columns = [
        (max(start, across.low), start * _STEP, 0, calls) for start, calls in counts.select("from_ns", "calls").rows()
    ]
    draw_columns(frame.svg, "blue", columns, across, up, gap=1)
    frame.svg.line("p-rule", [(across.start, base), (across.end, base)])
    median = across.at(row["median_ns"])
    frame.svg.line("p-mark", [(median, base), (median, base - _COLUMNS - 4)])
    y = base - _COLUMNS - 11
    frame.svg.label("p-ink p-halo", frame.left, y, cut(label, TEXT, _NAME), size=TEXT, title=hint(row["name"]))
    words = (
        f"{percent(row['share'])} of kernel time, {counted(row['calls'], 'calls')}, median {duration(row['median_ns'])}"
    )
    frame.svg.label("p-soft p-number p-halo", frame.right, y, words, size=SMALL, anchor="end")


def _sentence(rows: list[dict[str, Any]]) -> str:
    ratios = {
        row["name"]: row["p99_ns"] / row["median_ns"] for row in rows if row["median_ns"] and row["calls"] >= _FEWEST
    }
    name = max(ratios, key=lambda kernel: ratios[kernel], default="")
    first = brief_kernels([row["name"] for row in rows], 48)
    text = f"{first[0]} takes {percent(rows[0]['share'])} of the kernel time, median {duration(rows[0]['median_ns'])}"
    if not name or ratios[name] < _VARIES:
        return f"{text}."
    label = first[[row["name"] for row in rows].index(name)]
    return f"{text}; {label} varies most: 1 % of its calls take {ratios[name]:.1f} times the median or longer."
