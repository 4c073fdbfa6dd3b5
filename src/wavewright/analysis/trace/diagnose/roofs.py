"""Distance of a kernel from the limits of the GPU: memory bandwidth, L2 bandwidth, matrix and vector pipes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from wavewright.analysis.trace.code.access_bytes import lanes_per_wave
from wavewright.analysis.trace.code.accesses import accesses
from wavewright.analysis.trace.costs.exposure import row_costs
from wavewright.analysis.trace.diagnose.machine import machine
from wavewright.analysis.trace.pipes import matrix_rows
from wavewright.analysis.trace.pipes.passes import pipe_cycles_of_rows
from wavewright.analysis.trace.waits.ports import traced_waves
from wavewright.analysis.trace.waits.wait_producers import free_wait_cycles

if TYPE_CHECKING:
    from wavewright.analysis.trace.diagnose.gains import Gains
    from wavewright.analysis.trace.diagnose.gpu_fill import Filling
    from wavewright.analysis.trace.diagnose.machine import Machine
    from wavewright.model.trace import ThreadTrace

#: Share of the peak from which bandwidth is the limit. Copy benchmarks reach 75 to 90 % of HBM's peak.
_AT_ROOF_SHARE = 0.70
#: Narrow accesses (below 4 bytes per lane) need more instructions per byte: only this close is the roof the limit.
_AT_ROOF_SHARE_NARROW = 0.85
#: Waits for memory must take this share of the time: a kernel that seldom waits for memory is not bound by it.
_MEMORY_GAIN_SHARE = 0.30
_STARTING = ("start-up", "cold instruction fetch", "wait scalar load")
#: Waves that spend this share on starting (launch, first fetch, arguments) do not stream.
_STARTING_SHARE = 0.20
_ABOVE_PEAK = 1.1  #: Times the peak from which on caches certainly deliver a part.
_WRITTEN_SHARE = 0.4
_BUSY_PIPE_SHARE = 0.80  #: A pipe that is busy for this share of the time is the limit.
_NARROW_BYTES = 4
_FEWEST_LANES = 32  #: Of a wave whose lanes are not known.


@dataclass(frozen=True)
class Traffic:
    """Bytes that the waves of a trace ask vector memory for, if all lanes are active."""

    bytes_per_wave: float
    bytes_per_second: float | None  #: Of the whole GPU; None = the GPU or the clock is not known.
    store_share: float
    narrow_share: float  #: Of the bytes: accesses of less than 4 bytes per lane.
    is_from_duration: bool  #: Whether the time is that of the dispatch; else that of the waves of a shader engine.


@dataclass(frozen=True)
class Roof:
    """A limit of the GPU, and how much of it is used."""

    name: str  #: HBM bandwidth, L2 bandwidth, matrix throughput or VALU throughput.
    share: float  #: Of the peak; of bandwidth above 1 where caches deliver a part.
    amount: float
    peak: float
    unit: str
    is_limit: bool


@dataclass(frozen=True)
class Pipes:
    """Busy time of the pipes of the traced SIMDs, as shares of their time."""

    matrix_share: float
    valu_share: float
    matrix_count: int
    valu_count: int


def traffic(trace: ThreadTrace, filling: Filling) -> Traffic | None:
    """Bytes per working wave, and per second of the GPU; None = the code moves nothing that can be told."""
    moved = _moved(trace)
    total = int(moved["bytes"].sum())
    if not total or not filling.traced_wave_count:
        return None
    per_wave = total / filling.traced_wave_count
    stores = int(moved.filter(pl.col("direction") == "store")["bytes"].sum())
    narrow = int(moved.filter(pl.col("bytes_per_lane") < _NARROW_BYTES)["bytes"].sum())
    rate, from_duration = _rate(trace, filling, per_wave)
    return Traffic(per_wave, rate, stores / total, narrow / total, from_duration)


def _rate(trace: ThreadTrace, filling: Filling, per_wave: float) -> tuple[float | None, bool]:
    """Bytes per second of all shader engines, and whether the time is that of the dispatch."""
    gpu = machine(trace)
    if gpu is None or not gpu.product.se_count or not filling.engine_count or not filling.span_cycles_mean:
        return None, False
    launch = trace.launch
    seconds = launch.duration_ns / 1e9 if launch else filling.span_cycles_mean / gpu.clock_hz
    total = per_wave * filling.wave_count / filling.engine_count * gpu.product.se_count
    return total / seconds, launch is not None


def _moved(trace: ThreadTrace) -> pl.DataFrame:
    """Bytes of all executions of every code row that touches vector memory."""
    lanes = lanes_per_wave(trace) or _FEWEST_LANES
    vector = accesses(trace.code).filter(pl.col("space").is_in(["memory", "flat"])).drop_nulls("bytes_per_lane")
    return vector.join(row_costs(trace).select("row", "hit_count"), on="row").with_columns(
        bytes=pl.col("hit_count") * pl.col("bytes_per_lane") * lanes
    )


def pipes(trace: ThreadTrace) -> Pipes:
    """Busy shares of the matrix and vector pipes over the time of the traced SIMDs."""
    code = trace.code.sort("row").select(
        "row",
        is_matrix=matrix_rows(trace.code.sort("row")),
        is_vector=pl.col("text").fill_null("").str.starts_with("v_"),
    )
    cycles = pipe_cycles_of_rows(trace)
    busy = code.with_columns(cycles=pl.when(cycles > 0).then(cycles).otherwise(free_wait_cycles(trace)))
    busy = busy.join(row_costs(trace).select("row", "hit_count"), on="row")
    busy = busy.with_columns(total=pl.col("hit_count") * pl.col("cycles"))
    matrix, vector = busy.filter("is_matrix"), busy.filter(pl.col("is_vector") & ~pl.col("is_matrix"))
    whole = _simd_cycles(trace) or float("inf")
    return Pipes(
        min(1.0, int(matrix["total"].sum()) / whole),
        min(1.0, int(vector["total"].sum()) / whole),
        int(matrix["hit_count"].sum()),
        int(vector["hit_count"].sum()),
    )


def _simd_cycles(trace: ThreadTrace) -> int:
    """Time of the traced SIMDs, from the first start to the last end of the waves of each."""
    spans = (
        traced_waves(trace)
        .group_by("se", "cu", "simd")
        .agg(span=pl.col("end_cycles").max() - pl.col("start_cycles").min())
    )
    return int(spans["span"].sum())


def roofs(trace: ThreadTrace, moved: Traffic | None, used: Pipes, filling: Filling, gains: Gains) -> list[Roof]:
    """Every roof that is known, the one that limits first, then by share of the GPU's peak."""
    filled = filling.mean_share * (1 - filling.unused_share)  # of the CUs and of the time
    every = [
        Roof(f"{name} throughput", share, share, 1.0, "of the time", share * filled >= _BUSY_PIPE_SHARE)
        for name, share in (("matrix", used.matrix_share), ("VALU", used.valu_share))
    ]
    gpu = machine(trace)
    if gpu is not None and moved is not None and moved.bytes_per_second is not None:
        starting = sum(gains.causes.get(cause, 0.0) for cause in _STARTING)
        waits = gains.memory_gain_share >= _MEMORY_GAIN_SHARE and starting < _STARTING_SHARE
        every += _bandwidths(moved, used, gpu, waits=waits)
    return sorted(every, key=lambda roof: (not roof.is_limit, -roof.share))


def _bandwidths(moved: Traffic, used: Pipes, gpu: Machine, *, waits: bool) -> list[Roof]:
    rate = moved.bytes_per_second or 0.0
    enough = _AT_ROOF_SHARE_NARROW if moved.narrow_share > 0.5 else _AT_ROOF_SHARE
    memory_peak = gpu.product.memory_bytes_per_second_peak
    peaks = (
        ("HBM bandwidth", memory_peak, _streams(moved, used, memory_peak or 0)),
        ("L2 bandwidth", gpu.l2_bytes_per_second_peak, True),
    )
    return [
        Roof(name, rate / peak, rate, float(peak), "bytes per second", waits and counts and rate >= enough * peak)
        for name, peak, counts in peaks
        if peak
    ]


def _streams(moved: Traffic, used: Pipes, memory_peak: float) -> bool:
    """True if what is asked for has to come from memory, as far as a trace tells.

    Tiles of a matrix product are read by many workgroups: they come from L2 for the most part. What is asked for above
    the peak comes from caches as well; then the bytes that are written must be a large part of the peak.
    """
    rate = moved.bytes_per_second or 0.0
    if used.matrix_count:
        return False
    return rate <= _ABOVE_PEAK * memory_peak or rate * moved.store_share >= _WRITTEN_SHARE * memory_peak
