"""Memory latency and traffic in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.trace.memory_latency.beyond_trace import counter_command
from wavewright.base.shown import printable
from wavewright.base.words import counted, percent, short
from wavewright.model.blocks import GAP, AnyBlock, Cell, Drawn, Grid, GridColumn, Named, Part, Sentence, sentence
from wavewright.words.kit.frame_tables import Column, frame_table, hexadecimal
from wavewright.words.trace.listing.measures import WIDE
from wavewright.words.trace.row_columns import ADDRESS, INSTRUCTION, SOURCE
from wavewright.writers.terminal.bars import sparkline

if TYPE_CHECKING:
    from wavewright.analysis.trace.memory_latency import MemoryLatency

_BAR_CELLS = 30
_NARROW_BAR_CELLS = 16


def latency_report(answer: MemoryLatency, *, limit: int, width: int = WIDE) -> list[AnyBlock]:
    """A verdict, the operations with their latencies, what counters in the trace say, and the requested bytes."""
    if not answer.by_row.height:
        return [Sentence("no memory operation was waited for"), *traffic_report(answer)]
    title = f"latency from issue to the end of the wait; bins of {answer.bin_cycles:,} cycles"
    parts: list[AnyBlock] = [_verdict(answer), GAP, _exposure(answer, width), GAP]
    columns = _ROWS if answer.by_row["file"].count() else _ROWS[:-1]
    parts.append(frame_table(answer.by_row, columns, limit=limit, what="memory operations", title=title))
    parts.append(sentence((_LEGEND, "dim")))
    if answer.from_counters.height:
        title = f"from counters sampled every {answer.counter_interval_cycles} cycles"
        table = frame_table(answer.from_counters, _COUNTERS, limit=limit, what="memory operations", title=title)
        parts += [GAP, table]
    return [*parts, *traffic_report(answer)]


_LEGEND = (
    "tight: of the samples those whose latency is exact, because the operation was what ended a wait; rows with <="
    " have none: the wait ended for something younger, or had nothing left to wait for; bytes: of one lane, of a scalar"
    " load of the wave"
)


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


_ROWS = (
    Column("mean", lambda row: _bound(row, "mean")),
    Column("sd", lambda row: short(row["latency_cycles_sd"]), is_wide=True),
    Column("min", lambda row: short(row["latency_cycles_min"]), is_wide=True),
    Column("p50", lambda row: short(row["latency_cycles_p50"]), is_wide=True),
    Column("p95", lambda row: short(row["latency_cycles_p95"])),
    Column("distribution", _distribution, is_text=True, is_fixed=True, is_wide=True, is_drawn=True),
    Column("tight", lambda row: short(row["tight_count"])),
    Column("of", lambda row: short(row["sample_count"]), is_wide=True),
    Column("kind", lambda row: row["kind"], is_text=True, is_fixed=True, is_wide=True),
    Column("bytes", lambda row: "" if row["bytes_per_lane"] is None else str(row["bytes_per_lane"])),
    ADDRESS,
    INSTRUCTION,
    SOURCE,
)
_COUNTERS = (
    Column("mean", lambda row: short(row["latency_cycles_mean"])),
    Column("+-", lambda row: short(row["error_cycles"])),
    Column("sd", lambda row: short(row["latency_cycles_sd"])),
    Column("samples", lambda row: short(row["sample_count"])),
    Column("counter", lambda row: row["counter"], is_text=True, is_name=True),
    INSTRUCTION,
    SOURCE,
)


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
    table = frame_table(answer.traffic, _COLUMNS, limit=None, what="kinds of access", title=title)
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


def _amount(name: str, digits: int | None) -> Any:
    def cell(row: dict[str, Any]) -> str:
        if row[name] is None:
            return "-"
        return short(row[name]) if digits is None else f"{row[name]:,.{digits}f}"

    return cell


_COLUMNS = (
    Column("memory", lambda row: _NAMES[row["space"]], is_text=True, is_fixed=True),
    Column("", lambda row: row["direction"], is_text=True, is_fixed=True),
    Column("bytes/lane", lambda row: _width(row)),
    Column("instructions", lambda row: f"{row['row_count']:,}"),
    Column("hits", lambda row: short(row["execution_count"])),
    Column("bytes/wave", _amount("requested_bytes_per_wave", None)),
    Column("bytes/cycle", _amount("requested_bytes_per_cycle", 2)),
)


def _width(row: dict[str, Any]) -> str:
    if row["bytes_per_lane"] is None:
        return "?"
    return f"{row['bytes_per_lane']}/wave" if row["space"] == "scalar" else str(row["bytes_per_lane"])
