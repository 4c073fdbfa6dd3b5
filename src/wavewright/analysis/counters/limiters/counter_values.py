"""Quantities of every kernel from its counters: by formulas of the panels and our own, or as a profiler derived them.

The metrics engine evaluates the formulas. Counters that rocprofv3 derives itself (MemUnitBusy, VALUBusy, ...) stand in
for quantities that are the same number and could not be computed from counters of the hardware.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from wavewright.analysis.counters.engine import evaluate as engine
from wavewright.analysis.counters.engine.quantities import CYCLES
from wavewright.analysis.counters.engine.stored import stored_metrics
from wavewright.analysis.counters.limiters.evidence import EvidenceValue, QuantityValues
from wavewright.facts.counters.limiters import QUANTITIES, Quantity
from wavewright.facts.loader import Fact, decoded, packaged
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.metric import Metric, metrics_in
from wavewright.facts.metrics.panels import formula_of, panels_of
from wavewright.model.counters import CounterSet

#: Busy cycles over those of the kernel's duration at the highest clock; from this on, some are not the kernel's own.
DILUTED_FROM = 1.2
_PEAK = " peak"  #: Suffix of the name of a quantity for the column of its peak; no name has a space.
_FALLBACK = " fallback"  #: Suffix for the column of the same quantity from other counters.
_PART, _WHOLE = " part", " whole"  #: Suffixes for the columns of the counters that it is the quotient of.
_SHARE = re.compile(r"100 \* (\w+) / (\w+)")  #: A formula that is one counter over another, in percent.


@dataclass(frozen=True)
class Formula:
    """The formula of one quantity on one target."""

    quantity: Quantity
    text: str  #: Empty = the target has none.
    peak: str
    metric: Metric | None
    fallback: str = ""  #: The same in percent, from other counters, where `text` cannot be computed.

    @property
    def is_share(self) -> bool:
        """True if the quantity is the metric's share of its peak."""
        if self.metric is None:
            return False
        return self.quantity.of_peak or (self.quantity.unit == "%" and not self.metric.unit.startswith("%"))

    @property
    def metric_id(self) -> str:
        """Id of its metric; empty = a formula of ours."""
        return self.metric.id if self.metric else ""

    @property
    def level(self) -> str:
        """Level counter whose pass it reads; empty = none."""
        return self.metric.level if self.metric else ""

    @property
    def is_per_cycle(self) -> bool:
        """True if it is divided by the cycles that the GPU was busy."""
        return self.quantity.name != "clock" and "busy_cycles" in (parse(self.text).quantities if self.text else ())

    @property
    def parts(self) -> tuple[str, str] | None:
        """The two counters whose quotient it is, where they are worth showing."""
        share = _SHARE.fullmatch(self.text) if self.quantity.counts else None
        return (share[1], share[2]) if share else None

    @property
    def counters(self) -> tuple[str, ...]:
        """Counters that it needs."""
        if not self.text:
            return ()
        parsed = parse(self.text)
        others = (CYCLES[name] for name in parsed.quantities if name in CYCLES)
        return tuple(dict.fromkeys((*parsed.counters, *((self.level,) if self.level else ()), *others)))


def formulas_of_quantities(target: str | None) -> dict[str, Formula]:
    """Quantity -> how it is computed on this target; only those that have a formula somewhere."""
    metrics = {(table.id, metric.name): metric for table, metric in metrics_in(panels_of(target or ""))}
    countable = {name for metric in metrics.values() if metric.formula for name in parse(metric.formula).counters}
    formulas = {}
    is_cdna = (target or "").startswith("gfx9")
    for quantity in QUANTITIES.values():
        named = quantity.on_rdna if quantity.on_rdna[0] and not is_cdna else quantity.metric
        if named[0]:
            metric = metrics.get(named)
            text = (metric.formula or "") if metric else ""
            peak = (metric.peak or "") if metric else ""
            formula = Formula(quantity, text, peak, metric, quantity.formula if is_cdna else "")
            formulas[quantity.name] = replace(formula, text="") if formula.is_share and not peak else formula
        elif quantity.formula or quantity.named:
            text = quantity.formula or (formula_of(target, quantity.named) if target and is_cdna else "") or ""
            text = text if text and set(parse(text).counters) <= countable else ""
            formulas[quantity.name] = Formula(quantity, text, "", None)
    return formulas


@dataclass(frozen=True)
class MeasuredValues:
    """Values by kernel and quantity."""

    by_kernel: dict[str | None, QuantityValues] = field(hash=False)
    without: QuantityValues = field(hash=False)  #: What a kernel without any value has.

    def of(self, kernel_name: str | None) -> QuantityValues:
        """All quantities of one kernel."""
        return self.by_kernel.get(kernel_name, self.without)

    def lacking(self, kernel_name: str | None, *quantities: str) -> EvidenceValue:
        """The missing counters of these quantities, as one value without a number."""
        values = self.of(kernel_name)
        several = [values[name] for name in quantities if name in values]
        missing = tuple(dict.fromkeys(counter for value in several for counter in value.missing))
        reason = next((value.reason for value in several if value.missing), "")
        identity = next((value.metric_id for value in sorted(several, key=lambda value: not value.missing)), "")
        return EvidenceValue("memory_bandwidth", None, identity, missing=missing, reason=reason)


def measured_values(counters: CounterSet) -> MeasuredValues:
    """Every quantity that has a formula, of every kernel."""
    target = counters.system.target
    formulas = formulas_of_quantities(target)
    split_reasons = {name: _of_two_passes(counters, formula) for name, formula in formulas.items()}
    usable = {name: formula for name, formula in formulas.items() if formula.text and not split_reasons[name]}
    formula_by_column = {name: engine.Formula(formula.text, formula.level) for name, formula in usable.items()}
    for name, formula in usable.items():
        part, whole = formula.parts or ("", "")
        texts = {_PEAK: formula.peak, _FALLBACK: formula.fallback, _PART: part, _WHOLE: whole}
        formula_by_column |= {name + suffix: engine.Formula(text) for suffix, text in texts.items() if text}
    answer = engine.evaluate(counters, formula_by_column)
    collected = set(counters.counters["counter"].to_list())
    reasons = answer.reasons | {name: reason for name, reason in split_reasons.items() if reason}
    without = {name: _unknown(formula, collected, reasons, target) for name, formula in formulas.items()}
    by_kernel: dict[str | None, QuantityValues] = {}
    for row in answer.frame.iter_rows(named=True):
        diluted = (row.get("clock") or 0.0) / 100
        values = {name: _value(formula, row, without[name], diluted) for name, formula in formulas.items()}
        by_kernel[row["kernel_name"]] = values
    return MeasuredValues(_with_stored(by_kernel, counters, formulas), without)


def _of_two_passes(counters: CounterSet, formula: Formula) -> str:
    """The reason that different executions do not tell a quantity; empty = one does, or counters are missing."""
    measured_rows = counters.counters.filter(pl.col("counter").is_in(formula.counters)).unique(["pass", "counter"])
    if not formula.quantity.of_one_pass or measured_rows["counter"].n_unique() < len(formula.counters):
        return ""
    passes = measured_rows.group_by("pass").len().join(counters.passes, on="pass")
    is_told = passes.select(((pl.col("len") == len(formula.counters)) | pl.col("is_joined")).any()).item()
    return "" if is_told else "its counters are of different passes, whose executions may differ"


def _value(formula: Formula, row: dict[str, Any], unknown: EvidenceValue, diluted: float) -> EvidenceValue:
    """`diluted`: how many times longer the GPU was busy than the kernel ran; shares of its cycles are lower bounds."""
    name = formula.quantity.name
    amount = row.get(name)
    if amount is None and row.get(name + _FALLBACK) is not None:
        fallback = Formula(formula.quantity, formula.fallback, "", None)
        return _value(fallback, row | {name: row[name + _FALLBACK]}, unknown, diluted)
    if amount is None:
        return unknown
    identity = formula.metric_id
    if not formula.is_share:
        most = _diluted_most(formula, amount, diluted)
        if formula.parts:
            part, whole, unit = row.get(name + _PART), row.get(name + _WHOLE), formula.quantity.counts
            return EvidenceValue(name, amount, identity, amount=part, amount_unit=unit, peak=whole, at_most=most)
        return EvidenceValue(name, amount, identity, at_most=most, peak=row.get(name + _PEAK))
    peak = row.get(name + _PEAK)
    if not peak:
        return EvidenceValue(name, None, identity, reason="its peak is not known here")
    unit = formula.metric.unit if formula.metric else ""
    share = 100 * amount / peak
    most = _diluted_most(formula, share, diluted)
    return EvidenceValue(name, share, identity, amount=amount, amount_unit=unit, peak=peak, at_most=most)


def _diluted_most(formula: Formula, number: float, dilution: float) -> float | None:
    """The most that a share of busy cycles can be, where some of these are not the kernel's; None = it is exact."""
    if not formula.is_per_cycle or dilution < DILUTED_FROM:
        return None
    return min(number * dilution, max(number, 100.0)) if formula.quantity.is_bounded else number * dilution


def _unknown(formula: Formula, collected: set[str], reasons: dict[str, str], target: str | None) -> EvidenceValue:
    """The value of a kernel that has none, with the reason."""
    name, identity = formula.quantity.name, formula.metric_id
    if not target:
        return EvidenceValue(name, None, reason="the GPU is not known (--target)")
    if not formula.text:
        return EvidenceValue(name, None, identity, reason=f"{target} has no counters for it", exists=False)
    missing = tuple(counter for counter in formula.counters if counter not in collected)
    reason = reasons.get(name) or reasons.get(name + _PEAK) or "no dispatch of this kernel has a value"
    return EvidenceValue(name, None, identity, missing=missing, reason=reason)


def _with_stored(
    by_kernel: dict[str | None, QuantityValues], counters: CounterSet, formulas: dict[str, Formula]
) -> dict[str | None, QuantityValues]:
    """Averages that another tool stored stand in for counters that a capture does not have."""
    stored: dict[str | None, dict[tuple[str, str], dict[str, float]]] = {}
    for metric in stored_metrics(counters):
        table = ".".join(metric.metric_id.split(".")[:2])
        values = {name: value for name, value in metric.statistics.items() if value is not None}
        if values:
            stored.setdefault(metric.kernel_name, {})[table, _plain(metric.name)] = values
    for name, metrics in stored.items():
        values_of_kernel = dict(by_kernel.get(name, {}))
        for quantity, formula in formulas.items():
            if quantity in values_of_kernel and values_of_kernel[quantity].is_measured:
                continue
            table, metric_name = formula.quantity.metric
            value = _stored(metrics.get((table, _plain(metric_name)), {}), formula)
            if value is not None:
                values_of_kernel[quantity] = value
        by_kernel[name] = values_of_kernel
    return by_kernel


def _stored(statistics: dict[str, float], formula: Formula) -> EvidenceValue | None:
    average, peak = statistics.get("average"), statistics.get("peak")
    if average is None or not formula.quantity.metric[0]:
        return None
    name, identity = formula.quantity.name, formula.metric_id
    if not formula.is_share:
        return EvidenceValue(name, average, identity, peak=peak)
    if not peak:
        return None
    unit = formula.metric.unit if formula.metric else ""
    return EvidenceValue(name, 100 * average / peak, identity, amount=average, amount_unit=unit, peak=peak)


def _plain(text: str | None) -> str:
    return (text or "").casefold().strip()


class Derived(Fact, frozen=True):
    """One derived counter, and the quantity that it is."""

    counter: str
    quantity: str
    family: str = ""  #: How the names of its targets begin; empty = it means the same on all targets.
    factor: float = 1.0
    total: str = ""  #: Fact of the system that it is a share of; empty = it is a share already.


_FILE = "counters/profiler_counters.toml"
_DERIVED = decoded(packaged(_FILE)["derived"], tuple[Derived, ...], where=_FILE)


def derived_values(counters: CounterSet) -> dict[str | None, QuantityValues]:
    """Kernel -> quantity -> its value, the mean over dispatches, which weigh as long as they took.

    Counters whose meaning depends on the family of the GPU are left out where the GPU is not known, unless they are 0.
    """
    target = counters.system.target or ""
    by_kernel: dict[str | None, QuantityValues] = {}
    for derived in _DERIVED:
        if target and not target.startswith(derived.family):
            continue
        for kernel, value in _means(counters, derived.counter):
            if derived.family and not target and value:
                continue
            total = getattr(counters.system, derived.total) if derived.total else 1.0
            if not total:
                continue
            number = derived.factor * value / total
            evidence = EvidenceValue(derived.quantity, number, source=derived.counter)
            by_kernel.setdefault(kernel, {}).setdefault(derived.quantity, evidence)
    return by_kernel


def with_derived(values: QuantityValues, derived: QuantityValues | None) -> QuantityValues:
    """The values of a kernel with those that only the profiler has."""
    missing = {
        name: value
        for name, value in (derived or {}).items()
        if value.is_measured and not (name in values and values[name].is_measured)
    }
    return values | missing


def _means(counters: CounterSet, counter: str) -> Iterator[tuple[str | None, float]]:
    """Kernel and mean of a ratio, of the first pass that has it."""
    frame = next((frame for frame in counters.measured.values() if counter in frame.columns), None)
    if frame is None:
        return
    weight = (pl.col("end_ns") - pl.col("start_ns")).clip(lower_bound=0)
    about = counters.dispatches.select("dispatch", "kernel_name", weight=weight)
    values = frame.select("dispatch", value=pl.col(counter)).drop_nulls()
    rows = values.join(about, on="dispatch", maintain_order="left")
    has_weights = pl.col("weight").is_not_null().all() & (pl.col("weight").sum() > 0)
    weighted = (pl.col("value") * pl.col("weight")).sum() / pl.col("weight").sum()
    mean = pl.when(has_weights).then(weighted).otherwise(pl.col("value").mean())
    yield from rows.group_by("kernel_name", maintain_order=True).agg(mean=mean).iter_rows()
