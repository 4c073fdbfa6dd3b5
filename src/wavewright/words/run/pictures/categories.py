"""GPU time by what kernels do."""

from __future__ import annotations

from typing import Any

from wavewright.analysis.run.contents.summary import Summary
from wavewright.base.words import counted, duration, percent
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.words.kit.bar_pictures import bar_picture
from wavewright.writers.svg.plot_bars import Bar, Part
from wavewright.writers.svg.plot_words import listed

_COLOURS = {"copy": "sky", "communication": "orange", "other": "grey"}
_NOTE = (
    "Categories by the names of kernels. Times of dispatches and copies that overlap count each, so that they can add "
    "up to more than the time of the run."
)


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """One bar per category, the one with most time first."""
    from wavewright.analysis.run.contents.summary import summary
    from wavewright.analysis.run.kernels.categories import time_by_category

    answer: Summary = document.kept(("topic", "summary"), lambda: summary(document.run))
    rows = time_by_category(answer.things)
    total = int(rows["total_ns"].sum() or 0)
    if not total:
        raise UsageError("no GPU work with a duration was recorded", where=document.label)
    shown = rows.head(top or rows.height).to_dicts()
    bars = [_bar(row) for row in shown]
    words = [f"{row['category']} {percent(row['share'])}" for row in shown[:3]]
    sentence = f"{duration(total)} of GPU time: {listed(words)}."
    axis = "time of dispatches and copies"
    title = "GPU time by category of kernel"
    return bar_picture("categories", title, sentence, bars, axis=axis, unit="time", theme=theme, note=_NOTE)


def _bar(row: dict[str, Any]) -> Bar:
    name = row["category"]
    hint = f"{name}: {counted(row['calls'], 'calls')} of {counted(row['name_count'], 'names')}"
    part = Part(row["total_ns"], _COLOURS.get(name, "blue"), title=hint)
    return Bar(name, (part,), f"{percent(row['share'])}, {duration(row['total_ns'])}")
