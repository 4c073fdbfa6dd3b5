"""Quantities of formulas other than counters: facts of the GPU, and amounts of each dispatch."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.facts.metrics.names import QUANTITY_COUNTERS, UNKNOWN_FACTS
from wavewright.model.counters import System

#: Quantity -> the counter that has it, added up over the dies.
CYCLES = {name: QUANTITY_COUNTERS[name][0] for name in ("busy_cycles", "grbm_cycles", "spi_busy_cycles")}
#: Columns of `dispatches` that formulas can name.
LAUNCH = ("grid_size", "workgroup_size", "arch_vgprs", "accum_vgprs", "sgprs", "lds_bytes", "scratch_bytes")


def facts_of(system: System) -> dict[str, float]:
    """Facts of the GPU that do not change between dispatches; NaN = not known."""
    facts = {name: _known(getattr(system, name)) for name in UNKNOWN_FACTS}
    facts["memory_gb_per_second"] = _known(system.memory_peak_gb_per_second)
    if math.isnan(facts["xcd_count"]) and (system.target or "") in ("gfx906", "gfx908", "gfx90a"):
        facts["xcd_count"] = 1.0  # one die is one GPU there
    try:
        rates = gpus.of(system.target or "").rates
    except UsageError:
        rates = {}
    return facts | {f"rate_{name}": float(rate) for name, rate in rates.items()}


def _known(value: float | None) -> float:
    """A fact, or NaN: 0, negative and infinite values are errors in the description of the node."""
    return math.nan if value is None or not 0 < value < math.inf else float(value)


def launch_facts(dispatches: pl.DataFrame) -> dict[str, Any]:
    """Launch parameters of the dispatches as vectors; NaN = not recorded."""
    return {name: dispatches[name].cast(pl.Float64).to_numpy() for name in LAUNCH}
