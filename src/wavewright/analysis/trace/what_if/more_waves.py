"""Room for more waves on a SIMD: what must shrink for them, and whether waves waited for room at all."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from wavewright.analysis.common.occupancy.limits import Resources, ladder, limits
from wavewright.analysis.trace.occupancy.resident_waves import achieved
from wavewright.errors import UsageError
from wavewright.facts.gpus.facts import Arch
from wavewright.model.trace import ThreadTrace


class MoreWaves(NamedTuple):
    """More waves per SIMD, or the reason against them."""

    reason: str
    more: int = 0  #: Waves per SIMD.
    waves_per_simd: int = 0  #: Waves that fit on a SIMD then.
    needs: str = ""  #: What must shrink.


def more_waves(trace: ThreadTrace, arch: Arch, resources: Resources, more: int) -> MoreWaves:
    """The least rung of the ladder of occupancy with that number of waves more."""
    try:
        now = limits(arch, resources)
        rungs = ladder(arch, resources)
    except UsageError as error:
        return MoreWaves(str(error))
    traced = trace.waves.filter(pl.col("instruction_count") > 0)
    resident = achieved(traced).waves_per_simd_max if traced.height else 0
    if resident < now.waves_per_simd_peak:
        fits = f"{now.waves_per_simd_peak} waves fit on a SIMD and at most {resident} were there"
        return MoreWaves(f"{fits}: no wave waited for room")
    rung = next((step for step in rungs if step.waves_per_simd >= now.waves_per_simd + more), None)
    if rung is None:
        most = rungs[-1].waves_per_simd if rungs else now.waves_per_simd
        return MoreWaves(f"no more than {most} waves fit on a SIMD")
    amounts = {limiter.name: limiter.allocated for limiter in now.limiters}
    parts = [
        f"at most {most:,} {name} instead of {amounts.get(short, 0):,}"
        for short, name, most in (
            ("VGPR", "vector registers", rung.vgprs_at_most),
            ("SGPR", "scalar registers", rung.sgprs_at_most),
            ("LDS", "bytes of LDS", rung.lds_bytes_at_most),
        )
        if most is not None
    ]
    return MoreWaves("", rung.waves_per_simd - now.waves_per_simd, rung.waves_per_simd, " and ".join(parts))
