"""The critical path: what set the time of a run, by class, and who contributes most."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.run.graph.path import CriticalPath
from wavewright.base.words import counted, duration, percent
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.words.kit.brief_names import brief_kernels
from wavewright.words.run.place_names import process_label
from wavewright.writers.svg.plot_axes import plain, round_ticks, time_unit
from wavewright.writers.svg.plot_bars import Bar, Part, bar_panel, bars_height
from wavewright.writers.svg.plot_frame import TEXT, Frame, Key
from wavewright.writers.svg.plot_words import headline, rows_shown, sentences, tenths

_TOP, _GROUPS = 12, 8
_COLOURS = {
    "host": "red", "launch": "pink", "kernels": "blue", "communication": "orange", "copies": "sky", "idle": "pale",
    "unknown": "grey",
}  # fmt: skip
_NOTE = (
    "Each event waited for something; what came last held it up. The path follows these from the last event back to "
    "the first, so that its parts add up to the time"
)


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """A stacked bar per group of processes, and below it what contributes most to the path of the longest group."""
    from wavewright.analysis.run.graph.path import critical_path
    from wavewright.words.run.path import path_report

    answer: CriticalPath = document.kept(("topic", "path"), lambda: critical_path(document.run))
    if not answer.segments.height:
        raise UsageError("no calls and no GPU work were recorded", where=document.label)
    groups = answer.groups.head(_GROUPS).to_dicts()
    bars = [_group(group, answer.of_group(group["group"], "classes")) for group in groups]
    every = answer.of_group(groups[0]["group"], "contributors").sort(
        "path_ns", "class", "what", "name", descending=[True, False, False, False]
    )
    every = every.filter(every["path_ns"] > 0)
    contributors = _contributors(every.head(top or _TOP).to_dicts())
    classes = [name for name in _COLOURS if name in answer.classes.filter(answer.classes["path_ns"] > 0)["class"]]
    frame = Frame(
        "path",
        "Critical path",
        headline(path_report(answer, ())),
        height=bars_height(len(bars)) + 40 + bars_height(len(contributors)),
        theme=theme,
        legend=[Key(_COLOURS[name], name) for name in classes],
        note=sentences(
            _NOTE,
            rows_shown(len(groups), answer.groups.height, "groups of processes", "the longest"),
            rows_shown(len(contributors), every.height, "contributors", "those with most time on the path"),
        ),
    )
    ticks = [0, 20, 40, 60, 80, 100]
    bar_panel(frame, bars, top=frame.top, high=100, ticks=ticks, name="share of the time (%)", at_end=True)
    if contributors:
        _second(frame, contributors, frame.top + bars_height(len(bars)) + 20, len(groups))
    return frame.picture()


def _second(frame: Frame, bars: list[Bar], top: float, group_count: int) -> None:
    which = "" if group_count == 1 else " of the first group"
    frame.svg.label("p-ink p-strong", frame.left, top, f"Most on the path{which}", size=TEXT)
    high = bars[0].parts[0].value
    unit, factor = time_unit(high)
    bar_panel(
        frame,
        bars,
        top=top + 10,
        high=high,
        ticks=[tick * factor for tick in round_ticks(0, high / factor)],
        name=f"time on the path ({unit})",
        words=lambda value: plain(value / factor),
        label_width=380,
    )


def _group(group: dict[str, Any], classes: pl.DataFrame) -> Bar:
    times = dict.fromkeys(_COLOURS, 0) | dict(classes.select("class", "path_ns").rows())
    who = process_label(group["rank"], group["pid"])
    label = who if group["process_count"] == 1 else f"{counted(group['process_count'], 'processes')}, to {who}"
    parts = tuple(
        Part(share, _COLOURS[name], f"{share:.1f} %", f"{name} {share:.1f} %, {duration(times[name])}")
        for name, share in zip(_COLOURS, tenths([times[name] for name in _COLOURS]), strict=True)
    )
    return Bar(label, parts, duration(group["span_ns"]))


def _contributors(rows: list[dict[str, Any]]) -> list[Bar]:
    names = brief_kernels([row["name"] or "?" for row in rows], 44)
    bars = []
    for row, name in zip(rows, names, strict=True):
        prefix = row["what"] if row["what"] == "code before" else f"{row['what']}:"
        label = name if row["what"] in ("work", "call") else f"{prefix} {name}" if row["name"] else row["what"]
        part = Part(
            row["path_ns"],
            _COLOURS[row["class"]],
            title=f"{row['what']} {row['name']}: {counted(row['count'], 'segments')}",
        )
        words = f"{percent(row['path_share'])}, {duration(row['path_ns'])}"
        bars.append(Bar(label, (part,), words, title=f"{row['what']}: {row['name']}"))
    return bars
