"""Stalls, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from rich.text import Text

from wavewright.base.words import percent
from wavewright.facts.stall_classes import stall_class
from wavewright.report.kit.bars import bar
from wavewright.report.kit.tables import WIDE, Column, brief_place, frame_table, hexadecimal, place, printable, short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from wavewright.analysis.trace.samples.stalls import SampleStalls
    from wavewright.analysis.trace.stalls import Stalls
    from wavewright.analysis.trace.stalls.classic import Classic

_REMEDIES = 3
_REMEDY_SHARE = 0.05


def stalls_report(answer: Stalls, *, limit: int, width: int = WIDE) -> list[RenderableType]:
    """A verdict, the classes, the rows that stall most, where idle cycles lie, and what helps."""
    if not answer.stall_cycles_total:
        return [Text("no cycle was stalled")]
    rows = answer.by_row.select("row", "class", "text", "file", "line")
    classes = answer.classes.join(rows, left_on=["top_row", "class"], right_on=["row", "class"], maintain_order="left")
    parts: list[RenderableType] = [_verdict(answer, classes), Text()]
    parts += [frame_table(classes, _CLASSES, limit=limit, width=width, what="classes of stalls"), Text()]
    parts += [
        frame_table(
            answer.by_row.filter(answer.by_row["stall_cycles_total"] > 0),
            _ROWS,
            limit=limit,
            width=width,
            what="rows that stall",
        )
    ]
    parts += [Text(), _idle(answer)]
    if answer.unresolved_wait_count:
        note = f"{answer.unresolved_wait_count:,} of {answer.wait_count:,} executed waits could not be resolved"
        parts.append(Text.assemble(("note: ", "bold cyan"), f"{note}; {stall_class('wait unresolved').meaning}"))
    return [*parts, Text(), *_remedies(answer.classes)]


def either_report(answer: Stalls | SampleStalls, *, limit: int, width: int = WIDE) -> Iterable[RenderableType]:
    """Stalls of instructions, or of PC samples."""
    from wavewright.analysis.trace.stalls import Stalls as OfInstructions

    if isinstance(answer, OfInstructions):
        return stalls_report(answer, limit=limit, width=width)
    from wavewright.report.trace.samples import sample_stalls_report

    return sample_stalls_report(answer, limit=limit, width=width)


def classic_report(answer: Classic, *, limit: int, width: int = WIDE) -> list[RenderableType]:
    """The figures of the classic analyzer script, in its order."""
    head = (
        f"{answer.instruction_count:,} instructions, {short(answer.latency_cycles_total)} cycles, "
        f"{short(answer.stall_cycles_total)} stalled ({percent(answer.stall_share)})"
    )
    return [
        Text(head, "bold"),
        Text("classic types: from the stalled row's text alone; `wavewright stalls` tells what was waited for", "dim"),
        Text(),
        frame_table(answer.types, (*_CLASSIC_COST, _TYPE), limit=limit, width=width, what="types"),
        Text(),
        frame_table(
            answer.lines, (*_CLASSIC_COST, *_CLASSIC_LINE), limit=limit, width=width, what="source lines with stall"
        ),
        Text(),
        frame_table(
            answer.instructions,
            (*_CLASSIC_COST, *_CLASSIC_ROW),
            limit=limit,
            width=width,
            what="instructions with stall",
        ),
    ]


def _verdict(answer: Stalls, classes: pl.DataFrame) -> Text:
    waiting = classes.filter(pl.col("kind") != "busy")  # a pipe that is busy does its work
    top = (waiting if waiting.height else classes).row(0, named=True)
    stalled = answer.stall_cycles_total / answer.latency_cycles_total if answer.latency_cycles_total else 0.0
    text = Text(f"{short(answer.stall_cycles_total)} of {short(answer.latency_cycles_total)} cycles are stalled")
    exposed = answer.exposed_stall_cycles_total / answer.stall_cycles_total
    text.append(f" ({percent(stalled)}), {percent(exposed, 0)} of that exposed; largest class: ")
    text.append(top["class"], "bold")
    text.append(f", {percent(top['stall_share'])} of the stall")
    if top["text"]:
        where = place(top["file"], top["line"])
        text.append(f", above all at {printable(top['text'])}{f' ({printable(where)})' if where else ''}")
    return text


def _idle(answer: Stalls) -> Text:
    total = answer.idle_cycles_total
    text = Text(f"idle, not in any stall: {short(total)} cycles")
    parts = [
        f"{percent(share)} {part}" for part, share in answer.idle.select("part", "idle_share").iter_rows() if share
    ]
    text.append(f": {', '.join(parts)}" if parts else "")
    if answer.ending_cycles_total:
        text.append(f"; s_endpgm waits {short(answer.ending_cycles_total)} cycles for stores, too")
    return text


def _remedies(classes: pl.DataFrame) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for name, share in classes.select("class", "stall_share").head(_REMEDIES).iter_rows():
        remedy = stall_class(name).remedy
        if remedy and share >= _REMEDY_SHARE:
            lines.append(Text.assemble((f"{name}: ", "bold"), remedy))
    return lines


def _cell_text(row: dict[str, Any]) -> str:
    return printable(row["text"] or "instructions without a known PC")


def _cell_place(row: dict[str, Any]) -> str:
    return brief_place(row["file"], row["line"])


_SHARE = Column("share", lambda row: percent(row["stall_share"]))
_STALL = Column("stall", lambda row: short(row["stall_cycles_total"]))
_EXPOSED = Column("exposed", lambda row: short(row["exposed_stall_cycles_total"]))
_BAR = Column("", lambda row: bar(row["stall_share"], 8), is_text=True, is_fixed=True, is_wide=True)
_SOURCE = Column("source", _cell_place, is_text=True, is_fixed=True)
_CLASSES = (
    _SHARE,
    _BAR,
    _STALL,
    _EXPOSED,
    Column("stalled", lambda row: short(row["stalled_count"]), is_wide=True),
    Column("of", lambda row: short(row["execution_count"]), is_wide=True),
    Column("class", lambda row: row["class"], is_text=True, is_fixed=True),
    Column("rows", lambda row: f"{row['row_count']:,}", is_wide=True),
    Column("largest", lambda row: percent(row["top_row_share"], 0), is_wide=True),
    Column("largest row", _cell_text, takes_rest=True),
)
_ROWS = (
    _SHARE,
    _BAR,
    _STALL,
    _EXPOSED,
    Column("hits", lambda row: short(row["execution_count"]), is_wide=True),
    Column("mean", lambda row: short(row["stall_cycles_total"] / row["execution_count"])),
    Column("address", lambda row: hexadecimal(row["address"])),
    Column("instruction", _cell_text, takes_rest=True),
    Column("class", lambda row: row["class"], is_text=True, is_wide=True),
    _SOURCE,
)
_CLASSIC_COST = (_STALL, Column("share", lambda row: percent(row["stall_share"], 2)), _BAR)
_TYPE = Column("type", lambda row: row["type"], is_text=True)
_CLASSIC_LINE = (
    Column("stalled", lambda row: percent(row["stalled_share"])),
    _TYPE,
    Column("source", lambda row: printable(row["source"][-48:]), takes_rest=True),
)
_CLASSIC_ROW = (
    Column("hits", lambda row: short(row["hit_count"]), is_wide=True),
    Column("address", lambda row: hexadecimal(row["address"])),
    _TYPE,
    Column("instruction", _cell_text, takes_rest=True),
    Column("source", lambda row: printable(row["source"][-38:]), is_text=True, is_wide=True),
)
