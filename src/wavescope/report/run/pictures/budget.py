"""The time budget of each GPU as one bar: computation, exposed communication, exposed copies, idle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.base.words import counted
from wavescope.errors import UsageError
from wavescope.report.kit.plot_bars import Bar, Part, bar_panel, bars_height
from wavescope.report.kit.plot_frame import TEXT, Frame, Key, cut_middle
from wavescope.report.kit.plot_words import listed, rows_shown, sentences, tenths
from wavescope.report.kit.words import duration
from wavescope.report.run.words import gpu_names, process_label

if TYPE_CHECKING:
    import polars as pl

    from wavescope.analysis.run.overlap import Overlap
    from wavescope.model.report import Picture
    from wavescope.page.protocol.document import Document

#: Column of `Overlap.gpus`, name, colour; no nanosecond of the span is in two of them.
PARTS = (
    ("computation_ns", "computation", "blue"),
    ("exposed_communication_ns", "exposed communication", "orange"),
    ("exposed_copy_ns", "exposed copies", "sky"),
    ("idle_ns", "idle", "pale"),
)
_TOP = 32
_LABEL = 250.0  #: Width of names.
_NOTE = (
    "Exposed: not hidden by computation (communication), nor by any kernel (copies). 100 % is the time from the first "
    "to the last GPU work on the node."
)


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """One bar per GPU, or per process on it where several use it; above them all GPUs together."""
    from wavescope.analysis.run.overlap import overlap

    answer: Overlap = document.kept(("topic", "overlap"), lambda: overlap(document.run))
    gpus = answer.gpus
    if not gpus.height:
        raise UsageError("no GPU work was recorded", where=document.label)
    limit = top or _TOP
    which = "those that computed least"
    shown = gpus if gpus.height <= limit else _least(gpus, limit)
    bars = [_bar(row, label) for row, label in zip(shown.to_dicts(), _labels(gpus, shown), strict=True)]
    totals = {column: int(gpus[column].sum()) for column, _, _ in PARTS}
    if gpus.height > 1:
        bars.insert(0, _bar(totals, "all GPUs", is_strong=True))
    what = "GPUs" if _is_per_gpu(gpus) else "processes on GPUs"
    words = [f"{name} {share:.1f} %" for (_, name, _), share in zip(PARTS, tenths([*totals.values()]), strict=True)]
    note = sentences(_NOTE, rows_shown(shown.height, gpus.height, what, which))
    frame = Frame(
        "budget",
        "Time budget of GPUs",
        f"{counted(gpus.height, what)}: {listed(words)}.",
        height=bars_height(len(bars)),
        theme=theme,
        legend=[Key(colour, name) for _, name, colour in PARTS],
        note=note,
    )
    ticks = [0, 20, 40, 60, 80, 100]
    bar_panel(frame, bars, top=frame.top, high=100, ticks=ticks, name="share of the span (%)", at_end=True)
    return frame.picture()


def _least(gpus: pl.DataFrame, limit: int) -> pl.DataFrame:
    """The GPUs with the smallest shares of computation, in their usual order."""
    import polars as pl

    share = pl.col("computation_ns") / pl.col("span_ns")
    numbered = gpus.with_row_index("number").sort(share, "number", nulls_last=True).head(limit)
    return numbered.sort("number").drop("number")


def _is_per_gpu(gpus: pl.DataFrame) -> bool:
    """Whether each row is a GPU of its own: not where several processes use one, or its number was not recorded."""
    return gpus.select("node", "gpu").n_unique() == gpus.height and (gpus.height == 1 or not gpus["gpu"].null_count())


def _labels(gpus: pl.DataFrame, shown: pl.DataFrame) -> list[str]:
    names = gpu_names(shown.select("node", "gpu").rows(), with_node=gpus["node"].n_unique() > 1)
    if _is_per_gpu(gpus):
        return names
    who = [process_label(rank, pid) for rank, pid in shown.select("rank", "pid").rows()]
    return [f"{name}, {process}" for name, process in zip(names, who, strict=True)]


def _bar(row: dict[str, Any], label: str, *, is_strong: bool = False) -> Bar:
    values = [row[column] for column, _, _ in PARTS]
    parts = tuple(
        Part(share, colour, f"{share:.1f} %", f"{label}: {name} {share:.1f} %, {duration(row[column])}")
        for (column, name, colour), share in zip(PARTS, tenths(values), strict=True)
    )
    return Bar(cut_middle(label, TEXT, _LABEL), parts, duration(sum(values)), title=label, is_strong=is_strong)
