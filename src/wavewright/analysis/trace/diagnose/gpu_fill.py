"""The GPU of a trace, and how the waves of its dispatch fill it: CUs without work, rounds and tail, empty slots."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import polars as pl

from wavewright import _core
from wavewright.analysis.common.occupancy.architecture import possible_targets
from wavewright.analysis.trace.barriers import passages
from wavewright.analysis.trace.parts import answers
from wavewright.analysis.trace.selection import traced_waves
from wavewright.analysis.trace.waits.stall_rows import stall_rows
from wavewright.analysis.trace.waves.resident import resident_waves
from wavewright.facts.gpus import Arch
from wavewright.facts.gpus.facts import Product
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace
from wavewright.model.traced_span import clock_mhz

#: A GPU of the gfx9 family that ran more than this above a product's highest clock is not that product. (Boards of
#: the RDNA families run above the boost clock of their data sheet.)
_CLOCK_SLACK = 1.02


@dataclass(frozen=True)
class Machine:
    """A product, at the clock of a trace."""

    arch: Arch
    product: Product
    clock_hz: float  #: Measured; the highest clock of the product where the trace has no realtime pairs.
    is_certain: bool  #: Whether it cannot be another product.

    @property
    def compute_units_per_engine(self) -> float | None:
        """CUs of one shader engine; WGPs where workgroups run on WGPs, as the trace numbers them."""
        if not self.product.cu_count or not self.product.se_count:
            return None
        return self.product.cu_count / self.product.se_count / self.arch.cus_per_wgp


@once_per_trace
def machine(trace: ThreadTrace) -> Machine | None:
    """The GPU of a trace; of several products that it may be, the first one of its target. None = not known."""
    measured = (clock_mhz(trace) or 0) * 1e6
    possible = []
    for arch in possible_targets(trace):
        for product in arch.products:
            highest = product.clock_hz_max
            if trace.gfxip == 9 and highest and measured > highest * _CLOCK_SLACK:
                continue
            if clock := measured or highest:
                possible.append(Machine(arch, product, clock, is_certain=False))
    return replace(possible[0], is_certain=len(possible) == 1) if possible else None


_SIMD = ("se", "cu", "simd")
_SLOT = (*_SIMD, "slot")


@dataclass(frozen=True)
class Vacancy:
    """Empty time of the slots that held waves at the peak, as shares of their time: together `1 - mean_share`."""

    ramp_share: float  #: Before the shader engine first held as many waves as fit.
    refill_share: float  #: From then on, until the last wave started.
    drain_share: float  #: After that, until its last wave ended.
    engine_share: float  #: From there to the end of the last shader engine.
    ramp_cycles: int  #: Longest time from the first start of a shader engine to its peak.

    @property
    def launch_share(self) -> float:
        """Due to the launch: if all waves lasted equally long, the end would be as spread as the start."""
        return self.ramp_share + min(self.ramp_share, self.drain_share)

    @property
    def duration_share(self) -> float:
        """Due to waves that last longer than others."""
        return self.drain_share - min(self.ramp_share, self.drain_share)


@dataclass(frozen=True)
class WorkgroupWork:
    """Executed instructions of the traced workgroups (waves, where no barrier tells which belong together)."""

    workgroup_count: int  #: Traced ones.
    are_waves: bool  #: Whether waves are counted instead.
    instruction_count_min: float  #: Mean of the waves of a workgroup.
    instruction_count_mean: float
    instruction_count_max: float
    wave_excess: float  #: Most instructions of a wave over the mean of its workgroup, less 1.
    wave_cycles_min: int  #: Shortest life of a wave,
    wave_cycles_max: int  #: and longest.

    @property
    def excess_share(self) -> float:
        """Share of the longest workgroup's instructions that it has beyond the mean: what equal work takes away."""
        return 1 - self.instruction_count_mean / self.instruction_count_max


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
    round_count: float  #: Waves over those that fit at a time.
    vacancy: Vacancy

    @property
    def unused_share(self) -> float:
        """Share of the CUs without a working wave."""
        return max(0.0, 1 - self.used_cu_count / self.cu_count) if self.cu_count else 0.0

    @property
    def is_tail(self) -> bool:
        """True if the last round of workgroups being partly empty explains most of the missing residency."""
        rounds = self.round_count
        return rounds > 1.05 and 1 - rounds / math.ceil(rounds - 0.02) >= 0.5 * (1 - self.mean_share)


def filling(trace: ThreadTrace, left_out: tuple[int, ...] = ()) -> Filling:
    """The filling of a trace; waves `left_out` are those that left early."""
    traced = traced_waves(trace)
    early = traced.filter(pl.col("wave").is_in(list(left_out)))
    work_waves = traced.filter(~pl.col("wave").is_in(list(left_out)))
    resident = resident_waves(trace)
    of_kernels = resident.filter(pl.col("kernel").is_in(traced["kernel"].drop_nulls().unique().implode()))
    waves = of_kernels if of_kernels.height else resident
    waves = waves.with_columns(life=pl.col("end_cycles") - pl.col("start_cycles"))
    long_waves = waves.filter(pl.col("life") > _early_life(early, work_waves))
    busy_waves = long_waves if long_waves.height else waves
    engines = busy_waves.group_by("se").agg(
        span=pl.col("end_cycles").max() - pl.col("start_cycles").min(), cus=pl.col("cu").n_unique()
    )
    window = _largest(engines["span"])
    gpu = machine(trace)
    per_engine = gpu.compute_units_per_engine if gpu else None  # no fewer than were seen
    parts = [part for _, part in busy_waves.group_by("se", maintain_order=True)]
    peaks = [_peak(part) for part in parts]
    peak = sum(peaks)
    area = int(busy_waves["life"].sum())
    return Filling(
        engine_count=waves["se"].n_unique(),
        traced_engine_count=max(trace.shader_engines["se"].n_unique(), engines.height),
        wave_count=busy_waves.height,
        early_wave_count=waves.height - busy_waves.height,
        traced_wave_count=work_waves.height,
        span_cycles_mean=int(engines["span"].sum()) / max(engines.height, 1),
        wave_cycles_mean=area / max(busy_waves.height, 1),
        used_cu_count=int(engines["cus"].sum()),
        cu_count=None if per_engine is None else max(per_engine, _largest(engines["cus"])) * waves["se"].n_unique(),
        mean_share=min(1.0, area / (peak * window)) if peak and window else 1.0,
        empty_simd_share=_empty_share(busy_waves, window),
        round_count=busy_waves.height / peak if peak else 1.0,
        vacancy=_vacancy(parts, peaks, window),
    )


def _early_life(early: pl.DataFrame, work_waves: pl.DataFrame) -> float:
    """Cycles up to which a wave without instructions counts as one that left early: nearer to those, as a ratio."""
    if not early.height:
        return -1.0
    longest = _largest(early["end_cycles"] - early["start_cycles"])
    shortest = _smallest(work_waves["end_cycles"] - work_waves["start_cycles"])
    return math.sqrt(longest * shortest) if shortest > longest else float(longest)


def _vacancy(engines: list[pl.DataFrame], peaks: list[int], window: int) -> Vacancy:
    room = sum(peaks) * window
    if not room:
        return Vacancy(0.0, 0.0, 0.0, 0.0, 0)
    empty = [_empty_cycles(waves, peak) for waves, peak in zip(engines, peaks, strict=True)]
    spans = [_largest(waves["end_cycles"]) - _smallest(waves["start_cycles"]) for waves in engines]
    ramp, refill, drain = (sum(cycles[part] for cycles in empty) / room for part in range(3))
    engine_share = sum(peak * (window - span) for peak, span in zip(peaks, spans, strict=True)) / room
    return Vacancy(ramp, refill, drain, engine_share, max(cycles[3] for cycles in empty))


def _empty_cycles(waves: pl.DataFrame, peak: int) -> tuple[int, int, int, int]:
    """Cycles of empty slots of one shader engine in its ramp, in between and in its drain; and how long the ramp is."""
    events = _events(waves).with_columns(present=pl.col("change").cum_sum(), next=pl.col("time").shift(-1))
    empty = (peak - pl.col("present")) * (pl.col("next") - pl.col("time"))
    last = _largest(waves["start_cycles"])
    at_peak = events.filter(pl.col("present") == peak)["time"]
    full = _smallest(at_peak, default=last)  # the peak may never be reached: some waves end before the last one starts
    phases = (pl.col("time") < full, (pl.col("time") >= full) & (pl.col("time") < last), pl.col("time") >= last)
    ramp, refill, drain = (
        events.drop_nulls("next")
        .select(empty.filter(phase).sum().alias(str(number)) for number, phase in enumerate(phases))
        .row(0)
    )
    return ramp, refill, drain, full - _smallest(waves["start_cycles"])


def work_of(trace: ThreadTrace, left_out: tuple[int, ...] = ()) -> WorkgroupWork | None:
    """Executed instructions by workgroup; None = no wave has any."""
    parts = enumerate(answers(trace, work_of_part, left_out))
    waves = pl.concat([frame.with_columns(part=pl.lit(number)) for number, frame in parts])
    count = pl.col("instruction_count")
    groups = waves.group_by("part", "group").agg(mean=count.mean(), excess=count.max() / count.mean() - 1)
    if not groups.height:
        return None
    return WorkgroupWork(
        workgroup_count=groups.height,
        are_waves=not waves["group"].str.starts_with("workgroup").any(),
        instruction_count_min=min(groups["mean"]),
        instruction_count_mean=sum(groups["mean"]) / groups.height,
        instruction_count_max=max(groups["mean"]),
        wave_excess=max(groups["excess"]),
        wave_cycles_min=_smallest(waves["life"]),
        wave_cycles_max=_largest(waves["life"]),
    )


def work_of_part(part: ThreadTrace, _: ThreadTrace, left_out: tuple[int, ...]) -> pl.DataFrame:
    """`instruction_count`, `life` (cycles), `group` of working waves: the workgroup that barriers show, or the wave."""
    waves = traced_waves(part).filter(~pl.col("wave").is_in(list(left_out)))
    workgroups = passages(part).select("wave", met="workgroup").unique("wave")
    return waves.join(workgroups, on="wave", how="left").select(
        pl.col("instruction_count").cast(pl.Float64),
        life=pl.col("end_cycles") - pl.col("start_cycles"),
        group=pl.coalesce(pl.format("workgroup {}", "met"), pl.format("wave {}", "wave")),
    )


def slow_class(trace: ThreadTrace, left_out: tuple[int, ...] = ()) -> str:
    """Stall class at which the slower half of the waves stalls longest beyond the faster half; empty = nowhere."""
    stall_frame = pl.concat(answers(trace, stalls_of_part, left_out))
    classes = stall_rows(trace).unique("row", keep="first", maintain_order=True).select("row", "class")
    excess = stall_frame.join(classes, on="row").group_by("class").agg(pl.col("excess").sum()).sort("excess", "class")
    return str(excess["class"][-1]) if excess.height and excess["excess"][-1] > 0 else ""


def stalls_of_part(part: ThreadTrace, _: ThreadTrace, left_out: tuple[int, ...]) -> pl.DataFrame:
    """Stall cycles of every row by the slower half of the waves (sign 1), less those by the faster half (sign -1)."""
    sign = ((pl.col("end_cycles") - pl.col("start_cycles")).rank("ordinal") * 2 - 1 - pl.len()).sign().cast(pl.Int8)
    waves = traced_waves(part).filter(~pl.col("wave").is_in(list(left_out))).select("wave", sign=sign).sort("wave")
    ran = part.instructions
    columns = (ran["wave"], ran["stall_cycles"], ran["row"], waves["wave"], waves["sign"])
    return pl.DataFrame(_core.stall_excess(*columns, part.code.height))


def _peak(waves: pl.DataFrame) -> int:
    """Waves that fit at a time: all where no slot held two of them one after another, else the most there were."""
    if not waves.select(_SLOT).is_duplicated().any():
        return max(1, waves.height)
    return max(1, _largest(_events(waves)["change"].cum_sum()))


def _events(waves: pl.DataFrame) -> pl.DataFrame:
    """`time` and `change` (1 or -1 wave) of starts and ends, in order; in the same cycle an end comes first."""
    starts = waves.select(time="start_cycles", change=pl.lit(1, pl.Int64))
    ends = waves.select(time="end_cycles", change=pl.lit(-1, pl.Int64))
    return pl.concat([starts, ends]).sort("time", "change")


def _largest(values: pl.Series, default: int = 0) -> int:
    most = values.max()
    return most if isinstance(most, int) else default


def _smallest(values: pl.Series, default: int = 0) -> int:
    least = values.min()
    return least if isinstance(least, int) else default


def _empty_share(waves: pl.DataFrame, window: int) -> float:
    """Share of the window in which the SIMDs that held waves held none."""
    ordered = waves.sort(*_SIMD, "start_cycles")
    latest = pl.col("end_cycles").cum_max().shift(1).over(_SIMD)
    covered = ordered.with_columns(since=pl.max_horizontal("start_cycles", latest)).select(
        *_SIMD, busy=(pl.col("end_cycles") - pl.col("since")).clip(lower_bound=0)
    )
    per_simd = covered.group_by(_SIMD).agg(pl.col("busy").sum())
    return max(0.0, 1 - int(per_simd["busy"].sum()) / (per_simd.height * window)) if per_simd.height and window else 0.0
