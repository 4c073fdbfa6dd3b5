"""Events of one shader engine during a synthetic trace, independent of the stream format.

A plan is what the encoders write and what the ground truth is computed from. Times are shader-clock cycles.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from synth.isa import CodeGraph
    from synth.kernel import KernelImage
    from synth.timing import Wave


@dataclass(frozen=True)
class LoadedObject:
    """A code object in the traced process; `id` is what the trace's markers call it."""

    id: int
    load_address: int
    size: int
    listing_tsv: bytes
    code: CodeGraph
    elf: bytes | None = None


@dataclass
class PlannedWave:
    """One wave: on the traced SIMDs with its steps, elsewhere only its start and end."""

    cu: int  # RDNA: bit 7 = shader array, low bits = WGP
    simd: int
    slot: int
    begin: int
    end: int
    me: int
    pipe: int
    workgroup: int
    work_items: int
    code_object: LoadedObject
    entry: int  # ELF address of the kernel
    run: Wave | None = None
    start_lost: bool = False
    end_lost: bool = False


@dataclass(frozen=True)
class Happening:
    """Something that is written at one moment."""

    time: int


@dataclass(frozen=True)
class AgentInfo(Happening):
    """The instrumentation stream is switched on and tells clock frequency and counter interval (0 = not told)."""

    realtime_khz: int
    counter_interval_cycles: int


@dataclass(frozen=True)
class CodeObjectChange(Happening):
    """A load or unload marker."""

    code_object: LoadedObject
    unload: bool
    from_start: bool
    me: int
    pipe: int
    legacy_id: bool  # the id stands in the tail word instead of words of its own


@dataclass(frozen=True)
class Resources:
    """Register and LDS granules of a dispatch, as the program resource registers hold them."""

    vgpr_granules: int
    sgpr_granules: int
    lds_granules: int
    user_sgprs: int
    flags: int  # 4 bits


@dataclass(frozen=True)
class Dispatch(Happening):
    """A kernel launch."""

    kernel: KernelImage
    code_object: LoadedObject
    me: int
    pipe: int
    workgroup_size: tuple[int, int, int]
    resources: Resources


@dataclass(frozen=True)
class Event(Happening):
    """A command-processor or trace event, by its name in `model`."""

    name: str
    me: int = 0
    pipe: int = 0
    bottom_of_pipe: bool = False


@dataclass(frozen=True)
class Realtime(Happening):
    """A pair of shader clock and wall clock; `low_only` uses the short form (gfx9)."""

    ticks: int
    low_only: bool = False


@dataclass(frozen=True)
class ShaderData(Happening):
    """A value of s_ttracedata from a wave whose instructions are not traced."""

    cu: int
    simd: int
    slot: int
    value: int
    immediate: bool = False


@dataclass(frozen=True)
class CounterSample(Happening):
    """Four counter increments of one CU and bank (gfx9)."""

    cu: int
    bank: int
    values: tuple[int, int, int, int]


@dataclass(frozen=True)
class OtherSimd(Happening):
    """The other SIMD of the traced pair uses a shared unit (gfx11 and later)."""

    category: int
    duration_cycles: int


@dataclass(frozen=True)
class ClusterMark(Happening):
    """Workgroups that follow belong to a cluster (gfx1250)."""

    cluster: int
    last: bool


@dataclass(frozen=True)
class PacketLoss(Happening):
    """The hardware dropped tokens."""


@dataclass(frozen=True)
class Noise(Happening):
    """A token that takes time and means nothing to a decoder."""

    choice: int


@dataclass
class EnginePlan:
    """Everything about one shader engine's buffer."""

    family: str
    stream_version: int
    shader_engine: int
    target_cu: int
    target_simd: int
    seed: str
    code_objects: tuple[LoadedObject, ...]
    waves: list[PlannedWave] = field(default_factory=list)
    happenings: list[Happening] = field(default_factory=list)
    windows_begin: int = 0  # cycle from which on the trace repeats when it is grown
    windows_end: int = 0
    double_buffer: bool = False
    double_precision_rate: int = 0
    execution_tokens: bool = False  # gfx10 to gfx12
    extended_starts: bool = False  # gfx12 and later: wave starts tell their workgroup
    steady_reports: bool = False  # gfx9: instructions are reported as they issue, without a lag that varies
    keep_share: float | None = None  # of the windows' bytes: the trace buffer was full; None = all
