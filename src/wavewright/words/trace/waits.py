"""Waits and their producers in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wavewright.analysis.trace.waits import Waits
from wavewright.base.shown import printable
from wavewright.base.words import percent, short, truncation
from wavewright.model.blocks import GAP, AnyBlock, Cell, Named, Part, Sentence, Table, sentence
from wavewright.words.kit.declared_tables import block_columns, legend
from wavewright.words.kit.frame_tables import brief_place

PRODUCERS_SHOWN = 4


def waits_report(answer: Waits, *, limit: int) -> list[AnyBlock]:
    """A verdict, then every wait with arrows to its producers."""
    if not answer.waits.height:
        return [Sentence("no wait was executed")]
    return [_verdict(answer), GAP, waits_table(answer, limit=limit), legend("trace/waits/waits")]


def _verdict(answer: Waits) -> Sentence:
    share = answer.stalled_count / answer.execution_count if answer.execution_count else 0.0
    stalled, executed = short(answer.stalled_count), short(answer.execution_count)
    verdict = f"waits held waves for {short(answer.stall_cycles_total)} cycles"
    parts: list[Part] = [f"{verdict}; {stalled} of {executed} executed waits ({percent(share, 0)}) did wait"]
    top = answer.producers.filter(answer.producers["last_count"] > 0).head(1)
    if top.height:
        row = top.row(0, named=True)
        earlier = f" would have to be issued {short(row['last_stall_cycles_mean'])} cycles earlier"
        parts += ["; most: ", (printable(row["producer_text"] or "?"), "bold"), earlier]
    return sentence(*parts)


def waits_table(answer: Waits, *, limit: int) -> Table:
    """The waits with the largest stalls, with arrows to their producers."""
    title = truncation(min(limit, answer.waits.height), answer.waits.height, "waits")
    return Table(title, _COLUMNS, tuple(_rows(answer, limit)))


_COLUMNS = block_columns("trace/waits/waits")


def _rows(answer: Waits, limit: int) -> Iterator[tuple[str, ...]]:
    """All cells of the table, waits and under each its producers."""
    by_wait = answer.producers.partition_by("row", as_dict=True)
    for wait in answer.waits.head(limit).iter_rows(named=True):
        cost_cells = f"{short(wait['stall_cycles_total'])}", f"{100 * wait['stall_share']:.1f} %"
        name = Cell.of(_address(wait["address"], "bold"), (f" {wait['text'] or ''}", "bold"))
        yield *cost_cells, f"{wait['execution_count']:,}", "", "", "", "", name, _place(wait)
        producers = by_wait.get((wait["row"],))
        yield from _producer_rows(producers.to_dicts() if producers is not None else [], wait["class"])


def _address(address: int | None, tone: str = "") -> Part:
    return ("?", tone) if address is None else Named(f"{address:#x}", "i", tone)


def _producer_rows(producers: list[dict[str, Any]], reason: str) -> Iterator[tuple[str, ...]]:
    if not producers:
        name = f"  <- {'nothing in flight' if reason == 'wait for nothing' else 'not known'}"
        yield *[""] * 7, Cell(name, "dim"), ""
    for edge in producers[:PRODUCERS_SHOWN]:
        text = f" {edge['producer_text'] or ''}{'' if edge['count'] else ' (perhaps)'}"
        name = Cell.of(f"  <- {edge['counter']} ", _address(edge["producer_address"]), text)
        yield "", "", *_measures(edge), name, _place(edge, "producer_")
    if len(producers) > PRODUCERS_SHOWN:
        yield *[""] * 7, Cell(f"  showing {PRODUCERS_SHOWN} of {len(producers)} producers", "dim"), ""


def _measures(edge: dict[str, Any]) -> tuple[str, str, str, str, str]:
    if not edge["count"]:
        return f"{edge['candidate_count']:,}", "", "", "", ""
    bound = "" if edge["last_count"] == edge["count"] else "<= "
    earlier = edge["last_stall_cycles_mean"]
    return (
        f"{edge['count']:,}",
        short(edge["distance_instructions_mean"]),
        short(edge["distance_cycles_mean"]),
        bound + short(edge["latency_cycles_mean"]),
        short(earlier),
    )


def _place(row: dict[str, Any], prefix: str = "") -> str:
    return brief_place(row[f"{prefix}file"], row[f"{prefix}line"])
