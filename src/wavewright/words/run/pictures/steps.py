"""Time of each step, by what the GPUs of its process did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
_PARTS = (
    ("compute_ns", "computation", "blue"),
    ("communication_ns", "exposed communication", "orange"),
    ("copy_ns", "exposed copies", "sky"),
    ("queued_ns", "idle, work was launched", "grey"),
    ("host_ns", "idle, nothing was launched", "pale"),
    ("idle_ns", "idle", "pale"),
)
_PANEL, _HEAD = 124.0, 30.0
_WIDEST = 110.0  #: Of a column.
_MOST = 400  #: Columns; more steps are drawn as means of several.
_UNLIKE = 4.0  #: Longest steps of processes over each other from which they have scales of their own.
_MOST_CUT = 4  #: Steps whose lengths are told where the axis is too short for them.
_SQUASHED = 3.0  #: Length over the usual ones from which a step is cut at the top.


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """One panel per process, with one stacked column per step."""
    from wavewright.analysis.run.steps import steps
    from wavewright.words.run.steps import steps_report

    answer: Steps = document.kept(("topic", "steps"), lambda: steps(document.run))
    if not answer.steps.height:
        raise UsageError(
            "no steps were found: no marker covers the GPU work, and its kernels do not repeat", where=document.label
        )
    keys = ["part", "process"]
    every = answer.steps.sort(*keys, "step").partition_by(keys, maintain_order=True)
    every.sort(key=lambda frame: (frame["rank"][0] is None, frame["rank"][0] or 0, *frame.select(keys).row(0)))
    panels = [_grouped(frame.to_dicts()) for frame in every[: top or _TOP]]
    parts = [part for part in _drawn(answer) if any(row[part[0]] for panel in panels for row in panel)]
    highs = [_highest(panel) for panel in panels]
    is_own = max(highs) > _UNLIKE * min(highs)
    highs = highs if is_own else [max(highs)] * len(panels)
    longer = [row for panel, high in zip(panels, highs, strict=True) for row in panel if row["length_ns"] > high]
    size = max(row["count"] for panel in panels for row in panel)
    frame = Frame(
        "steps",
        "Duration of steps",
        headline(steps_report(answer)),
        height=(_PANEL + _HEAD) * len(panels) + 12,
        theme=theme,
        legend=[Key(colour, name) for _, name, colour in parts],
        note=sentences(
            "each process has its own scale" if is_own else "",
            rows_shown(len(panels), len(every), "processes", "the first"),
            _lengths(longer),
            f"each column is the mean of {size:,} steps" if size > 1 else "",
        ),
    )
    for number, (panel, high) in enumerate(zip(panels, highs, strict=True)):
        top_y = frame.top + (_PANEL + _HEAD) * number
        who = "" if len(every) == 1 else f"{process_label(panel[0]['rank'], panel[0]['pid'])}, "
        _panel(frame, panel, parts, top=top_y, high=high, who=who, is_last=number == len(panels) - 1)
    return frame.picture()


def _drawn(answer: Steps) -> list[tuple[str, str, str]]:
    """The parts that add up to the length: idle time in two parts only where launches were recorded for all."""
    is_split = not answer.steps["host_ns"].null_count()
    return [part for part in _PARTS if part[0] not in (("idle_ns",) if is_split else ("queued_ns", "host_ns"))]


def _grouped(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Steps, or means of several in a row where there are too many to be seen."""
    size = -(-len(rows) // _MOST)
    groups = [rows[at : at + size] for at in range(0, len(rows), size)]
    columns = ["length_ns", *(column for column, _, _ in _PARTS)]
    return [
        {
            **group[0],
            **{name: sum(row[name] or 0 for row in group) / len(group) for name in columns},
            "count": len(group),
        }
        for group in groups
    ]


def _highest(rows: Sequence[dict[str, Any]]) -> float:
    """The top of the axis: the longest step, unless warm-up or other steps would squash the usual ones."""
    longest = max(row["length_ns"] for row in rows)
    usual = max((row["length_ns"] for row in rows if row["kind"] in ("step", "outlier")), default=longest)
    return float(longest if longest <= _SQUASHED * usual else 1.25 * usual) or 1.0


def _panel(
    frame: Frame,
    rows: Sequence[dict[str, Any]],
    parts: Sequence[tuple[str, str, str]],
    *,
    top: float,
    high: float,
    who: str,
    is_last: bool,
) -> None:
    """Draw the steps of one process as stacked columns over an axis of times up to `high`."""
    unit, factor = time_unit(high)
    ticks = unit_ticks(high, factor, 4)
    left = frame.left + ticks.room
    bottom = top + _PANEL
    right = min(frame.right, left + _WIDEST * len(rows))
    across, up = Scale(0, len(rows), left, right), Scale(0, high, bottom, top + 24)
    left_axis(frame.svg, up, ticks, left=left, right=right, name=f"{who}time ({unit})")
    width = (right - left) / len(rows)
    gap = min(6.0, width * 0.2)
    reached = [0.0] * len(rows)
    for column, _, colour in parts:
        ends = [low + (row[column] or 0) for low, row in zip(reached, rows, strict=True)]
        columns = [(at, at + 1, low, end) for at, (low, end) in enumerate(zip(reached, ends, strict=True))]
        draw_columns(frame.svg, colour, columns, across, up, gap=gap)
        reached = ends
    _cut_steps(frame, rows, across, top + 24, high, width - gap)
    whole = [at for at in round_ticks(0, len(rows) - 1, 12) if at == int(at)]
    numbers = Ticks(whole, lambda at: f"{rows[int(at)]['step']:,}")
    middle = Scale(-0.5, len(rows) - 0.5, left, right - gap)
    bottom_axis(frame.svg, middle, numbers, top=bottom, bottom=bottom, name="step" if is_last else "")


def _cut_steps(
    frame: Frame, rows: Sequence[dict[str, Any]], across: Scale, y: float, high: float, width: float
) -> None:
    """A break near the top of each step that is longer than the axis."""
    for at, row in enumerate(rows):
        if row["length_ns"] > high:
            left, right = across.at(at), across.at(at) + width
            corners = ((left, y + 14), (right, y + 8), (right, y + 12), (left, y + 18))
            points = " ".join(f"{x:.1f},{place:.1f}" for x, place in corners)
            hint = f"step {row['step']}: {duration(row['length_ns'])}"
            frame.svg.add("polygon", "p-paper", title=hint, points=points)


def _lengths(rows: Sequence[dict[str, Any]]) -> str:
    """Steps that are longer than the axis, in words."""
    if not rows:
        return ""
    words = some_of(rows, _MOST_CUT, lambda row: f"step {row['step']:,} {duration(row['length_ns'])}")
    return f"longer than the axis, and cut: {words}"
