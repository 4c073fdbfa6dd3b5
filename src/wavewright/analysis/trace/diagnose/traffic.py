"""Bytes that a traced dispatch moves, the level of memory that moves them, and the evidence for both.

Requests of lanes are no traffic: caches serve rows that many workgroups read. In this order count hardware counters of
the same kernel, distinct bytes (lane addresses over workgroups) in the time of the dispatch, and else only bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod

import polars as pl

from wavewright.analysis.trace.code.accesses import accesses, lanes_per_wave
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.diagnose.gpu_fill import Filling, Machine, machine
from wavewright.analysis.trace.fabric import TrafficOptions, fabric_traffic
from wavewright.analysis.trace.lanes.evaluated import LaneOptions
from wavewright.analysis.trace.lanes.footprint import footprint
from wavewright.analysis.trace.selection import traced_waves
from wavewright.errors import WavewrightError
from wavewright.model.trace import ThreadTrace
from wavewright.model.traced_span import agreeing_durations_ns, traced_span_ns

COUNTERS, DISTINCT, REQUESTS = "counters", "distinct bytes", "requests"
#: Share of the upper bound of distinct bytes that is certain, from which they are evidence. Below it, reuse between
#: workgroups decides what reaches memory, and nothing tells it.
_CERTAIN_SHARE = 0.9
#: Durations of counted and traced dispatches agree up to this ratio: passes of a profiler run at other clocks.
_SAME_RATIO = 1.25
_NARROW_BYTES = 4  #: Accesses of fewer bytes per lane are narrow.
_FEWEST_LANES = 32  #: Lanes of a wave where their number is not known: the smaller of the two sizes.
_MOST_INSTRUCTIONS = 4_000_000  #: Of traces with more instructions, lanes are not evaluated.
Bounds = tuple[float, float]  #: Least and most.
Clauses = tuple[str, ...]  #: Assumptions, each a clause for a sentence.


@dataclass(frozen=True)
class CountedRate:
    """Bytes that the memory moved, by counters."""

    bytes_per_second: float
    duration_ns: float  #: Of a counted dispatch, mean.


@dataclass(frozen=True)
class Traffic:
    """Bytes of a dispatch, lower and upper bound each."""

    level: str  #: HBM, GDDR6, ... of the bytes where they are evidence; else L1, of which lanes request them.
    evidence: str  #: counters, distinct bytes or requests.
    bytes_total: Bounds | None  #: Of the whole dispatch; None = the GPU is not known, or counters tell a rate only.
    seconds: Bounds | None  #: Of the dispatch; equal where a run of the same process recorded it.
    bytes_per_second: Bounds | None  #: Of the whole GPU; None = the GPU or the clock is not known.
    store_share: float  #: Of the requests.
    narrow_share: float  #: Of the requests: accesses of less than 4 bytes per lane.
    assumptions: tuple[str, ...] = ()
    #: Whether the rate is that of the traced dispatch: counters may be of dispatches that took another time.
    is_of_dispatch: bool = True

    @property
    def is_evidence(self) -> bool:
        """True if the level moves the bytes; requests of lanes are only an upper bound."""
        return self.evidence != REQUESTS


def traffic(trace: ThreadTrace, fill: Filling, lanes: LaneOptions | None = None) -> Traffic | None:
    """Bytes of the dispatch as far as the trace tells; None = the code touches no memory that can be told."""
    requests = _requests(trace)
    total = int(requests["bytes"].sum())
    traced_count = traced_waves(trace).height
    if not total or not traced_count:
        return None
    stores = int(requests.filter(pl.col("direction") == "store")["bytes"].sum()) / total
    narrow = int(requests.filter(pl.col("bytes_per_lane") < _NARROW_BYTES)["bytes"].sum()) / total
    gpu = machine(trace)
    waves = _wave_count(trace, fill, gpu)
    seconds = _seconds(trace)
    target = trace.source.target or (gpu.arch.target if gpu else None)
    distinct = footprint(trace, target, lanes) if target and _is_followed(trace, gpu) else None
    if waves is None or gpu is None:
        return Traffic("L1", REQUESTS, None, seconds, None, stores, narrow)
    request_bytes = (distinct.requested_bytes_per_wave if distinct else total / traced_count) * waves
    low, high = distinct.total_bytes(waves) if distinct else (0.0, request_bytes)
    assumptions = distinct.assumptions if distinct else ()
    if (exact := _exact_bytes(trace, gpu, lanes)) is not None:
        low, high, assumptions = exact
    is_known = (distinct is not None or exact is not None) and low >= _CERTAIN_SHARE * high > 0
    if not is_known:
        high = max(low, request_bytes)
    return Traffic(
        level=gpu.arch.memory_kind if is_known else "L1",
        evidence=DISTINCT if is_known else REQUESTS,
        bytes_total=(low, high),
        seconds=seconds,
        bytes_per_second=(low / seconds[1], high / seconds[0]) if seconds else None,
        store_share=stores,
        narrow_share=narrow,
        assumptions=assumptions if is_known else (),
    )


def counted_traffic(trace: ThreadTrace, inference: Traffic | None, rate: CountedRate) -> Traffic:
    """Traffic as counters measured it, in place of what the trace lets infer."""
    gpu, launch, seconds = machine(trace), trace.launch, _seconds(trace)
    usual_ns = (launch.duration_ns, launch.duration_ns_median) if launch else None
    shortest, longest = usual_ns or ((seconds[0] * 1e9, seconds[1] * 1e9) if seconds else (0.0, float("inf")))
    least, most = sorted((shortest, longest))
    bytes_per_second = rate.bytes_per_second
    return Traffic(
        level=gpu.arch.memory_kind if gpu else "memory",
        evidence=COUNTERS,
        bytes_total=None,
        seconds=None,
        bytes_per_second=(bytes_per_second, bytes_per_second),
        store_share=inference.store_share if inference else 0.0,
        narrow_share=inference.narrow_share if inference else 0.0,
        is_of_dispatch=least / _SAME_RATIO <= rate.duration_ns <= most * _SAME_RATIO,
    )


def _wave_count(trace: ThreadTrace, fill: Filling, gpu: Machine | None) -> float | None:
    """Waves of the dispatch, also those that leave early: of its grid, else on every engine as on those with waves."""
    launch, lanes = trace.launch, lanes_per_wave(trace)
    if launch and launch.grid_size and launch.workgroup_size and lanes:
        groups = prod(ceil(grid / size) for grid, size in zip(launch.grid_size, launch.workgroup_size, strict=True))
        return float(groups * ceil(prod(launch.workgroup_size) / lanes))
    engines = gpu.product.se_count if gpu else None
    if not engines or not fill.engine_count:
        return None
    waves = fill.wave_count + fill.early_wave_count
    return waves / fill.engine_count * max(engines, fill.engine_count)


def _seconds(trace: ThreadTrace) -> Bounds | None:
    """Duration of the dispatch, or the bounds that the time of the traced waves gives; None = no clock."""
    if trace.launch is not None and trace.launch.duration_ns > 0:
        return trace.launch.duration_ns / 1e9, trace.launch.duration_ns / 1e9
    span_ns = traced_span_ns(trace)
    if span_ns is None:
        return None
    shortest, longest = agreeing_durations_ns(span_ns)
    return shortest / 1e9, longest / 1e9


def _exact_bytes(trace: ThreadTrace, gpu: Machine, lanes: LaneOptions | None) -> tuple[float, float, Clauses] | None:
    """Lines of all workgroups, once each, where grid and arguments tell every address; None = they do not.

    What does not fit in the last cache may be read again: then lanes cannot cause more than they request.
    """
    if not _is_followed(trace, gpu):
        return None
    try:
        answer = fabric_traffic(trace, TrafficOptions(lanes or LaneOptions(), only_today=True))
    except WavewrightError:
        return None
    if answer.problem or answer.known_share < 1:
        return None
    low = float(answer.unavoidable_bytes + answer.arrays["written_bytes"].sum())
    high = low if answer.fits_infinity_cache else max(low, float(answer.rows["requested_bytes"].sum()))
    return low, high, answer.notes


def _is_followed(trace: ThreadTrace, gpu: Machine | None) -> bool:
    """True if lane addresses can be evaluated: of a whole trace that is not too large, on a known GPU."""
    is_known = trace.source.target is not None or gpu is not None
    return is_known and trace.part_of is None and trace.instruction_count <= _MOST_INSTRUCTIONS


def _requests(trace: ThreadTrace) -> pl.DataFrame:
    """`ACCESSES`, `hit_count` and `bytes` (requested by all executions if all lanes are active) of vector accesses."""
    lanes = lanes_per_wave(trace) or _FEWEST_LANES
    vector = accesses(trace.code).filter(pl.col("space").is_in(["memory", "flat"])).drop_nulls("bytes_per_lane")
    return vector.join(row_costs(trace).select("row", "hit_count"), on="row").with_columns(
        bytes=pl.col("hit_count") * pl.col("bytes_per_lane") * lanes
    )
