"""Causes of the gaps between the work of GPUs, and the lengths of the gaps."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.run.gpu_time.gaps import Gaps
from wavewright.base.words import counted, duration, percent
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.writers.svg.plot_areas import draw_columns
from wavewright.writers.svg.plot_axes import Scale, left_axis, time_unit, unit_ticks
from wavewright.writers.svg.plot_bars import Bar, Part, bars_height, draw_bars
from wavewright.writers.svg.plot_frame import SMALL, Frame
from wavewright.writers.svg.plot_words import brief_time, headline

_COLUMNS = 190.0  #: Height of the histogram.
_NOTE = (
    "A gap is the time between two pieces of work of a GPU. Its cause is what the thread did that launched the next "
    "one; queued: the work was launched before, and waited."
)


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """Bars of time by cause, and below them a histogram of lengths."""
    from wavewright.analysis.run.gpu_time.gaps import gaps
    from wavewright.words.run.gaps import gaps_report

    answer: Gaps = document.kept(("topic", "gaps"), lambda: gaps(document.run))
    if not answer.gpus.height:
        raise UsageError("no GPU work was recorded", where=document.label)
    if not answer.gap_count:
        raise UsageError("there are no gaps between the work of the GPUs", where=document.label)
    bars = _causes(answer, top)
    lengths = answer.histogram.group_by("from_ns").agg(pl.col("gap_count", "gap_ns").sum()).sort("from_ns")
    frame = Frame(
        "gaps",
        "Idle time between GPU work",
        headline(gaps_report(answer)),
        height=bars_height(len(bars)) + 22 + _COLUMNS + 40,
        theme=theme,
        note=_NOTE,
    )
    draw_bars(frame, bars, axis="time of gaps by cause", unit="time")
    _histogram(frame, lengths, frame.bottom - _COLUMNS - 40)
    return frame.picture()


def _causes(answer: Gaps, top: int | None) -> list[Bar]:
    sums = answer.causes.group_by("cause").agg(pl.col("wait_ns", "call_count").sum())
    rows = sums.filter(pl.col("wait_ns") > 0).sort("wait_ns", "cause", descending=[True, False])
    total = int(rows["wait_ns"].sum()) or 1
    return [
        Bar(
            row["cause"],
            (Part(row["wait_ns"], "grey" if row["cause"] == "unknown" else "blue"),),
            f"{percent(row['wait_ns'] / total)}, {duration(row['wait_ns'])}",
            title=f"{row['cause']}: {row['call_count']:,} times",
        )
        for row in rows.head(top or rows.height).to_dicts()
    ]


def _histogram(frame: Frame, rows: pl.DataFrame, top: float) -> None:
    """Columns side by side, one per range of lengths that is used or lies between such."""
    from wavewright.analysis.run.gpu_time.gaps.partial import LENGTHS_NS

    used = rows["from_ns"]
    ranges = [start for start in LENGTHS_NS if used[0] <= start <= used[-1]]
    times = dict(rows.select("from_ns", "gap_ns").rows())
    counts = dict(rows.select("from_ns", "gap_count").rows())
    high = max(times.values()) or 1
    unit, factor = time_unit(high)
    ticks = unit_ticks(high, factor, 4)
    left = frame.left + ticks.room
    bottom = top + _COLUMNS
    across = Scale(0, len(ranges), left, frame.right)
    up = Scale(0, high * 1.12, bottom, top + 22)
    name = f"time of gaps by their length ({unit}), and their number"
    left_axis(frame.svg, up, ticks, left=left, right=frame.right, name=name)
    columns = [(at + 0.1, at + 0.9, 0, times.get(start, 0)) for at, start in enumerate(ranges)]
    draw_columns(frame.svg, "blue", columns, across, up, gap=0)
    frame.svg.line("p-rule", [(left, bottom), (frame.right, bottom)])
    for at, start in enumerate(ranges):
        x = across.at(at + 0.5)
        longer = LENGTHS_NS[LENGTHS_NS.index(start) + 1 :]
        words = f"< {brief_time(longer[0])}" if not start else f"from {brief_time(start)}"
        frame.svg.label("p-soft p-number", x, bottom + 16, words, size=SMALL, anchor="middle")
        if counts.get(start):
            count, y = f"{counts[start]:,}", up.at(times[start]) - 5
            hint = f"{counted(counts[start], 'gaps')}, {duration(times[start])}"
            frame.svg.label("p-ink p-number p-halo", x, y, count, size=SMALL, anchor="middle", title=hint)
    frame.svg.label("p-soft", (left + frame.right) / 2, bottom + 34, "length of a gap", size=SMALL, anchor="middle")
