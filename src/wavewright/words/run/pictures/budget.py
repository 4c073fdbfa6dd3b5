"""The time budget of each GPU as one bar: computation, exposed communication, exposed copies, idle."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.run.diagnose.budget import TimeBudget
from wavewright.base.words import counted, duration
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.words.run.place_names import gpu_names
from wavewright.writers.svg.plot_bars import Bar, Part, bars_height, draw_bars
from wavewright.writers.svg.plot_frame import TEXT, Frame, Key, cut_middle
from wavewright.writers.svg.plot_words import listed, rows_shown, sentences, tenths

#: Column of `TimeBudget.gpus`, name, colour; no nanosecond of the window is in two of them.
PARTS = (
    ("computation_ns", "computation", "blue"),
    ("exposed_communication_ns", "exposed communication", "orange"),
    ("exposed_copy_ns", "exposed copies", "sky"),
    ("idle_ns", "idle", "pale"),
)
_TOP = 32  #: GPUs that are drawn unless a number is asked for.
_LABEL = 250.0  #: Width of names in pixels.
_NOTE = (
    "Exposed: not hidden by computation (communication), nor by any kernel (copies). 100 % is the time from the first "
    "to the last work of a GPU, without start-up where that can be told apart."
)


def draw(document: Document, answer: TimeBudget, theme: str, top: int | None) -> Picture:
    """One bar per GPU; above them all GPUs together."""
    gpus = answer.gpus.sort("node", "gpu", "rank", "pid", nulls_last=True)
    if not answer.parts.height:
        raise UsageError("no GPU work was recorded", where=document.label)
    limit = top or _TOP
    shown = gpus if gpus.height <= limit else _least(gpus, limit)
    names = gpu_names(shown.select("node", "gpu").rows(), with_node=gpus["node"].n_unique() > 1)
    bars = [_bar(row, label) for row, label in zip(shown.to_dicts(), names, strict=True)]
    totals = {column: int(gpus[column].sum()) for column, _, _ in PARTS}
    if gpus.height > 1:
        bars.insert(0, _bar(totals, "all GPUs", is_strong=True))
    words = [f"{name} {share:.1f} %" for (_, name, _), share in zip(PARTS, tenths([*totals.values()]), strict=True)]
    frame = Frame(
        "budget",
        "Time budget of GPUs",
        f"{counted(gpus.height, 'GPUs')}: {listed(words)}.",
        height=bars_height(len(bars)),
        theme=theme,
        legend=[Key(colour, name) for _, name, colour in PARTS],
        note=sentences(_NOTE, rows_shown(shown.height, gpus.height, "GPUs", "those that computed least")),
    )
    draw_bars(frame, bars, axis="share of the time", unit="share", at_end=True)
    return frame.picture()


def _least(gpus: pl.DataFrame, limit: int) -> pl.DataFrame:
    """The GPUs with the smallest shares of computation, in their usual order."""
    share = pl.col("computation_ns") / pl.col("window_ns")
    numbered = gpus.with_row_index("number").sort(share, "number", nulls_last=True).head(limit)
    return numbered.sort("number").drop("number")


def _bar(row: dict[str, Any], label: str, *, is_strong: bool = False) -> Bar:
    values = [row[column] for column, _, _ in PARTS]
    parts = tuple(
        Part(share, colour, f"{share:.1f} %", f"{label}: {name} {share:.1f} %, {duration(row[column])}")
        for (column, name, colour), share in zip(PARTS, tenths(values), strict=True)
    )
    return Bar(cut_middle(label, TEXT, _LABEL), parts, duration(sum(values)), title=label, is_strong=is_strong)
