"""Quantities of the launches of one kernel: workgroups against CUs, registers against the file of a SIMD."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import polars as pl

from wavewright.analysis.common.occupancy.limits import Limits, Resources, limits
from wavewright.analysis.counters.limiters.evidence import EvidenceValue, QuantityValues
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.model.counters import System

#: Limiter in `occupancy.limits` -> quantity: percent of the wave slots that it allows.
_LIMITERS = {"VGPR": "fits_vgpr", "SGPR": "fits_sgpr", "LDS": "fits_lds", "workgroup": "fits_group"}
_NO_TARGET = "the GPU is not known (--target)"
_NO_GRID = "the grid was not recorded"


def launch_values(dispatches: pl.DataFrame, system: System, occupancy: EvidenceValue | None = None) -> QuantityValues:
    """Quantities of one kernel's rows of `CounterSet.dispatches`; `occupancy` are its wave slots in use, in percent."""
    fitting = limits_of(dispatches, system)
    fill = _fill(dispatches, system, fitting, occupancy)
    values = [_duration(dispatches), _scratch(dispatches), *_fits(fitting, system), *fill]
    return {value.quantity: value for value in values}


def limits_of(dispatches: pl.DataFrame, system: System) -> Limits | None:
    """Waves that fit, by the registers and LDS of the first dispatch that recorded them; None = not known."""
    if not system.target or not dispatches.height:
        return None
    row: dict[str, Any] = dispatches.sort("arch_vgprs", nulls_last=True, maintain_order=True).row(0, named=True)
    if not row["arch_vgprs"]:
        return None
    resources = Resources(
        vgprs=row["arch_vgprs"],
        agprs=row["accum_vgprs"] or 0,
        sgprs=row["sgprs"] or None,
        lds_bytes=row["lds_bytes"],
        workgroup_size=row["workgroup_size"] or None,
        wave_size=int(system.wave_size) if system.wave_size else None,
    )
    try:
        return limits(gpus.of(system.target), resources)
    except UsageError:  # a target or resources that nothing is known about
        return None


def _duration(dispatches: pl.DataFrame) -> EvidenceValue:
    lengths = (dispatches["end_ns"] - dispatches["start_ns"]).drop_nulls()
    mean = lengths.filter(lengths > 0).mean()
    if not isinstance(mean, float):
        return EvidenceValue("duration", None, reason="no sound timestamps")
    return EvidenceValue("duration", mean / 1000)


def _scratch(dispatches: pl.DataFrame) -> EvidenceValue:
    most = dispatches["scratch_bytes"].max()
    if not isinstance(most, int):
        return EvidenceValue("scratch", None, reason="scratch memory was not recorded")
    return EvidenceValue("scratch", float(most))


def _fits(fitting: Limits | None, system: System) -> Iterable[EvidenceValue]:
    if fitting is None:
        reason = "the registers of the dispatch are not known" if system.target else _NO_TARGET
        return [EvidenceValue(name, None, reason=reason) for name in _LIMITERS.values()]
    allowed = {limiter.name: limiter.waves_per_simd for limiter in fitting.limiters}
    return [
        EvidenceValue(quantity, 100 * allowed[name] / allowed["hardware"])
        if name in allowed
        else EvidenceValue(quantity, None, reason="not recorded")
        for name, quantity in _LIMITERS.items()
    ]


def _fill(
    dispatches: pl.DataFrame, system: System, fitting: Limits | None, occupancy: EvidenceValue | None
) -> list[EvidenceValue]:
    """CUs that get no workgroup, and the last round of workgroups; weighted by duration."""
    sized = dispatches.drop_nulls(["grid_size", "workgroup_size"])
    sized = sized.filter((sized["grid_size"] > 0) & (sized["workgroup_size"] > 0))
    places = _places(system)
    if not sized.height or not places:
        reason = _NO_GRID if not sized.height else "how many CUs the GPU has is not known (--target)"
        return [EvidenceValue("idle_cus", None, reason=reason), EvidenceValue("tail", None, reason=reason)]
    weights = (sized["end_ns"] - sized["start_ns"]).fill_null(0.0).clip(lower_bound=0.0).to_list()
    weights = weights if any(weights) else [1.0] * sized.height
    groups = [math.ceil(grid / size) for grid, size in sized.select("grid_size", "workgroup_size").iter_rows()]
    idle = [max(0.0, 1 - count / places) for count in groups]
    values = [EvidenceValue("idle_cus", 100 * _mean(idle, weights))]
    at_once = _groups_per_cu(fitting)
    if fitting is None or at_once is None:
        return [*values, EvidenceValue("tail", None, reason="how many workgroups fit on a CU is not known")]
    rounds = [count / (places * at_once) for count in groups]  # of workgroups; one round has no tail
    lost = [1 - count / math.ceil(count) if count > 1 else 0.0 for count in rounds]
    tail = EvidenceValue("tail", 100 * _mean(lost, weights))
    full = [math.floor(count) / math.ceil(count) if count > 1 else 0.0 for count in rounds]
    most = next(limiter.waves_per_simd for limiter in fitting.limiters if limiter.name == "hardware")
    fitting_share = fitting.waves_per_simd / most  # of the wave slots, by the resources of the kernel
    return [*values, _in_full_rounds(tail, 100 * _mean(full, weights) * fitting_share, occupancy)]


def _in_full_rounds(tail: EvidenceValue, occupancy_min: float, occupancy: EvidenceValue | None) -> EvidenceValue:
    """The tail if the measured occupancy allows that the rounds before the last were full, and 0 if it does not.

    Full rounds alone use `occupancy_min` percent of the wave slots over the whole time.
    """
    if not tail.number:
        return tail
    if occupancy is None or not occupancy.is_measured or occupancy.number is None:
        counters = occupancy.missing if occupancy else ()
        reason = "whether rounds of workgroups were full is not known: wave slots in use were not measured"
        return replace(tail, number=None, missing=counters, reason=reason)
    if occupancy.number >= occupancy_min:
        return tail
    if occupancy.at_most is None or occupancy.at_most < occupancy_min:
        return replace(tail, number=0.0)
    reason = f"whether rounds of workgroups were full is not known: {occupancy.words}"
    return replace(tail, number=None, reason=reason)


def _places(system: System) -> float | None:
    """CUs, or WGPs where a workgroup spreads over several CUs: places for workgroups."""
    if not system.cu_count:
        return None
    try:
        return system.cu_count / gpus.of(system.target or "").cus_per_wgp
    except UsageError:
        return system.cu_count


def _groups_per_cu(fitting: Limits | None) -> int | None:
    if fitting is None or not fitting.waves_per_simd or fitting.resources.workgroup_size is None:
        return None
    waves = math.ceil(fitting.resources.workgroup_size / (fitting.resources.wave_size or 64))
    return max(1, min(limiter.waves_per_group for limiter in fitting.limiters) // waves)


def _mean(values: list[float], weights: list[float]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)
