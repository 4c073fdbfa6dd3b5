"""The tables of AMD's `rocpd summary`: the same names, columns and units, from any run."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from wavewright.analysis.run.contents.summary import PartialSummary
from wavewright.analysis.run.measures.statistics import Statistics, described, merged, merged_packed

_KEYS = ("domain", "name")
#: Column -> its name in AMD's tables.
_COLUMNS = {
    "name": "Name", "calls": "Calls", "total_ns": "DURATION (nsec)", "mean_ns": "AVERAGE (nsec)",
    "percent": "PERCENT (INC)", "min_ns": "MIN (nsec)", "max_ns": "MAX (nsec)", "stddev_ns": "STD_DEV",
}  # fmt: skip
#: Table -> its domains; every other domain has a table of the same name.
_VIEWS = {
    "kernels": ("KERNEL",),
    "memory_copies": ("COPY",),
    "memory_allocations": ("ALLOCATION", "SCRATCH"),
    "scratch_memory": ("SCRATCH",),
    "markers": ("MARKER",),
}


def rocpd_summary(partials: Sequence[PartialSummary]) -> dict[str, pl.DataFrame]:
    """Tables by the name of their file (`kernels_summary`, ...), of ungrouped summaries; only tables with rows.

    Allocations are by type, as there: those of scratch memory are in two tables.
    """
    statistics = merged_packed([part.statistics for part in partials], _KEYS)
    with_view = {domain for domains in _VIEWS.values() for domain in domains}
    others = sorted(set(statistics.sums["domain"]) - with_view)
    views = _VIEWS | {name: (name,) for name in others}
    tables = {f"{view}_summary": _table(statistics, domains) for view, domains in views.items()}
    return {name: table for name, table in tables.items() if table.height}


def _table(statistics: Statistics, domains: tuple[str, ...]) -> pl.DataFrame:
    is_allocation = "SCRATCH" in domains
    name = pl.col("name").str.split(" ").list.first() if is_allocation else pl.col("name")
    chosen = statistics.sums.filter(pl.col("domain").is_in(domains)).with_columns(name=name)
    rows = described(merged([_part(statistics, chosen)], ("name",)))
    percent = 100 * pl.col("total_ns") / pl.col("total_ns").sum().replace(0, None)
    ordered = rows.sort(-pl.col("total_ns"), "name", nulls_last=True).with_columns(percent=percent)
    return ordered.select(pl.col(name).alias(theirs) for name, theirs in _COLUMNS.items())


def _part(statistics: Statistics, chosen: pl.DataFrame) -> Statistics:
    """Some of the groups, renumbered."""
    numbers = chosen.select("group").with_row_index("number")
    values = statistics.values.join(numbers, on="group", maintain_order="left").with_columns(group="number")
    sums = chosen.drop("group").with_row_index("group")
    return Statistics(_KEYS, sums, values.select(statistics.values.columns))
