"""Waits and their producers, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.base.shown import printable
from wavewright.base.words import percent, truncation
from wavewright.model.blocks import GAP, AnyBlock, Sentence, Table, sentence
from wavewright.words.kit.tables import brief_place, one_line, plain_table, short
from wavewright.writers.terminal.fitted_table import WIDE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.trace.waits import Waits

PRODUCERS_SHOWN = 4


def waits_report(answer: Waits, *, limit: int, width: int = WIDE) -> list[AnyBlock]:
    """A verdict, then every wait with arrows to its producers."""
    if not answer.waits.height:
        return [Sentence("no wait was executed")]
    return [_verdict(answer), GAP, waits_table(answer, limit=limit, width=width), sentence((_LEGEND, "dim"))]


_LEGEND = (
    "<- awaited instruction; count: executions; instr, cycles: mean distance from its issue to the wait; latency: from"
    " issue to the end of the wait, <= when something else may have ended it; earlier: how much sooner it would have"
    " to be issued (mean), - when it never was the last"
)


def _verdict(answer: Waits) -> Sentence:
    share = answer.stalled_count / answer.execution_count if answer.execution_count else 0.0
    text = Sentence(f"waits held waves for {short(answer.stall_cycles_total)} cycles; ")
    stalled, executed = short(answer.stalled_count), short(answer.execution_count)
    text.append(f"{stalled} of {executed} executed waits ({percent(share, 0)}) did wait")
    top = answer.producers.filter(answer.producers["last_count"] > 0).head(1)
    if top.height:
        row = top.row(0, named=True)
        text.append("; most: ")
        text.append(printable(row["producer_text"] or "?"), "bold")
        text.append(f" would have to be issued {short(row['last_stall_cycles_mean'])} cycles earlier")
    return text


def waits_table(answer: Waits, *, limit: int, width: int = WIDE) -> Table:
    """The waits with the largest stalls, with arrows to their producers."""
    shown = answer.waits.head(limit)
    title = truncation(shown.height, answer.waits.height, "waits")
    table = plain_table(title)
    columns = range(len(_HEADINGS)) if width >= WIDE else _NARROW
    for number in columns:
        if number == _INSTRUCTION:
            table.add_column(_HEADINGS[number], ratio=1)
        else:
            is_number = number < _INSTRUCTION
            table.add_column(_HEADINGS[number], justify="right" if is_number else "left", no_wrap=True)
    for cells in _rows(answer, limit):
        table.add_row(*(cells[number] for number in columns))
    return table


_HEADINGS = ("stall", "share", "count", "instr", "cycles", "latency", "earlier", "wait <- producer", "source")
_INSTRUCTION = 7
_NARROW = (0, 2, 4, 5, 6, 7)


def _rows(answer: Waits, limit: int) -> Iterator[tuple[str | Sentence, ...]]:
    """All cells of the table, waits and under each its producers."""
    by_wait = answer.producers.partition_by("row", as_dict=True)
    for wait in answer.waits.head(limit).iter_rows(named=True):
        cost_cells = f"{short(wait['stall_cycles_total'])}", f"{100 * wait['stall_share']:.1f} %"
        name = one_line(f"{_address(wait['address'])} {wait['text'] or ''}")
        name.stylize("bold")
        yield *cost_cells, f"{wait['execution_count']:,}", "", "", "", "", name, _place(wait)
        producers = by_wait.get((wait["row"],))
        yield from _producer_rows(producers.to_dicts() if producers is not None else [], wait["class"])


def _address(address: int | None) -> str:
    return "?" if address is None else f"{address:#x}"


def _producer_rows(producers: list[dict[str, Any]], reason: str) -> Iterator[tuple[str | Sentence, ...]]:
    if not producers:
        yield (
            *[""] * 7,
            sentence((f"  <- {'nothing in flight' if reason == 'wait for nothing' else 'not known'}", "dim")),
            "",
        )
    for edge in producers[:PRODUCERS_SHOWN]:
        text = f"  <- {edge['counter']} {_address(edge['producer_address'])} {edge['producer_text'] or ''}"
        if not edge["count"]:
            text += " (perhaps)"
        yield "", "", *_measures(edge), one_line(text), _place(edge, "producer_")
    if len(producers) > PRODUCERS_SHOWN:
        yield *[""] * 7, sentence((f"  showing {PRODUCERS_SHOWN} of {len(producers)} producers", "dim")), ""


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
        "-" if earlier is None else short(earlier),
    )


def _place(row: dict[str, Any], prefix: str = "") -> str:
    return brief_place(row[f"{prefix}file"], row[f"{prefix}line"])
