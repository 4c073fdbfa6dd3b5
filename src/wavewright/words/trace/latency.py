"""Memory latency and traffic in words."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.trace.memory_latency import MemoryLatency
from wavewright.analysis.trace.memory_latency.beyond_trace import counter_command
from wavewright.base.shown import printable
from wavewright.base.words import counted, percent, short
from wavewright.model.blocks import GAP, AnyBlock, Cell, Drawn, Grid, GridColumn, Named, Part, Sentence, sentence
from wavewright.words.kit.declared_tables import declared_table, legend
from wavewright.words.kit.frame_tables import hexadecimal
from wavewright.words.trace.listing.measures import WIDE
from wavewright.writers.terminal.bars import sparkline

_BAR_CELLS = 30
_NARROW_BAR_CELLS = 16


def latency_report(answer: MemoryLatency, *, limit: int, width: int = WIDE) -> list[AnyBlock]:
    """A verdict, the operations with their latencies, what counters in the trace say, and the requested bytes."""
    if not answer.by_row.height:
        return [Sentence("no memory operation was waited for"), *traffic_report(answer)]
    title = f"latency from issue to the end of the wait; bins of {answer.bin_cycles:,} cycles"
    parts: list[AnyBlock] = [_verdict(answer), GAP, _exposure(answer, width), GAP]
    mean = lambda row: _bound(row, "mean")  # noqa: E731
    parts.append(
        declared_table(
            "trace/latency/rows", answer.by_row, limit=limit, title=title, mean=mean, distribution=_distribution
        )
    )
    parts.append(legend("trace/latency/rows"))
    if answer.from_counters.height:
        title = f"from counters sampled every {answer.counter_interval_cycles} cycles"
        table = declared_table("trace/latency/counters", answer.from_counters, limit=limit, title=title)
        parts += [GAP, table]
    return [*parts, *traffic_report(answer)]


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


def _bound(row: dict[str, Any], name: str) -> str:
    value = row[f"latency_cycles_{name}"]
    return "-" if value is None else ("<= " if row["is_bound"] else "") + short(value)


def _distribution(row: dict[str, Any]) -> str:
    """Three bins at a time: a line has less room than a page."""
    counts = row["distribution"]
    return sparkline([sum(counts[at : at + 3]) for at in range(0, len(counts), 3)])


_NARROW_BYTES = 4  #: Accesses to memory below this width per lane are named.
_MANY = 2  #: Narrow instructions from which on they are worth a sentence.
_SHOWN_NEIGHBOURS = 3
_NAMES = {"memory": "memory", "flat": "flat", "scratch": "scratch", "lds": "LDS", "scalar": "scalar"}
_PLURALS = {"load": "loads", "store": "stores", "atomic": "atomics", "load to LDS": "loads to LDS"}


def traffic_report(answer: MemoryLatency) -> list[AnyBlock]:
    """The requested bytes, sentences about narrow accesses, and what only counters tell."""
    if not answer.traffic.height:
        return []
    lanes = f"{answer.lane_count} active lanes per wave" if answer.lane_count else "lanes per wave not known"
    title = f"requested at most ({lanes}); per cycle of a traced {answer.traced_unit}"
    table = declared_table(
        "trace/latency/traffic",
        answer.traffic,
        title=title,
        memory=lambda row: _NAMES[row["space"]],
        width=_width,
    )
    return [GAP, table, *_narrow(answer.traffic), *_wider(answer.neighbours), _untold(answer.target)]


def _narrow(traffic: pl.DataFrame) -> list[Sentence]:
    """Accesses to memory of less than four bytes per lane, in words."""
    is_narrow = (pl.col("bytes_per_lane") < _NARROW_BYTES) & (pl.col("row_count") >= _MANY)
    outside = traffic.filter(is_narrow & pl.col("space").is_in(["memory", "flat", "scratch"]))
    parts = [
        f"{row['row_count']:,} {_PLURALS[row['direction']]} of {counted(row['bytes_per_lane'], 'bytes')} per lane"
        for row in outside.iter_rows(named=True)
    ]
    if not parts:
        return []
    possible = "up to 16 bytes per lane are possible where the data of a lane is contiguous"
    return [Sentence(f"narrow: {', '.join(parts)}; {possible}")]


def _wider(neighbours: pl.DataFrame) -> list[Sentence]:
    """Neighbouring accesses, in words."""
    return [
        sentence(
            f"{row['access_count']:,} {_PLURALS[row['direction']]} of {counted(row['bytes_per_lane'], 'bytes')}"
            " per lane from ",
            Named(hexadecimal(row["address"]), "i"),
            f" on are at consecutive offsets of one address: {row['wide_count']:,} of up to 16 bytes would do, if the"
            " address is aligned",
        )
        for row in neighbours.head(_SHOWN_NEIGHBOURS).iter_rows(named=True)
    ]


def _untold(target: str | None) -> Sentence:
    """Facts that a trace cannot tell, and the way to learn them."""
    more: list[Part]
    counters = counter_command(target)
    if counters is not None:
        more = [(f"{', '.join(counters.questions)}: ", "dim"), (printable(counters.command), "bold dim")]
    elif target is None:
        command = "wavewright counters --plan --panel l1 --panel l2 --panel lds"
        more = [("more: ", "dim"), (command, "bold dim"), (" and --target with the name of the GPU", "dim")]
    else:
        more = [(f"more, but wavewright has no metrics of {printable(target)}", "dim")]
    return sentence(("a trace has no addresses of lanes, and no cache hits; counters tell ", "dim"), *more)


def _width(row: dict[str, Any]) -> str:
    if row["bytes_per_lane"] is None:
        return "?"
    return f"{row['bytes_per_lane']}/wave" if row["space"] == "scalar" else str(row["bytes_per_lane"])
