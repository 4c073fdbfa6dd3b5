"""Ceilings of a roofline: theoretical peaks from rates and clocks, and benchmark results."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

from wavewright.analysis.counters.roofline.kinds import KINDS, LEVELS
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.facts.gpus.facts import Arch
from wavewright.model.counters import CounterSet, System

CHOICES = ("best", "empirical", "theoretical")  #: best = empirical where a benchmark measured it, else theoretical.


def ceiling_rows(counters: CounterSet, *, choice: str, device: int | None = None) -> list[dict[str, Any]]:
    """Rows of `Roofline.ceilings`: levels of memory and kinds of operations that the GPU has or a benchmark measured.

    `choice` is one of `CHOICES`; `device` is the GPU whose benchmark counts, as roofline.csv numbers it (None = the
    first). Raises `UsageError` when the choice does not exist, or the capture has no benchmark of the device.
    """
    if choice not in CHOICES:
        raise UsageError(f"no ceilings called {choice[:40]!r}", advice=f"there are {', '.join(CHOICES)}")
    facts = known_arch(counters.system)
    measured = _measured(counters, device)
    rows = []
    for level in LEVELS.values():
        about: dict[str, Any] = {"name": level.name, "kind": "bandwidth", "unit": "GB/s"}
        theory = _bandwidth(level.name, counters.system, facts)
        rows.append(about | _rates(theory, measured.get(level.benchmark), choice))
    for kind in KINDS.values():
        unit = "GFLOP/s" if kind.work == "flop" else "GIOP/s"
        about = {"name": kind.name, "kind": "compute", "unit": unit, "precision": kind.precision, "pipe": kind.pipe}
        theory = _theoretical(kind.rate_of(facts.rates) if facts else kind.rate, "CUs", counters.system, facts)
        benchmarks = [measured[name] for name in kind.benchmarks if name in measured]
        best = max(benchmarks, key=lambda ceiling: ceiling["value"], default=None)
        rows.append(about | _rates(theory, best, choice))
    return [row for row in rows if row["theoretical"] or row["empirical"] or row["reason"]]


def known_arch(system: System) -> Arch | None:
    """The facts of the GPU; of the product when its name is known, else of the target. None = nothing is known."""
    target = (system.target or "").split(":", 1)[0]
    for name in filter(None, (system.product, system.target)):
        with suppress(UsageError):
            facts = gpus.of(name)
            if not target or facts.target == target:
                return facts
    return None


class _Theory(NamedTuple):
    """A theoretical rate; without a value, the reason; without either, the GPU has no such unit."""

    value: float | None
    reason: str = ""


def _rates(theory: _Theory, benchmark: dict[str, Any] | None, choice: str) -> dict[str, Any]:
    """The columns of a ceiling about its rates, and which of them is used."""
    empirical = benchmark["value"] if benchmark else None
    reason = theory.reason
    used_from = "empirical" if empirical and choice != "theoretical" else "theoretical" if theory.value else ""
    if choice == "empirical" and used_from != "empirical":
        used_from, reason = "", "no benchmark measured it" if theory.value else reason
    return {
        "theoretical": theory.value,
        "empirical": empirical,
        "empirical_low": benchmark["value_low"] if benchmark else None,
        "empirical_high": benchmark["value_high"] if benchmark else None,
        "used": {"empirical": empirical, "theoretical": theory.value}.get(used_from),
        "used_from": used_from,
        "reason": "" if used_from else reason,
    }


def _measured(counters: CounterSet, device: int | None) -> dict[str, dict[str, Any]]:
    """Name -> the benchmark of one GPU; a rate of zero means that the GPU cannot do it."""
    rows = counters.ceilings
    devices = rows["device"].drop_nulls().unique().sort().to_list()
    if device is not None and device not in devices:
        what = f"no benchmark of device {device} in this capture"
        has = f"it has {', '.join(map(str, devices))}" if devices else "it has none"
        raise UsageError(what, where=counters.path, advice=has)
    if rows.is_empty():
        return {}
    rows = rows.filter(rows["device"].eq_missing(rows["device"][0] if device is None else device))
    return {row["name"]: row for row in rows.iter_rows(named=True) if row["value"] and 0 < row["value"] < float("inf")}


def _bandwidth(level: str, system: System, facts: Arch | None) -> _Theory:
    if level == "MALL":
        return _Theory(None)  # nobody has published its rate: only benchmarks know it
    if level == "HBM":
        peak = system.memory_peak_gb_per_second
        return _Theory(peak) if peak else _Theory(None, "the capture says no memory clock and channels")
    return _theoretical(f"{level.lower()}_bytes", "L2 channels" if level == "L2" else "CUs", system, facts)


def boost_clock_mhz(system: System, facts: Arch | None) -> float | None:
    """The boost clock of a Radeon, where the capture says a lower one; else None.

    What drivers report as the highest clock of a Radeon is below what its data sheet says, and what it reaches.
    """
    if facts is None or not facts.target.startswith("gfx1") or not facts.product.name or not facts.product.clock_hz_max:
        return None
    is_named = facts.product.name.lower() in (system.product or "").lower()
    boost = facts.product.clock_hz_max / 1e6
    return boost if is_named and system.clock_mhz_max and boost > system.clock_mhz_max else None


def _theoretical(rate_name: str, unit: str, system: System, facts: Arch | None) -> _Theory:
    """Rate per cycle times units (CUs or L2 channels) times clock, in 10^9 per second."""
    if facts is None:
        return _Theory(None, "the GPU is not known: give its --target")
    rate = facts.rates.get(rate_name)
    if not rate:
        return _Theory(None)
    unit_count = system.cu_count if unit == "CUs" else system.l2_channel_count
    if not unit_count:
        return _Theory(None, f"the capture does not say how many {unit} there are")
    if not system.clock_mhz_max:
        return _Theory(None, "the capture does not say the clock")
    return _Theory(rate * unit_count * (boost_clock_mhz(system, facts) or system.clock_mhz_max) / 1000)
