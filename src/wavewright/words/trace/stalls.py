"""Stalls in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl

from wavewright.analysis.trace.samples.diagnosis import SampleStalls
from wavewright.analysis.trace.stalls import Stalls
from wavewright.analysis.trace.stalls.classic import Classic
from wavewright.base.shown import printable
from wavewright.base.words import percent, short
from wavewright.facts.stall_classes import stall_class
from wavewright.model.blocks import GAP, AnyBlock, Part, Sentence, headline, sentence
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.words.kit.frame_tables import place

_REMEDIES = 3  #: Classes of stalls, the largest first, for which a remedy is named.
_REMEDY_SHARE = 0.05  #: A class with a smaller share of the stall gets no remedy.


def stalls_report(answer: Stalls, *, limit: int) -> Iterator[AnyBlock]:
    """A verdict, the classes, the rows that stall most, where idle cycles lie, and what helps."""
    if not answer.stall_cycles_total:
        yield Sentence("no cycle was stalled")
        return
    rows = answer.by_row.select("row", "class", "text", "file", "line")
    classes = answer.classes.join(rows, left_on=["top_row", "class"], right_on=["row", "class"], maintain_order="left")
    yield _verdict(answer, classes)
    yield from table_below("trace/stalls/classes", classes, limit=limit)
    stalling = answer.by_row.filter(answer.by_row["stall_cycles_total"] > 0)
    stalling = stalling.with_columns(stall_cycles_mean=pl.col("stall_cycles_total") / pl.col("execution_count"))
    yield from table_below("trace/stalls/rows", stalling, limit=limit)
    yield GAP
    yield _idle(answer)
    if answer.unresolved_wait_count:
        note = f"{answer.unresolved_wait_count:,} of {answer.wait_count:,} executed waits could not be resolved"
        yield Sentence(f"{note}; {stall_class('wait unresolved').meaning}", "note")
    yield GAP
    for name, share in answer.classes.select("class", "stall_share").head(_REMEDIES).iter_rows():
        remedy = stall_class(name).remedy
        if remedy and share >= _REMEDY_SHARE:
            yield sentence((f"{name}: ", "bold"), remedy)


def either_report(answer: Stalls | SampleStalls, *, limit: int) -> Iterable[AnyBlock]:
    """Stalls of instructions, or of PC samples."""
    if isinstance(answer, Stalls):
        return stalls_report(answer, limit=limit)
    from wavewright.words.trace.samples import sample_stalls_report

    return sample_stalls_report(answer, limit=limit)


def classic_report(answer: Classic, *, limit: int) -> Iterator[AnyBlock]:
    """The figures of the classic analyzer script, in its order."""
    yield headline(
        f"{answer.instruction_count:,} instructions, {short(answer.latency_cycles_total)} cycles, "
        f"{short(answer.stall_cycles_total)} stalled ({percent(answer.stall_share)})"
    )
    basis = "classic types: from the stalled row's text alone; `wavewright stalls` tells what was waited for"
    yield sentence((basis, "dim"))
    yield GAP
    yield declared_table("trace/stalls/classic_types", answer.types, limit=limit)
    yield GAP
    yield declared_table(
        "trace/stalls/classic_lines", answer.lines, limit=limit, source=lambda row: row["source"][-48:]
    )
    yield GAP
    rows = answer.instructions
    yield declared_table("trace/stalls/classic_rows", rows, limit=limit, source=lambda row: row["source"][-38:])


def _verdict(answer: Stalls, classes: pl.DataFrame) -> Sentence:
    waiting = classes.filter(pl.col("kind") != "busy")  # a pipe that is busy does its work
    top = (waiting if waiting.height else classes).row(0, named=True)
    stalled = answer.stall_cycles_total / answer.latency_cycles_total if answer.latency_cycles_total else 0.0
    text = f"{short(answer.stall_cycles_total)} of {short(answer.latency_cycles_total)} cycles are stalled"
    exposed = answer.exposed_stall_cycles_total / answer.stall_cycles_total
    text += f" ({percent(stalled)}), {percent(exposed, 0)} of that exposed; largest class: "
    parts: list[Part] = [text, (top["class"], "bold"), f", {percent(top['stall_share'])} of the stall"]
    if top["text"]:
        where = place(top["file"], top["line"])
        parts.append(f", above all at {printable(top['text'])}{f' ({printable(where)})' if where else ''}")
    return sentence(*parts)


def _idle(answer: Stalls) -> Sentence:
    total = answer.idle_cycles_total
    text = f"idle, not in any stall: {short(total)} cycles"
    parts = [
        f"{percent(share)} {part}" for part, share in answer.idle.select("part", "idle_share").iter_rows() if share
    ]
    text += f": {', '.join(parts)}" if parts else ""
    if answer.ending_cycles_total:
        text += f"; s_endpgm waits {short(answer.ending_cycles_total)} cycles for stores, too"
    return Sentence(text)
