"""Work of each rank, and its waits for the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wavewright.analysis.run.ranks.ranks import Ranks
from wavewright.base.words import duration, percent
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.words.run.place_names import process_label
from wavewright.writers.svg.plot_areas import draw_stack
from wavewright.writers.svg.plot_axes import Scale, Ticks, bottom_axis, left_axis, round_ticks, time_unit, unit_ticks
from wavewright.writers.svg.plot_bars import Bar, Part, bars_height, draw_bars
from wavewright.writers.svg.plot_frame import Frame, Key
from wavewright.writers.svg.plot_words import headline

_MOST_BARS = 40  #: Ranks that have a bar each; more become columns of one chart.
_HEIGHT = 300.0  #: Of the chart of columns, in pixels.
_PARTS = (("computation", "blue"), ("collectives, all ranks there", "orange"), ("waiting for later ranks", "red"))
_NOTE = (
    "Durations of kernels, added up: those of several streams can exceed the time of the run. Percentages: computation "
    "of the rank against the mean of the ranks that run the same kernels."
)


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """One stacked bar per rank, in the order of ranks; of many ranks, one chart of columns."""
    from wavewright.analysis.run.ranks.ranks import ranks
    from wavewright.words.run.ranks import ranks_report

    answer: Ranks = document.kept(("topic", "ranks"), lambda: ranks(document.run))
    if answer.processes.height < 2:
        problem = "the run has one process: there are no ranks to compare"
        raise UsageError(problem, where=document.label, advice="give the files of all ranks, or their folder")
    rows = answer.processes.sort("rank", "host", "pid", "run", nulls_last=True).to_dicts()
    if not any(sum(_times(row)) for row in rows):
        raise UsageError("no process ran a kernel", where=document.label)
    is_long = len(rows) > (top or _MOST_BARS)
    frame = Frame(
        "ranks",
        "Work and waiting of ranks",
        headline(ranks_report(answer)),
        height=_HEIGHT + 40 if is_long else bars_height(len(rows)),
        theme=theme,
        legend=[Key(colour, name) for name, colour in _PARTS],
        note=_NOTE.split(" Percentages")[0] if is_long else _NOTE,
    )
    if is_long:
        _columns(frame, rows)
    else:
        draw_bars(frame, [_bar(row) for row in rows], axis="time of kernels", unit="time", at_end=True)
    return frame.picture()


def _times(row: dict[str, Any]) -> tuple[int, int, int]:
    """Computation, collectives without waiting, waiting."""
    waited = min(row["waited_ns"], row["collective_ns"])
    return row["compute_ns"], row["collective_ns"] - waited, waited


def _bar(row: dict[str, Any]) -> Bar:
    label = process_label(row["rank"], row["pid"])
    parts = tuple(
        Part(time, colour, duration(time), f"{label}: {name} {duration(time)}")
        for time, (name, colour) in zip(_times(row), _PARTS, strict=True)
    )
    return Bar(label, parts, percent(row["deviation"], none="", sign=True), title=f"{label} {row['host'] or ''}")


def _columns(frame: Frame, rows: Sequence[dict[str, Any]]) -> None:
    high = max(sum(_times(row)) for row in rows)
    unit, factor = time_unit(high)
    ticks = unit_ticks(high, factor)
    left = frame.left + ticks.room
    bottom = frame.top + _HEIGHT
    across, up = Scale(0, len(rows), left, frame.right), Scale(0, high, bottom, frame.top + 20)
    left_axis(frame.svg, up, ticks, left=left, right=frame.right, name=f"time of kernels ({unit})")
    series = [(colour, [_times(row)[part] for row in rows]) for part, (_, colour) in enumerate(_PARTS)]
    draw_stack(frame.svg, series, range(len(rows) + 1), across, up)
    labels = [row["rank"] if row["rank"] is not None else number for number, row in enumerate(rows)]
    places = [tick for tick in round_ticks(0, len(rows) - 1, 10) if tick == int(tick)]
    numbers = Ticks(places, lambda value: str(labels[int(value)]))
    middle = Scale(-0.5, len(rows) - 0.5, left, frame.right)
    name = "rank" if all(row["rank"] is not None for row in rows) else "process"
    bottom_axis(frame.svg, middle, numbers, top=bottom, bottom=bottom, name=name)
