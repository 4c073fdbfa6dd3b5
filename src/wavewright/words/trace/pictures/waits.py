"""Instructions that waves wait for, and the length of the waits."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.trace.waits import Waits
from wavewright.base.shown import printable
from wavewright.base.words import counted, percent, short
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.words.kit.bar_pictures import bar_picture
from wavewright.words.kit.frame_tables import brief_place, hexadecimal
from wavewright.writers.svg.plot_bars import Bar, Part
from wavewright.writers.svg.plot_frame import Key
from wavewright.writers.svg.plot_words import headline, rows_shown, sentences

_TOP = 14
_COLOURS = ("blue", "orange", "green", "pink", "red", "sky")
_NOTE = (
    "Each bar: the stall of waits that ended when this instruction was done. Cycles are summed over waves; earlier: "
    "how much sooner it would have to be issued, on average, so that the wait finds it done"
)
_OTHER = "not certain which"


def draw(document: Document, theme: str, top: int | None) -> Picture:
    """One bar per awaited instruction, the one that cost most first."""
    from wavewright.analysis.trace.waits import waits
    from wavewright.words.trace.waits import waits_report

    trace = document.trace
    if not trace.instruction_count:
        raise UsageError("the trace has no instructions, and so no waits", where=document.label)
    answer: Waits = document.kept(("topic", "waits"), lambda: waits(trace))
    if not answer.stall_cycles_total:
        raise UsageError("no wait held a wave", where=document.label)
    rows = _producers(answer)
    rest = max(0, answer.stall_cycles_total - sum(round(row["stall_cycles"]) for row in rows))
    shown = rows[: top or _TOP]
    colours = _kinds(shown)
    bars = [_bar(row, answer.stall_cycles_total, colours) for row in shown]
    if rest > 0:
        words = f"{percent(rest / answer.stall_cycles_total)}, {short(rest)} cycles"
        bars.append(Bar(_OTHER, (Part(rest, "pale"),), words, title="several instructions may have ended these waits"))
    return bar_picture(
        "waits",
        "What waves wait for",
        headline(waits_report(answer, limit=1)),
        bars,
        axis="stall at waits (cycles of all waves)",
        unit="count",
        theme=theme,
        legend=[Key(colour, kind) for kind, colour in colours.items()],
        note=sentences(_NOTE, rows_shown(len(shown), len(rows), "awaited instructions", "those that cost most")),
        label_width=330,
    )


def _producers(answer: Waits) -> list[dict[str, Any]]:
    """Awaited instructions with the stall of the waits that they ended, over all waits."""
    keys = ["producer_row", "producer_kind", "producer_address", "producer_text", "producer_file", "producer_line"]
    ended: pl.DataFrame = (
        answer.producers.with_columns(stall=pl.col("last_count") * pl.col("last_stall_cycles_mean").fill_null(0.0))
        .group_by(keys)
        .agg(stall_cycles=pl.col("stall").sum(), count=pl.col("last_count").sum())
        .filter(pl.col("stall_cycles") > 0)
        .sort("stall_cycles", "producer_row", descending=[True, False])
    )
    return ended.to_dicts()


def _kinds(rows: list[dict[str, Any]]) -> dict[str, str]:
    kinds = list(dict.fromkeys(printable(row["producer_kind"] or "?") for row in rows))
    return {kind: _COLOURS[min(at, len(_COLOURS) - 1)] for at, kind in enumerate(kinds)}


def _bar(row: dict[str, Any], total: int, colours: dict[str, str]) -> Bar:
    place = printable(brief_place(row["producer_file"], row["producer_line"]))
    address = "" if row["producer_address"] is None else f"{hexadecimal(row['producer_address'])} "
    label = f"{address}{printable(row['producer_text'] or '?')}"
    stall, mean = row["stall_cycles"], row["stall_cycles"] / row["count"]
    kind = printable(row["producer_kind"] or "?")
    part = Part(stall, colours[kind], title=f"{kind}: ended {counted(row['count'], 'waits')}")
    words = f"{percent(stall / total)}, {short(mean)} earlier" + (f" · {place}" if place else "")
    return Bar(label, (part,), words, title=f"{label} {place}")
