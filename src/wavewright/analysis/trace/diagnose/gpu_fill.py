"""Fill of the GPU by the waves of a dispatch: CUs without work, rounds and tail, imbalance, early exits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from wavewright.analysis.trace.diagnose.machine import machine
from wavewright.analysis.trace.waits.ports import traced_waves
from wavewright.analysis.trace.waves.resident import resident_waves

if TYPE_CHECKING:
    from wavewright.model.trace import ThreadTrace

_SIMD = ("se", "cu", "simd")


@dataclass(frozen=True)
class Filling:
    """Waves of the traced shader engines that do work, against the room there is."""

    engine_count: int  #: Shader engines with waves.
    traced_engine_count: int  #: Shader engines with a buffer. One without a wave says nothing about idle CUs.
    wave_count: int  #: Working waves on all their CUs.
    early_wave_count: int  #: Waves that left early, on all their CUs.
    traced_wave_count: int  #: Working waves with instructions.
    span_cycles_mean: float  #: Of a shader engine, from its first start to its last end.
    wave_cycles_mean: float
    used_cu_count: int  #: CUs (WGPs) that held a working wave.
    cu_count: float | None  #: CUs (WGPs) of these shader engines; None = the GPU is not known.
    mean_share: float  #: Mean over peak of resident waves, from the first start to the last end.
    empty_simd_share: float  #: Time in which a SIMD that held waves held none.
    round_count: float  #: Waves over the most at a time.

    @property
    def unused_share(self) -> float:
        """Share of the CUs without a working wave."""
        return max(0.0, 1 - self.used_cu_count / self.cu_count) if self.cu_count else 0.0

    @property
    def is_tail(self) -> bool:
        """True if the last round of workgroups being partly empty explains most of the missing residency."""
        rounds = self.round_count
        if rounds <= 1.05:
            return False
        return 1 - rounds / math.ceil(rounds - 0.02) >= 0.5 * (1 - self.mean_share)


def filling(trace: ThreadTrace, *, left_out: tuple[int, ...] = ()) -> Filling:
    """The filling of a trace; waves `left_out` are those that left early."""
    traced = traced_waves(trace)
    early = traced.filter(pl.col("wave").is_in(list(left_out)))
    working = traced.filter(~pl.col("wave").is_in(list(left_out)))
    waves = _of_kernels(resident_waves(trace), traced).with_columns(life=pl.col("end_cycles") - pl.col("start_cycles"))
    longest_early = _largest(early["end_cycles"] - early["start_cycles"], default=-1)
    doing = waves.filter(pl.col("life") > longest_early)
    if not doing.height:
        doing = waves
    engines = doing.group_by("se").agg(
        span=pl.col("end_cycles").max() - pl.col("start_cycles").min(), cus=pl.col("cu").n_unique()
    )
    window = _largest(engines["span"])
    peak = sum(_peak(part) for _, part in doing.group_by("se"))
    area = int(doing["life"].sum())
    return Filling(
        engine_count=engines.height,
        traced_engine_count=max(trace.shader_engines["se"].n_unique(), engines.height),
        wave_count=doing.height,
        early_wave_count=waves.height - doing.height,
        traced_wave_count=working.height,
        span_cycles_mean=int(engines["span"].sum()) / max(engines.height, 1),
        wave_cycles_mean=area / max(doing.height, 1),
        used_cu_count=int(engines["cus"].sum()),
        cu_count=_cu_count(trace, engines),
        mean_share=min(1.0, area / (peak * window)) if peak and window else 1.0,
        empty_simd_share=_empty_share(doing, window),
        round_count=doing.height / peak if peak else 1.0,
    )


def _of_kernels(waves: pl.DataFrame, traced: pl.DataFrame) -> pl.DataFrame:
    """Resident waves of the kernels that the traced waves run."""
    kernels = traced["kernel"].drop_nulls().unique()
    chosen = waves.filter(pl.col("kernel").is_in(kernels.implode()))
    return chosen if chosen.height else waves


def _cu_count(trace: ThreadTrace, engines: pl.DataFrame) -> float | None:
    """CUs (WGPs) of the engines, no fewer than were seen; None = not known."""
    gpu = machine(trace)
    per_engine = gpu.compute_units_per_engine if gpu else None
    return None if per_engine is None else max(per_engine, _largest(engines["cus"])) * engines.height


def _peak(waves: pl.DataFrame) -> int:
    """Most waves at a time."""
    starts = waves.select(time="start_cycles", change=pl.lit(1, pl.Int32))
    ends = waves.select(time="end_cycles", change=pl.lit(-1, pl.Int32))
    return max(1, _largest(pl.concat([starts, ends]).sort("time", "change")["change"].cum_sum()))


def _largest(values: pl.Series, default: int = 0) -> int:
    most = values.max()
    return most if isinstance(most, int) else default


def _empty_share(waves: pl.DataFrame, window: int) -> float:
    """Share of the window in which the SIMDs that held waves held none."""
    ordered = waves.sort(*_SIMD, "start_cycles")
    latest = pl.col("end_cycles").cum_max().shift(1).over(_SIMD)
    covered = ordered.with_columns(since=pl.max_horizontal("start_cycles", latest)).select(
        *_SIMD, busy=(pl.col("end_cycles") - pl.col("since")).clip(lower_bound=0)
    )
    per_simd = covered.group_by(_SIMD).agg(pl.col("busy").sum())
    return max(0.0, 1 - int(per_simd["busy"].sum()) / (per_simd.height * window)) if per_simd.height and window else 0.0
