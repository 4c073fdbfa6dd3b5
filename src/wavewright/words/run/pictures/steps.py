"""The picture of the steps of a run: one panel per process, a stacked column per step of what its GPUs did.

Where steps are too many, each column is the mean of several; where some are much longer than the usual ones, such as
warm-up, they are cut at the top and their lengths told in the note.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from wavewright.analysis.run.steps import Steps
from wavewright.base.words import duration, some_of
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.words.run.place_names import process_label
from wavewright.writers.svg.plot_areas import draw_columns
from wavewright.writers.svg.plot_axes import Scale, Ticks, bottom_axis, left_axis, round_ticks, time_unit, unit_ticks
from wavewright.writers.svg.plot_frame import Frame, Key
from wavewright.writers.svg.plot_words import headline, rows_shown, sentences

_TOP = 6  #: Processes that are drawn.


class _StepPart(NamedTuple):
    """A part of a step: the column of the table of steps, its name in the legend, its colour."""

    column: str
    name: str
    colour: str


_PARTS = (
    _StepPart("compute_ns", "computation", "blue"),
    _StepPart("communication_ns", "exposed communication", "orange"),
    _StepPart("copy_ns", "exposed copies", "sky"),
    _StepPart("queued_ns", "idle, work was launched", "grey"),
    _StepPart("host_ns", "idle, nothing was launched", "pale"),
    _StepPart("idle_ns", "idle", "pale"),  # instead of the two before it
)
_PANEL, _HEAD = 124.0, 30.0  #: Heights of a panel, and of the space above it.
_COLUMN_TOP = 24  #: Height of the space at the top of a panel for the name of its axis.
_WIDEST = 110.0  #: Width of a column, at most.
_MOST = 400  #: Columns of a panel; more steps are drawn as means of several.
_UNLIKE = 4.0  #: Panels have scales of their own if the highest is more than this many times the lowest.
_MOST_CUT = 4  #: Steps longer than the axis whose lengths the note tells.
_SQUASHED = 3.0  #: Steps are cut at the top if the longest is more than this many times the longest usual one.


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """One panel per process, with one stacked column per step."""
    from wavewright.analysis.run.steps import steps
    from wavewright.words.run.steps import steps_report

    answer: Steps = document.kept(("topic", "steps"), lambda: steps(document.run))
    if not answer.steps.height:
        problem = "no steps were found: no marker covers the GPU work, and its kernels do not repeat"
        raise UsageError(problem, where=document.label)
    keys = ["part", "process"]
    processes = answer.steps.sort(*keys, "step").partition_by(keys, maintain_order=True)
    processes.sort(key=lambda rows: (rows["rank"][0] is None, rows["rank"][0] or 0, *rows.select(keys).row(0)))
    panels = [_grouped(rows.to_dicts()) for rows in processes[: top or _TOP]]
    parts = [part for part in _parts(answer) if any(row[part.column] for panel in panels for row in panel)]
    highs = [_highest(panel) for panel in panels]
    has_own_scales = max(highs) > _UNLIKE * min(highs)
    highs = highs if has_own_scales else [max(highs)] * len(panels)
    longer = [row for panel, high in zip(panels, highs, strict=True) for row in panel if row["length_ns"] > high]
    group_size = max(row["count"] for panel in panels for row in panel)
    frame = Frame(
        "steps",
        "Duration of steps",
        headline(steps_report(answer)),
        height=(_PANEL + _HEAD) * len(panels) + 12,
        theme=theme,
        legend=[Key(part.colour, part.name) for part in parts],
        note=sentences(
            "each process has its own scale" if has_own_scales else "",
            rows_shown(len(panels), len(processes), "processes", "the first"),
            _lengths(longer),
            f"each column is the mean of {group_size:,} steps" if group_size > 1 else "",
        ),
    )
    for number, (panel, high) in enumerate(zip(panels, highs, strict=True)):
        top_y = frame.top + (_PANEL + _HEAD) * number
        process = "" if len(processes) == 1 else f"{process_label(panel[0]['rank'], panel[0]['pid'])}, "
        _panel(frame, panel, parts, top=top_y, high=high, process=process, is_last=number == len(panels) - 1)
    return frame.picture()


def _parts(answer: Steps) -> list[_StepPart]:
    """The parts that add up to the length: idle time in two parts only where launches were recorded for all."""
    is_split = not answer.steps["host_ns"].null_count()
    unused = ("idle_ns",) if is_split else ("queued_ns", "host_ns")
    return [part for part in _PARTS if part.column not in unused]


def _grouped(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Steps, or means of several in a row where there are too many to be seen."""
    size = -(-len(rows) // _MOST)
    columns = ["length_ns", *(part.column for part in _PARTS)]
    means = []
    for start in range(0, len(rows), size):
        group = rows[start : start + size]
        times = {name: sum(row[name] or 0 for row in group) / len(group) for name in columns}
        means.append({**group[0], **times, "count": len(group)})
    return means


def _highest(rows: Sequence[dict[str, Any]]) -> float:
    """The top of the axis: the longest step, unless warm-up or other steps would squash the usual ones."""
    longest = max(row["length_ns"] for row in rows)
    usual = max((row["length_ns"] for row in rows if row["kind"] in ("step", "outlier")), default=longest)
    return float(longest if longest <= _SQUASHED * usual else 1.25 * usual) or 1.0  # a scale needs a length


def _panel(
    frame: Frame,
    rows: Sequence[dict[str, Any]],
    parts: Sequence[_StepPart],
    *,
    top: float,
    high: float,
    process: str,
    is_last: bool,
) -> None:
    """Draw the steps of one process as stacked columns over an axis of times up to `high`."""
    unit, factor = time_unit(high)
    ticks = unit_ticks(high, factor, 4)
    left = frame.left + ticks.room
    bottom = top + _PANEL
    right = min(frame.right, left + _WIDEST * len(rows))
    across, up = Scale(0, len(rows), left, right), Scale(0, high, bottom, top + _COLUMN_TOP)
    left_axis(frame.svg, up, ticks, left=left, right=right, name=f"{process}time ({unit})")
    width = (right - left) / len(rows)
    gap = min(6.0, width * 0.2)
    reached = [0.0] * len(rows)
    for part in parts:
        ends = [low + (row[part.column] or 0) for low, row in zip(reached, rows, strict=True)]
        columns = [(x, x + 1, low, end) for x, (low, end) in enumerate(zip(reached, ends, strict=True))]
        draw_columns(frame.svg, part.colour, columns, across, up, gap=gap)
        reached = ends
    breaks = [(across.at(x), row) for x, row in enumerate(rows) if row["length_ns"] > high]
    _draw_breaks(frame, breaks, y=top + _COLUMN_TOP, width=width - gap)
    ticks_at = [x for x in round_ticks(0, len(rows) - 1, 12) if x == int(x)]
    numbers = Ticks(ticks_at, lambda x: f"{rows[int(x)]['step']:,}")
    middle = Scale(-0.5, len(rows) - 0.5, left, right - gap)
    bottom_axis(frame.svg, middle, numbers, top=bottom, bottom=bottom, name="step" if is_last else "")


def _draw_breaks(frame: Frame, breaks: Sequence[tuple[float, dict[str, Any]]], *, y: float, width: float) -> None:
    """A slanted break near the top `y` of each step that is longer than the axis: (left edge, step)."""
    for left, row in breaks:
        right = left + width
        corners = ((left, y + 14), (right, y + 8), (right, y + 12), (left, y + 18))
        points = " ".join(f"{corner_x:.1f},{corner_y:.1f}" for corner_x, corner_y in corners)
        hint = f"step {row['step']}: {duration(row['length_ns'])}"
        frame.svg.add("polygon", "p-paper", title=hint, points=points)


def _lengths(rows: Sequence[dict[str, Any]]) -> str:
    """Steps that are longer than the axis, in words."""
    if not rows:
        return ""
    words = some_of(rows, _MOST_CUT, lambda row: f"step {row['step']:,} {duration(row['length_ns'])}")
    return f"longer than the axis, and cut: {words}"
