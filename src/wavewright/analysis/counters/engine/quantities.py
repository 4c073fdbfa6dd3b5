"""Quantities of formulas other than counters: facts of the GPU, and amounts of each dispatch."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.facts.metrics.names import QUANTITY_COUNTERS
from wavewright.model.counters import System

#: Quantity -> the counter that has it, added up over the dies.
CYCLES = {name: QUANTITY_COUNTERS[name][0] for name in ("busy_cycles", "grbm_cycles", "spi_busy_cycles")}
#: Columns of `dispatches` that formulas can name.
LAUNCH = ("grid_size", "workgroup_size", "arch_vgprs", "accum_vgprs", "sgprs", "lds_bytes", "scratch_bytes")
_FACTS = (
    "cu_count",
    "se_count",
    "pipe_count",
    "sqc_count",
    "lds_bank_count",
    "waves_per_cu_max",
    "l2_channel_count",
    "wave_size",
    "xcd_count",
    "clock_mhz_max",
)
#: Fact -> in words.
UNKNOWN = {
    "clock_mhz_max": "the clock of the GPU",
    "memory_gb_per_second": "the bandwidth of the memory",
    "cu_count": "the number of CUs",
    "se_count": "the number of shader engines",
    "l2_channel_count": "the number of L2 channels",
    "sqc_count": "the number of instruction and scalar caches",
    "xcd_count": "the number of dies",
    "pipe_count": "the number of scheduler pipes",
    "lds_bank_count": "the number of LDS banks",
    "waves_per_cu_max": "how many waves a CU holds",
    "wave_size": "the size of waves",
}


def facts_of(system: System) -> dict[str, float]:
    """Facts of the GPU that do not change between dispatches; NaN = not known."""
    facts = {name: _known(getattr(system, name)) for name in _FACTS}
    facts["memory_gb_per_second"] = _known(system.memory_peak_gb_per_second)
    if math.isnan(facts["xcd_count"]) and (system.target or "") in ("gfx906", "gfx908", "gfx90a"):
        facts["xcd_count"] = 1.0  # one die is one GPU there
    return facts | _rates(system.target)


def _known(value: float | None) -> float:
    """A fact, or NaN: 0, negative and infinite values are errors in the description of the node."""
    return math.nan if value is None or not 0 < value < math.inf else float(value)


def _rates(target: str | None) -> dict[str, float]:
    try:
        rates = gpus.of(target or "").rates
    except UsageError:
        return {}
    return {f"rate_{name}": float(rate) for name, rate in rates.items()}


def launch_facts(dispatches: pl.DataFrame) -> dict[str, Any]:
    """Launch parameters of the dispatches as vectors; NaN = not recorded.

    >>> import polars as pl
    >>> launch_facts(pl.DataFrame({name: [64] for name in LAUNCH}))["grid_size"].tolist()
    [64.0]
    """
    return {name: dispatches[name].cast(pl.Float64).to_numpy() for name in LAUNCH}
