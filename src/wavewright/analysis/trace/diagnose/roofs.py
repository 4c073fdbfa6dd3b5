"""Distance of a kernel from the limits of the GPU: memory bandwidth, matrix and vector pipes."""

from __future__ import annotations

from dataclasses import dataclass

from wavewright.analysis.trace.diagnose.gains import Gains
from wavewright.analysis.trace.diagnose.gpu_fill import Filling, Machine, machine
from wavewright.analysis.trace.diagnose.traffic import Traffic
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.model.trace import ThreadTrace

DATA_SHEET = "data sheet"  #: Source of a peak that nobody has reached yet.
#: From this certain share of what copies reach on, bandwidth is the limit: nothing else can win more than the rest.
_AT_ROOF_SHARE = 0.70
#: Narrow accesses (below 4 bytes per lane) need more instructions per byte: only this close is the roof the limit.
_AT_ROOF_SHARE_NARROW = 0.85
#: Waits for memory must take this share of the time: a kernel that seldom waits for memory is not bound by it.
_MEMORY_GAIN_SHARE = 0.30
_ABOVE_REACHED = 1.1  #: Above so many times what copies reached, a cache certainly takes a part: two copies differ too.
_STARTING = ("start-up", "cold instruction fetch", "wait scalar load")  #: Causes of time before a wave works.
#: Waves that spend this share on starting (launch, first fetch, arguments) do not stream.
_STARTING_SHARE = 0.20
_BUSY_PIPE_SHARE = 0.80  #: A pipe that is busy for this share of the time is the limit.


@dataclass(frozen=True)
class Roof:
    """A limit of the GPU, and how much of it is used."""

    name: str  #: memory bandwidth, matrix throughput or VALU throughput.
    share: float  #: Of the peak; of bandwidth what is certain, above 1 where a cache delivers a part.
    share_max: float  #: The same, at most.
    amount: float  #: Of `unit`, certain at least,
    amount_max: float  #: and at most.
    peak: float  #: What programs that only copy reached on this GPU where that is known, else that of the data sheet.
    peak_source: str  #: The program that reached it, or data sheet; empty = a pipe.
    unit: str
    is_limit: bool  #: Whether it is reached: nothing else can win more than the rest.
    level: str = ""  #: Of bandwidth: HBM, GDDR6, ...
    evidence: str = ""  #: Of bandwidth: counters or distinct bytes.
    product: str = ""  #: Of bandwidth: the product whose peak it is.
    sheet_peak: float | None = None  #: Of bandwidth: the peak of the data sheet.
    bounds_gains: bool = False  #: Whether the bytes are those of the traced dispatch: they need at least their time.


@dataclass(frozen=True)
class Pipes:
    """Busy time of the pipes of the traced SIMDs, as shares of their time."""

    matrix_share: float
    valu_share: float
    matrix_count: int
    valu_count: int


def pipes(trace: ThreadTrace) -> Pipes:
    """Busy shares of the matrix and vector pipes, as `states` has them."""
    rows = {row["pipe"]: row for row in utilization(trace).pipes.iter_rows(named=True)}
    matrix, vector = (rows.get(name, {"busy_share": 0.0, "issue_count": 0}) for name in ("MATRIX", "VALU"))
    matrix_share, valu_share = (min(1.0, row["busy_share"] or 0.0) for row in (matrix, vector))
    return Pipes(matrix_share, valu_share, matrix["issue_count"], vector["issue_count"])


def roofs(trace: ThreadTrace, traffic: Traffic | None, used: Pipes, filling: Filling, gains: Gains) -> list[Roof]:
    """Every roof that is known, the one that limits first, then by share of the GPU's peak."""
    filled = filling.mean_share * (1 - filling.unused_share)  # share of the slots of the GPU, over the time
    uses = {"matrix": used.matrix_share, "VALU": used.valu_share}
    known_roofs = [
        Roof(f"{name} throughput", use, use, use, use, 1.0, "", "of the time", use * filled >= _BUSY_PIPE_SHARE)
        for name, use in uses.items()
    ]
    gpu = machine(trace)
    if gpu is not None and traffic is not None and traffic.is_evidence and traffic.bytes_per_second is not None:
        starting = sum(gains.causes.get(cause, 0.0) for cause in _STARTING)
        waits = gains.memory_gain_share >= _MEMORY_GAIN_SHARE and starting < _STARTING_SHARE
        known_roofs += _bandwidth(traffic, traffic.bytes_per_second, gpu, waits=waits)
    return sorted(known_roofs, key=lambda roof: (not roof.is_limit, -roof.share))


def _bandwidth(traffic: Traffic, rate: tuple[float, float], gpu: Machine, *, waits: bool) -> list[Roof]:
    """The roof of the memory, from bytes that are really traffic."""
    low, high = rate
    level, peak, source = memory_peak(gpu, low)
    if not peak:
        return []
    enough = _AT_ROOF_SHARE_NARROW if traffic.narrow_share > 0.5 else _AT_ROOF_SHARE
    return [
        Roof(
            name="memory bandwidth",
            share=low / peak,
            share_max=high / peak,
            amount=low,
            amount_max=high,
            peak=float(peak),
            peak_source=source,
            unit="bytes per second",
            is_limit=waits and traffic.is_of_dispatch and low >= enough * peak,
            level=level,
            evidence=traffic.evidence,
            product=gpu.product.name,
            sheet_peak=gpu.product.memory_bytes_per_second_peak if level == gpu.arch.memory_kind else None,
            bounds_gains=traffic.is_of_dispatch,
        )
    ]


def memory_peak(gpu: Machine, bytes_per_second: float) -> tuple[str, int | None, str]:
    """Level that limits such a rate, its bytes per second, and who reached them: a program that only copies, if known.

    What is above the rate that copies reach comes from the cache in front of the memory.
    """
    product, kind = gpu.product, gpu.arch.memory_kind
    copies, cache = product.memory_bytes_per_second_reached, product.infinity_cache_bytes_per_second_reached
    if copies and bytes_per_second <= _ABOVE_REACHED * copies:
        return kind, copies, product.memory_reached_by
    if copies and cache:
        return "Infinity Cache", cache, product.memory_reached_by
    return kind, product.memory_bytes_per_second_peak, DATA_SHEET
