"""Findings that no replay gives: occupancy, and who comes last at barriers."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.trace.barriers import barriers
from wavewright.analysis.trace.diagnose.facts import Facts
from wavewright.analysis.trace.diagnose.finding import DISPATCH, Remedy, StallFinding
from wavewright.analysis.trace.occupancy import Occupancy, occupancy
from wavewright.base.words import counted, percent
from wavewright.errors import WavewrightError
from wavewright.model.trace import ThreadTrace


def registers_or_lds(trace: ThreadTrace, costs: Facts) -> StallFinding | None:
    """Too few waves to hide the exposed cycles, because of a resource that the kernel can give back."""
    answer = _occupancy(trace)
    if answer is None:
        return None
    kernels = answer.kernels.drop_nulls("next_waves_per_simd").sort("wave_count", descending=True)
    if not kernels.height:
        return None
    kernel = kernels.row(0, named=True)
    now, then = kernel["waves_per_simd_limit"], kernel["next_waves_per_simd"]
    if not now or kernel["all_at_once"]:
        return None  # more room would stay empty: the grid is the limit
    # Further waves hide at most what no wave hid, and at most what they issue themselves.
    hidden = min(costs.exposed_cycles_total, (then - now) * costs.issue_cycles_total)
    gain = min(hidden / costs.wave_cycles_total, (then - now) / then) if costs.wave_cycles_total else 0.0
    steps = _steps(answer, kernel["kernel"])
    certain = answer.target_is_certain and kernel["registers_from"] != "code"
    return StallFinding(
        name="occupancy",
        kind="occupancy",
        verdict=f"{counted(now, 'waves')} per SIMD, bound by {kernel['bound_by']}",
        reason=f"with {counted(now, 'waves')} per SIMD there is too little other work to hide the exposed cycles",
        remedy=steps,
        remedies=(Remedy(f"reach {then} waves per SIMD", steps, (), 0),),
        gain_share_min=0.0,
        gain_share_max=gain,
        gain_basis=DISPATCH,
        confidence="medium" if certain else "low",
        confidence_reason="more waves also compete for pipes and caches; measure it"
        + ("" if certain else f"; registers from {kernel['registers_from']}, GPU {answer.target_origin}"),
    )


def barrier_cause(trace: ThreadTrace) -> str:
    """Who arrives last at the costliest barrier; empty when nothing is known."""
    rows = barriers(trace).rows
    if not rows.height or not rows["meeting_count"][0]:
        return ""
    worst = rows.row(0, named=True)
    last = ""
    several = trace.waves["simd"].n_unique() > 1
    if several and worst["last_simd"] is not None and (worst["last_simd_share"] or 0) > 0.5:
        last = (
            f"; the wave on SIMD {worst['last_simd']} is last in {percent(worst['last_simd_share'], 0)} of the meetings"
        )
    return f"the last wave arrives {worst['spread_cycles_mean']:,.0f} cycles after the first, on average{last}"


def _occupancy(trace: ThreadTrace) -> Occupancy | None:
    try:
        return occupancy(trace)
    except WavewrightError:  # the GPU or the registers are not known
        return None


def _steps(answer: Occupancy, kernel: int | None) -> str:
    limiters = answer.limiters.filter(pl.col("kernel").eq_missing(kernel) & pl.col("next_at_most").is_not_null())
    steps = [
        f"bring {row['limiter']} from {row['allocated']:,} to at most {row['next_at_most']:,} {row['unit']} "
        f"(free {row['allocated'] - row['next_at_most']:,})"
        for row in limiters.iter_rows(named=True)
    ]
    return " and ".join(steps) or "see `wavewright occupancy`"
