"""Memory latency in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.base.words import percent, short
from wavewright.model.blocks import GAP, AnyBlock, Cell, Drawn, Grid, GridColumn, Sentence, sentence
from wavewright.words.kit.frame_tables import Column, frame_table
from wavewright.words.trace.listing.measures import WIDE
from wavewright.words.trace.row_columns import ADDRESS, INSTRUCTION, SOURCE
from wavewright.words.trace.traffic import traffic_report
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
        label = f"{short(exposed)} exposed ({percent(share, 0)}), {short(hidden)} hidden"
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
