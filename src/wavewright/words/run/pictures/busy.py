"""Busy share of each GPU over time."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.run.gpu_time.busy import Busy
from wavewright.base.words import percent
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.words.run.place_names import gpu_names
from wavewright.writers.svg.plot_areas import draw_area
from wavewright.writers.svg.plot_axes import Scale, bottom_axis, time_unit, unit_ticks
from wavewright.writers.svg.plot_frame import SMALL, TEXT, Frame, Key, cut_middle, width_of
from wavewright.writers.svg.plot_words import headline, rows_shown, sentences

_TOP, _BINS = 64, 240  #: GPUs that are drawn unless a number is asked for, and points of time of each.
_LABEL = 240.0  #: Width of names in pixels.
#: (Most rows of a picture, height of its rows in pixels): the first that has room is taken.
_HEIGHTS = ((8, 58.0), (16, 38.0), (1 << 62, 22.0))
_NOTE = (
    "Each bin shows the share of its time with at least one dispatch, or else a copy; times are from the first GPU "
    "work of the node"
)


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """One curve per GPU, one below the other, over the time since the first GPU work of its node."""
    from wavewright.analysis.run.gpu_time.busy import busy
    from wavewright.words.run.busy import busy_report

    answer: Busy = document.kept(("plot", "busy"), lambda: busy(document.run, bins=_BINS))
    if not answer.gpus.height:
        raise UsageError("no GPU work was recorded", where=document.label)
    gpus = answer.gpus.head(top or _TOP)
    names = gpu_names(gpus.select("node", "gpu").rows(), with_node=answer.nodes.height > 1)
    starts = dict(answer.nodes.select("node", "start_ns").rows())
    span = max(1, max(end - start for start, end in answer.nodes.select("start_ns", "end_ns").rows()))
    row_height = next(height for most, height in _HEIGHTS if gpus.height <= most)
    frame = Frame(
        "busy",
        "Busy time of GPUs",
        headline(busy_report(answer)),
        height=row_height * gpus.height + 52,
        theme=theme,
        legend=[Key("blue", "kernels run"), Key("sky", "only copies run")],
        note=sentences(_NOTE, rows_shown(gpus.height, answer.gpus.height, "GPUs", "the first")),
    )
    words = [f"{percent(share)} busy" for share in gpus["busy_share"]]
    room = min(_LABEL, max(width_of(text, TEXT) for text in [*names, *words])) + 40
    across = Scale(0, span, frame.left + room, frame.right)
    bottom = frame.top + row_height * gpus.height
    unit, factor = time_unit(span)
    bottom_axis(frame.svg, across, unit_ticks(span, factor, 8), top=frame.top, bottom=bottom, name=f"time ({unit})")
    for number, (row, label, share) in enumerate(zip(gpus.to_dicts(), names, words, strict=True)):
        base = frame.top + row_height * (number + 1)
        up = Scale(0, 1, base, base - row_height + 8)
        curve = _curve(answer, row, starts[row["node"]])
        for column, colour in (("busy_ns", "sky"), ("kernel_busy_ns", "blue")):
            steps = [(begin, begin + length, values[column] / length) for begin, length, values in curve if length]
            draw_area(frame.svg, colour, steps, across, up)
        frame.svg.line("p-rule", [(across.start, base), (across.end, base)])
        _label(frame, label, share, base, row_height)
        if row_height > 30:
            for value, text in ((0, "0"), (1, "100 %")):
                frame.svg.label(
                    "p-soft", across.start - 6, up.at(value) + 4 - 4 * (1 - value), text, size=10, anchor="end"
                )
    return frame.picture()


def _label(frame: Frame, label: str, share: str, base: float, row_height: float) -> None:
    if row_height > 50:
        frame.svg.label("p-ink", frame.left, base - 26, cut_middle(label, TEXT, _LABEL), size=TEXT, title=label)
        frame.svg.label("p-soft p-number", frame.left, base - 9, share, size=SMALL)
    else:
        frame.svg.label(
            "p-ink", frame.left, base - 5, cut_middle(label, SMALL, _LABEL), size=SMALL, title=f"{label}: {share}"
        )


def _curve(answer: Busy, gpu: dict[str, Any], start_ns: int) -> list[tuple[int, int, dict[str, int]]]:
    """(start, length, times) of the bins of a GPU with work, in the order of time."""
    over_time: pl.DataFrame = answer.over_time
    is_its = (over_time["node"] == gpu["node"]) & over_time["gpu"].eq_missing(gpu["gpu"])
    rows = over_time.filter(is_its).sort("bin").to_dicts()
    return [(row["start_ns"] - start_ns, row["length_ns"], row) for row in rows]
