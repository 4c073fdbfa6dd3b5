"""Counters that rocprofv3 derives itself (MemUnitBusy, VALUBusy, ...) as quantities of kernels.

A counter stands in for a quantity that could not be computed from counters of the hardware, where it is the same
number.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from wavewright.analysis.counters.limiters.evidence import EvidenceValue
from wavewright.facts.loader import Fact, decoded, packaged
from wavewright.model.counters import CounterSet


class Derived(Fact, frozen=True):
    """One derived counter, and the quantity that it is."""

    counter: str
    quantity: str
    family: str = ""  #: How its targets begin; empty = the meaning is the same on all.
    factor: float = 1.0
    total: str = ""  #: Fact of the system that it is a share of; empty = it is a share already.


_FILE = "counters/profiler_counters.toml"
_DERIVED = decoded(packaged(_FILE)["derived"], tuple[Derived, ...], where=_FILE)


def derived_values(counters: CounterSet) -> dict[str | None, dict[str, EvidenceValue]]:
    """Kernel -> quantity -> its value, the mean over dispatches, which weigh as long as they took.

    Counters whose meaning depends on the family of the GPU are left out where the GPU is not known, unless they are 0.
    """
    target = counters.system.target or ""
    by_kernel: dict[str | None, dict[str, EvidenceValue]] = {}
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


def with_derived(
    values: dict[str, EvidenceValue], derived: dict[str, EvidenceValue] | None
) -> dict[str, EvidenceValue]:
    """The values of a kernel with those that only the profiler has.

    >>> found = with_derived({}, {"valu_busy": EvidenceValue("valu_busy", 62.0, source="VALUBusy")})
    >>> found["valu_busy"].words
    'VALU busy 62.0 % of the time (VALUBusy)'
    """
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
    rows = (
        frame.select("dispatch", value=pl.col(counter)).drop_nulls().join(about, on="dispatch", maintain_order="left")
    )
    has_weights = pl.col("weight").is_not_null().all() & (pl.col("weight").sum() > 0)
    weighted = (pl.col("value") * pl.col("weight")).sum() / pl.col("weight").sum()
    mean = pl.when(has_weights).then(weighted).otherwise(pl.col("value").mean())
    yield from rows.group_by("kernel_name", maintain_order=True).agg(mean=mean).iter_rows()
