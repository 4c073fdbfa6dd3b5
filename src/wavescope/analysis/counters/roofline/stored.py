"""Work of kernels from rates that ROCm Compute Profiler stored in its analysis database instead of counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavescope.analysis.counters.choice import chosen_dispatches, ranked_kernels
from wavescope.analysis.counters.roofline.points import Work
from wavescope.errors import UsageError

if TYPE_CHECKING:
    from wavescope.analysis.counters.choice import CounterChoice
    from wavescope.model.counters import CounterSet

#: Ids of the metrics of its table of rates for the roofline; other panels have metrics of the same names.
_TABLE = "4.1."
_KINDS = {
    "VALU FLOPs (F16)": "VALU FP16",
    "VALU FLOPs (F32)": "VALU FP32",
    "VALU FLOPs (F64)": "VALU FP64",
    "MFMA FLOPs (F6F4)": "MFMA FP4/6",
    "MFMA FLOPs (F8)": "MFMA FP8",
    "MFMA FLOPs (F16)": "MFMA FP16",
    "MFMA FLOPs (BF16)": "MFMA BF16",
    "MFMA FLOPs (F32)": "MFMA FP32",
    "MFMA FLOPs (F64)": "MFMA FP64",
    "MFMA IOPs (Int8)": "MFMA INT8",
}
_LEVELS = {
    "HBM Bandwidth": "HBM",
    "L2 Cache Bandwidth": "L2",
    "L1 Cache Bandwidth": "L1",
    "LDS Bandwidth": "LDS",
}
_VALUES = ("Value", "Avg", "Average", "Mean")


def stored_rates(counters: CounterSet) -> pl.DataFrame:
    """The stored rates of kernels, in 10^9 per second; empty where counters are there, which tell more."""
    rows = counters.stored_metrics
    if counters.measured:
        return rows.clear()
    known = pl.col("name").is_in([*_KINDS, *_LEVELS]) & pl.col("metric_id").str.starts_with(_TABLE)
    return rows.filter(known & pl.col("kernel_name").is_not_null() & pl.col("statistic").is_in(_VALUES))


def stored_work(counters: CounterSet, rates: pl.DataFrame, *, choice: CounterChoice, by: str) -> list[Work]:
    """One per kernel, those with most time first: stored rates times the mean duration.

    Raises
    ------
    UsageError
        When dispatches are asked for, or the choice does not exist.
    """
    if by != "kernel":
        what = "this database has values of kernels, not of dispatches"
        raise UsageError(what, where=counters.path, advice="ask for points by kernel")
    values: dict[str, dict[str, float | None]] = {}
    for row in rates.iter_rows(named=True):
        values.setdefault(row["kernel_name"], {})[_KINDS.get(row["name"]) or _LEVELS[row["name"]]] = row["value"]
    names = set(chosen_dispatches(counters, choice)["kernel_name"])
    works = []
    for row in ranked_kernels(counters.dispatches).iter_rows(named=True):
        if row["kernel_name"] not in names:
            continue
        own = values.get(row["kernel_name"], {})
        time = row["duration_ns_mean"] or None
        done = {name: rate * time if rate is not None and time else None for name, rate in own.items()}
        why = "the database has no value for it" if time else "the database has no sound timestamps of it"
        reasons = {name: why for name in (*_KINDS.values(), *_LEVELS.values()) if done.get(name) is None}
        who = {name: row[name] for name in ("kernel", "kernel_name", "dispatch_count", "duration_share")}
        operations = {name: done.get(name) for name in _KINDS.values()}
        moved = {name: done.get(name) for name in _LEVELS.values()}
        works.append(Work({**who, "dispatch": None}, time, operations, moved, reasons))
    return works
