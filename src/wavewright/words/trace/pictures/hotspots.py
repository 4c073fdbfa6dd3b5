"""The instructions that take the cycles, or most of the PC samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wavewright.analysis.trace.costs.hotspots import Hotspots
from wavewright.analysis.trace.costs.sample_hotspots import SampleHotspots
from wavewright.base.shown import printable
from wavewright.base.words import percent, short
from wavewright.errors import UsageError
from wavewright.model.blocks import Picture
from wavewright.model.document import Document
from wavewright.words.kit.bar_pictures import bar_picture
from wavewright.words.kit.frame_tables import brief_place, hexadecimal
from wavewright.writers.svg.plot_bars import Bar, Part
from wavewright.writers.svg.plot_frame import Key
from wavewright.writers.svg.plot_heat import PART_COLOURS
from wavewright.writers.svg.plot_words import headline, rows_shown, sentences

_TOP = 16
_PARTS = ("stall", "issue", "idle")
_EXPOSED = "Exposed: while the pipes of the SIMD that could have hidden it were not busy. Cycles are summed over waves"
_STORED = "The trace has no instructions: these are the sums that its files store, without what other waves hide"
_SAMPLES = "A sample is one look at what a wave is about to execute"


def draw(document: Document, answer: Hotspots | SampleHotspots, theme: str, top: int | None) -> Picture:
    """One bar per instruction, the costliest first, by stall, issue and idle; PC samples by what is known of them."""
    from wavewright.analysis.trace.costs.sample_hotspots import SampleHotspots
    from wavewright.words.trace.hotspots import hotspots_report

    if isinstance(answer, SampleHotspots):
        return _sampled(answer, theme, top or _TOP)
    if not answer.units.height:
        raise UsageError("no instruction was executed in the trace", where=document.label)
    is_exposed = answer.exposed_cycles_total is not None
    return _picture(
        answer,
        top or _TOP,
        lambda row: _exposed(row) if is_exposed else _whole(row),
        "exposed_share" if is_exposed else "cycles_share",
        title="Costliest instructions",
        sentence=headline(hotspots_report(answer, limit=1)),
        note=_EXPOSED if is_exposed else _STORED,
        axis=f"{'exposed ' if is_exposed else ''}cycles of all waves",
        theme=theme,
    )


def _sampled(answer: SampleHotspots, theme: str, top: int) -> Picture:
    from wavewright.words.trace.hotspots import sample_report

    return _picture(
        answer,
        top,
        lambda row: {"stall": row["stalled_count"], "issue": row["issued_count"], "sampled": row["unknown_count"]},
        "sample_share",
        title="Most sampled instructions",
        sentence=headline(sample_report(answer, limit=1)),
        note=_SAMPLES,
        axis="samples",
        theme=theme,
    )


def _exposed(row: dict[str, Any]) -> dict[str, int]:
    return {part: row[f"exposed_{part}_cycles_total"] or 0 for part in _PARTS}


def _whole(row: dict[str, Any]) -> dict[str, int]:
    stall = row["stall_cycles_total"]
    return {"stall": stall, "issue": row["latency_cycles_total"] - stall, "idle": row["idle_cycles_total"]}


def _picture(
    answer: Hotspots | SampleHotspots,
    top: int,
    parts_of: Callable[[dict[str, Any]], Mapping[str, int]],
    share: str,
    *,
    title: str,
    sentence: str,
    note: str,
    axis: str,
    theme: str,
) -> Picture:
    rows = answer.units.head(top).to_dicts()
    bars = [_bar(row, parts_of(row), row[share]) for row in rows]
    used = dict.fromkeys(name for row in rows for name, amount in parts_of(row).items() if amount)
    return bar_picture(
        "hotspots",
        title,
        sentence,
        bars,
        axis=axis,
        unit="count",
        theme=theme,
        legend=[Key(PART_COLOURS[name], _LEGEND.get(name, name)) for name in PART_COLOURS if name in used],
        note=sentences(note, rows_shown(len(bars), answer.units.height, "instructions", "the costliest")),
        label_width=340,
    )


_LEGEND = {"stall": "stall", "issue": "issue", "idle": "idle before it", "sampled": "sampled, not known why"}


def _bar(row: dict[str, Any], parts: Mapping[str, int], share: float | None) -> Bar:
    place = printable(brief_place(row["file"], row["line"]))
    name = printable(row["text"] or "?")
    address = "" if row["address"] is None else f"{hexadecimal(row['address'])} "
    label = f"{address}{name}"
    words = f"{percent(share)}, {short(sum(parts.values()))}" + (f" · {place}" if place else "")
    drawn = tuple(Part(amount, PART_COLOURS[part], title=f"{part} {amount:,}") for part, amount in parts.items())
    return Bar(label, drawn, words, title=f"{label} {place}")
