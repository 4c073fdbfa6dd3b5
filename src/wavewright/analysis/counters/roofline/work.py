"""Work of each kernel or dispatch: operations by precision and pipe, bytes by level of memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from wavewright.analysis.counters.choice import CounterChoice, chosen_dispatches, ranked_kernels
from wavewright.analysis.counters.engine.evaluate import evaluate
from wavewright.analysis.counters.engine.stored import is_stored, stored_metrics
from wavewright.analysis.counters.l2 import l2
from wavewright.analysis.counters.roofline.kinds import KINDS, LEVELS
from wavewright.analysis.counters.roofline.points import Work
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.facts.loader import packaged
from wavewright.facts.metrics.families import METRIC_TARGETS
from wavewright.facts.metrics.panels import formulas_of
from wavewright.model.counters import CounterSet

#: Ids of the metrics of the profiler's table of rates for the roofline; other panels have metrics of the same names.
_STORED_TABLE = "4.1."
_STORED = {kind.stored: name for name, kind in KINDS.items() if kind.stored}
_STORED |= {level.stored: name for name, level in LEVELS.items() if level.stored}
#: A target that has this formula counts operations by type; gfx908 has it, but not the counters.
_OPERATIONS = "valu_flops_f32"
_WITHOUT_COUNTERS = ("gfx908",)
#: Formulas; where one is zero, types of matrix instructions that were not counted were not executed.
_OTHER_MATRIX_INSTRUCTIONS: dict[str, str] = packaged("counters/roofline.toml")["other_matrix_instructions"]
#: Bytes from and to memory as the profiler derives them: all that captures of the old rocprof often have.
_DERIVED_HBM = {"HBM, derived": "1024 * (FETCH_SIZE + WRITE_SIZE)"}
_IDENTITY = ("kernel", "kernel_name", "dispatch", "dispatch_id", "dispatch_count", "duration_share")
_NEGATIVE = "the counters disagree: a difference of them is below zero, which happens when passes behave differently"


def formulas_for(target: str, *, amd: bool = False) -> dict[str, str]:
    """Name of a kind or level -> its formula on this GPU; what the GPU cannot do, or cannot count, has none."""
    if target not in METRIC_TARGETS:
        return {}
    named = formulas_of(target, amd=amd)
    formulas = {}
    if _tells_operations(target):
        rates = gpus.of(target).rates
        formulas = {name: named.get(kind.formula, kind.formula) for name, kind in KINDS.items() if kind.rate_of(rates)}
    return formulas | {name: named[level.formula] for name, level in LEVELS.items() if level.formula in named}


def work_of(counters: CounterSet, *, choice: CounterChoice, by: str, amd: bool) -> list[Work]:
    """One per kernel or dispatch, those with most time first."""
    rates = _stored_rates(counters)
    if rates:
        return _stored_work(counters, rates, choice=choice, by=by)
    target = (counters.system.target or "").split(":", 1)[0]
    formulas = formulas_for(target, amd=amd)
    is_derived = not amd and "HBM" in formulas
    more_formulas = (_OTHER_MATRIX_INSTRUCTIONS if formulas else {}) | (_DERIVED_HBM if is_derived else {})
    measured = evaluate(counters, formulas | more_formulas, by=by, choice=choice, amd=amd)
    memory_bytes = _memory_bytes(counters, choice) if is_derived and by == "kernel" else {}
    no_operations, no_bytes = _why_nothing(target)
    works = []
    for row in _with_shares(measured.frame, counters, by).iter_rows(named=True):
        counts, reasons = _counts(row, formulas, measured.reasons, memory_bytes.get(row["kernel_name"]))
        operations = {name: counts[name] for name in KINDS if name in formulas}
        moved = {name: counts.get(name) for name in LEVELS if name in formulas or name != "MALL"}
        reasons |= {name: no_bytes for name in moved if name not in formulas}
        identity = {name: row.get(name) for name in _IDENTITY}
        works.append(Work(identity, row["duration_ns_mean"] or None, operations, moved, reasons, no_operations))
    return works


def _with_shares(rows: pl.DataFrame, counters: CounterSet, by: str) -> pl.DataFrame:
    """Rows of `evaluate` with the share of time of each, dispatches with most time first."""
    total = pl.col("duration_ns_mean") * pl.col("dispatch_count")
    whole_ns = ranked_kernels(counters.dispatches).select(total.sum()).item() or None
    if by == "dispatch":
        shares = rows.with_columns(duration_share=total / whole_ns)
        return shares.sort("duration_ns_mean", descending=True, nulls_last=True, maintain_order=True)
    if not counters.run_times():
        return rows.with_columns(duration_share=total / whole_ns)
    shares = ranked_kernels(counters.dispatches, counters.run_times()).select("kernel_name", "duration_share")
    return rows.join(shares, on="kernel_name", how="left", maintain_order="left")


def _counts(
    row: dict[str, Any], formulas: Iterable[str], reasons: Mapping[str, str], memory_bytes: float | None
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Operations by kind and bytes by level of one row of `evaluate`, and the reasons of those that are not known.

    `memory_bytes` are those that `l2` counts by the sizes of requests; they are better than any formula.
    """
    counts, reasons = {name: row[name] for name in formulas}, dict(reasons)
    has_no_others = any(row.get(name) == 0 for name in _OTHER_MATRIX_INSTRUCTIONS)
    for name, count in counts.items():
        derived = row.get("HBM, derived") if count is None else None
        substitute = memory_bytes if memory_bytes is not None else derived
        if name == "HBM" and substitute is not None:
            counts[name] = substitute
            reasons.pop(name, None)
        elif count is None and has_no_others and name in KINDS and KINDS[name].pipe == "MFMA":
            counts[name] = 0.0
        elif count is None:
            reasons.setdefault(name, "not measured for it")
        elif count < 0:
            counts[name], reasons[name] = None, _NEGATIVE
    return counts, reasons


def _memory_bytes(counters: CounterSet, choice: CounterChoice) -> dict[str, float]:
    """Kernel name -> bytes from and to memory as `l2` has them, where it knows both."""
    tables = counters.tables | {"dispatches": chosen_dispatches(counters, choice)}
    rows = l2(replace(counters, tables=tables)).kernels
    total = pl.col("read_bytes_mean") + pl.col("write_bytes_mean")
    exact = rows.filter(pl.col("read_bytes_at_most").is_null())
    return dict(exact.select("kernel_name", total).drop_nulls().iter_rows())


def _stored_rates(counters: CounterSet) -> dict[str, dict[str, float | None]]:
    """Kernel name -> kind or level -> the stored rate, in 10^9 per second; empty = the capture has counters."""
    rates: dict[str, dict[str, float | None]] = {}
    for metric in stored_metrics(counters) if is_stored(counters) else ():
        name = _STORED.get(metric.name)
        is_rate = name and metric.metric_id.startswith(_STORED_TABLE) and "average" in metric.statistics
        if name and is_rate and metric.kernel_name is not None:
            rates.setdefault(metric.kernel_name, {})[name] = metric.statistics["average"]
    return rates


def _stored_work(
    counters: CounterSet, rates: dict[str, dict[str, float | None]], *, choice: CounterChoice, by: str
) -> list[Work]:
    """Stored rates times the mean duration, per kernel, those with most time first.

    Raises `UsageError` when dispatches are requested, or the choice does not exist.
    """
    if by != "kernel":
        message = "this database has values of kernels, not of dispatches"
        raise UsageError(message, where=counters.path, advice="ask for points by kernel")
    names = set(chosen_dispatches(counters, choice)["kernel_name"])
    works = []
    for row in ranked_kernels(counters.dispatches).iter_rows(named=True):
        if row["kernel_name"] not in names:
            continue
        duration_ns = row["duration_ns_mean"] or None
        amounts = {
            name: rate * duration_ns if rate is not None and duration_ns else None
            for name, rate in rates.get(row["kernel_name"], {}).items()
        }
        reason = "the database has no value for it" if duration_ns else "the database has no sound timestamps of it"
        operations = {name: amounts.get(name) for name in KINDS if KINDS[name].stored}
        moved = {name: amounts.get(name) for name in LEVELS if LEVELS[name].stored}
        reasons = {name: reason for name, amount in (operations | moved).items() if amount is None}
        identity = {name: row[name] for name in ("kernel", "kernel_name", "dispatch_count", "duration_share")}
        works.append(Work({**identity, "dispatch": None}, duration_ns, operations, moved, reasons))
    return works


def _tells_operations(target: str) -> bool:
    return target not in _WITHOUT_COUNTERS and _OPERATIONS in formulas_of(target)


def _why_nothing(target: str) -> tuple[str, str]:
    """Why operations, and why the bytes of some levels, cannot be counted on a GPU; empty = they can."""
    if not target:
        unknown = "the capture does not say the GPU: give its --target"
        return unknown, unknown
    if target not in METRIC_TARGETS:
        unknown = f"no formulas for the counters of {target} are known"
        return unknown, unknown
    operations = "" if _tells_operations(target) else f"no counters of {target} tell operations"
    return operations, f"no counters of {target} tell its bytes"
