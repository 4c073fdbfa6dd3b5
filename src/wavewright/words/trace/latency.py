"""Memory latency in words: how long operations take, how much of it is hidden, and the bytes that they request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.trace.memory_latency import MemoryLatency
from wavewright.analysis.trace.memory_latency.beyond_trace import counter_command
from wavewright.base.shown import printable
from wavewright.base.words import counted, percent, short
from wavewright.model.blocks import GAP, AnyBlock, Cell, Drawn, Grid, GridColumn, Named, Part, Sentence, sentence
from wavewright.words.kit.declared_tables import legend, table_below
from wavewright.words.kit.frame_tables import hexadecimal
from wavewright.words.trace.listing.measures import WIDE
from wavewright.writers.terminal.bars import sparkline

_BAR_CELLS, _NARROW_BAR_CELLS = 30, 16  #: Characters of a bar of exposure.
_NARROW_BYTES = 4  #: Accesses to memory below this width per lane are named.
_LEAST_NARROW_ROWS = 2  #: A single narrow instruction is not worth a sentence.
_SHOWN_NEIGHBOURS = 3  #: Groups of accesses at consecutive offsets.
_PLURALS = {"load": "loads", "store": "stores", "atomic": "atomics", "load to LDS": "loads to LDS"}


def latency_report(answer: MemoryLatency, *, limit: int, width: int = WIDE) -> Iterator[AnyBlock]:
    """A verdict, the operations with their latencies, what counters in the trace say, and the requested bytes."""
    if answer.by_row.height:
        yield _verdict(answer)
        yield GAP
        yield _exposure(answer, width)
        title = f"latency from issue to the end of the wait; bins of {answer.bin_cycles:,} cycles"
        cells: dict[str, Any] = {"mean": _mean_cell, "distribution": _distribution}
        yield from table_below("trace/latency/rows", answer.by_row, limit=limit, title=title, **cells)
        yield legend("trace/latency/rows")
        title = f"from counters sampled every {answer.counter_interval_cycles} cycles"
        yield from table_below("trace/latency/counters", answer.from_counters, limit=limit, title=title)
    else:
        yield Sentence("no memory operation was waited for")
    if answer.traffic.height:
        yield from _traffic(answer)


def _verdict(answer: MemoryLatency) -> Sentence:
    tight = answer.by_row.filter(~answer.by_row["is_bound"])
    text = f"{answer.by_row.height:,} memory operations were waited for; "
    if not tight.height:
        return Sentence(f"{text}none of them ended a wait alone: all latencies are upper bounds")
    row = tight.row(0, named=True)
    low, high = short(row["latency_cycles_p50"]), short(row["latency_cycles_p95"])
    takes = f" takes {low} cycles (95 % within {high})"
    return sentence(f"{text}the costliest with exact samples: ", (row["text"] or "?", "bold"), takes)


def _exposure(answer: MemoryLatency, width: int) -> Grid:
    """The waves' time by part: how long, and how much of it nothing hid."""
    bar_cells = _BAR_CELLS if width >= WIDE else _NARROW_BAR_CELLS
    rows = []
    for part, total, hidden, exposed, share in answer.exposure.iter_rows():
        cells = round(bar_cells * share)
        bars = Cell.of(Drawn("█" * cells, "#D55E00"), Drawn("░" * (bar_cells - cells), "#999999"))
        label = f"{short(exposed)} exposed ({percent(share, 0)} of them), {short(hidden)} hidden"
        rows.append((part, short(total), bars if total else "", label))
    columns = (GridColumn("bold", is_number=True), GridColumn(is_number=True), GridColumn(), GridColumn())
    return Grid(tuple(rows), columns, gap=2)


def _mean_cell(row: dict[str, Any]) -> str:
    value = row["latency_cycles_mean"]
    return "-" if value is None else ("<= " if row["is_bound"] else "") + short(value)


def _distribution(row: dict[str, Any]) -> str:
    """Three bins at a time: a line has less room than a page."""
    counts = row["distribution"]
    return sparkline([sum(counts[at : at + 3]) for at in range(0, len(counts), 3)])


def _traffic(answer: MemoryLatency) -> Iterator[AnyBlock]:
    """The requested bytes, sentences about narrow accesses, and what only counters tell."""
    lanes = f"{answer.lane_count} active lanes per wave" if answer.lane_count else "lanes per wave not known"
    title = f"requested at most ({lanes}); per cycle of a traced {answer.traced_unit}"
    memory = lambda row: "LDS" if row["space"] == "lds" else row["space"]  # noqa: E731
    yield from table_below("trace/latency/traffic", answer.traffic, title=title, memory=memory, width=_width)
    yield from _narrow(answer.traffic)
    yield from _wider(answer.neighbours)
    yield _untold(answer.target)


def _narrow(traffic: pl.DataFrame) -> Iterator[Sentence]:
    """Accesses to memory of less than four bytes per lane, in words."""
    is_narrow = (pl.col("bytes_per_lane") < _NARROW_BYTES) & (pl.col("row_count") >= _LEAST_NARROW_ROWS)
    outside = traffic.filter(is_narrow & pl.col("space").is_in(["memory", "flat", "scratch"]))
    parts = [
        f"{row['row_count']:,} {_PLURALS[row['direction']]} of {counted(row['bytes_per_lane'], 'bytes')} per lane"
        for row in outside.iter_rows(named=True)
    ]
    if parts:
        possible = "up to 16 bytes per lane are possible where the data of a lane is contiguous"
        yield Sentence(f"narrow: {', '.join(parts)}; {possible}")


def _wider(neighbours: pl.DataFrame) -> Iterator[Sentence]:
    """Accesses at consecutive offsets that fewer and wider ones could replace, in words."""
    for row in neighbours.head(_SHOWN_NEIGHBOURS).iter_rows(named=True):
        accesses = f"{row['access_count']:,} {_PLURALS[row['direction']]} of {counted(row['bytes_per_lane'], 'bytes')}"
        yield sentence(
            f"{accesses} per lane from ",
            Named(hexadecimal(row["address"]), "i"),
            f" on are at consecutive offsets of one address: {row['wide_count']:,} of up to 16 bytes would do, if the"
            " address is aligned",
        )


def _untold(target: str | None) -> Sentence:
    """Facts that a trace cannot tell, and the way to learn them."""
    told_by: list[Part]
    counters = counter_command(target)
    if counters is not None:
        told_by = [(f"{', '.join(counters.questions)}: ", "dim"), (printable(counters.command), "bold dim")]
    elif target is None:
        command = "wavewright counters --plan --panel l1 --panel l2 --panel lds"
        told_by = [("more: ", "dim"), (command, "bold dim"), (" and --target with the name of the GPU", "dim")]
    else:
        told_by = [(f"more, but wavewright has no metrics of {printable(target)}", "dim")]
    return sentence(("a trace has no addresses of lanes, and no cache hits; counters tell ", "dim"), *told_by)


def _width(row: dict[str, Any]) -> str:
    if row["bytes_per_lane"] is None:
        return "?"
    return f"{row['bytes_per_lane']}/wave" if row["space"] == "scalar" else str(row["bytes_per_lane"])
