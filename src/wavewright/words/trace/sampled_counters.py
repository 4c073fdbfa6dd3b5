"""Counters in the trace and derived counters, in words."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from wavewright.analysis.trace.derived_counters import DerivedCounters
from wavewright.analysis.trace.derived_counters.sampled_counters import SampledCounters
from wavewright.base.shown import printable
from wavewright.model.blocks import GAP, AnyBlock, Sentence, Table, sentence
from wavewright.words.kit.charts import resampled
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.writers.terminal.bars import sparkline


def sampled_counters_report(
    counters: SampledCounters, derived: DerivedCounters, *, width: int = 100, limit: int = 20
) -> Iterator[AnyBlock]:
    """Totals and curves of counters, hardware utilization, and derived counters."""
    if not counters.totals.height:
        yield Sentence("no counters in this trace: capture with --att-perfcounters or --att-activity")
    else:
        yield _totals(counters, width=width, limit=limit)
        if not counters.names_are_known:
            unnamed = "  a raw trace does not name its counters: --counter-names A,B,... in the order of the capture"
            yield Sentence(unnamed)
    yield from table_below("trace/sampled_counters/hardware", counters.hardware)
    if derived.summary.height:
        yield GAP
        yield _derived(derived, width=width, limit=limit)
    for problem in derived.problems.iter_rows(named=True):
        place = f"line {problem['line']}, column {problem['column']}"
        yield sentence(("no value: ", "bold yellow"), f"{problem['name']}: {problem['message']} ({place})")


def _totals(counters: SampledCounters, *, width: int, limit: int) -> Table:
    curves = _curves(counters.curves, max(8, width - 64))  # 64 characters are for the other columns
    title = f"counters, one sample per CU every {counters.step_cycles:,} cycles"
    return declared_table(
        "trace/sampled_counters/totals",
        counters.totals,
        limit=limit,
        title=title,
        counter=lambda row: printable(row["name"])[:32],
        curve=lambda row: sparkline(curves.get(row["name"], [])),
    )


def _derived(derived: DerivedCounters, *, width: int, limit: int) -> Table:
    indexes = derived.curves["xcc"] + derived.curves["se"] + derived.curves["cu"]
    curves = _curves(derived.curves.filter(indexes == 0), max(8, width - 62))  # one CU stands for all
    return declared_table(
        "trace/sampled_counters/derived",
        derived.summary,
        limit=limit,
        derived=lambda row: printable(row["name"])[:24],
        curve=lambda row: sparkline(curves.get(row["name"], [])),
    )


def _curves(rows: pl.DataFrame, width: int) -> dict[str, list[float]]:
    """Name of a counter -> its means over time (`value_mean` of rows with its `name`) in at most `width` bins."""
    return {
        name: resampled([value or 0.0 for value in part["value_mean"].to_list()], width)
        for (name,), part in rows.partition_by("name", as_dict=True, maintain_order=True).items()
    }
