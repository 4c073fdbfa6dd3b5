"""What a capture is to record: one class per kind, independent of releases. Launches count from 1, per kernel."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What all kinds of capture have in common: the program, and where it runs."""

    program: tuple[str, ...]
    variables: dict[str, str] = field(default_factory=dict, hash=False)  #: Set for the program (--env).
    cwd: str = ""  #: Folder in which it runs; empty = the current one.
    gpu_index: int | None = None  #: The only GPU that it sees; None = all.
    extra: tuple[str, ...] = ()  #: More words for rocprofv3, as the user wrote them.


@dataclass(frozen=True, kw_only=True)
class KernelChoice(Wanted):
    """Kinds that record chosen dispatches."""

    kernel: str = ""  #: Name, or part of one; a discovery or a plan makes a regex of it. Empty = not told.
    kernel_regex: str = ""  #: As rocprofv3 takes it; empty = every kernel.
    exclude_regex: str = ""
    launches: tuple[int, ...] = ()  #: Empty = what rocprofv3 does by itself.


@dataclass(frozen=True, kw_only=True)
class Discovery(Wanted):
    """Which kernels run, how often and how long."""


@dataclass(frozen=True, kw_only=True)
class ThreadTraces(KernelChoice):
    """Thread traces of chosen launches; None = chosen per architecture."""

    launch_count: int = 2  #: How many neighbouring launches a discovery chooses; two show the noise of the capture.
    target_cu: int | None = None
    simds: int | None = None  #: gfx9: mask of SIMDs; gfx10 and newer: number of one SIMD.
    se_mask: int | None = None
    buffer_bytes: int | None = None  #: Of all selected shader engines together.
    counters: tuple[str, ...] = ()  #: SQ counters sampled into the trace, gfx9 only: NAME or NAME:MASK.
    counter_period: int | None = None  #: 1 to 32; smaller is more often.
    activity: int | None = None  #: 1 to 16: the eight activity counters at this period.
    target_only: bool = False  #: Counters of the target CU only.
    serialize_all: bool = False
    consecutive: int | None = None  #: Dispatches from a chosen one on into one trace.


@dataclass(frozen=True, kw_only=True)
class Counters(KernelChoice):
    """Hardware counters; the program runs once per pass."""

    passes: tuple[tuple[str, ...], ...] = ()
    definitions: str = ""  #: YAML of counters that rocprofv3 does not know by name (-E).


@dataclass(frozen=True, kw_only=True)
class Samples(Wanted):
    """PC samples; None = what the GPU supports."""

    method: str | None = None  #: host_trap or stochastic.
    unit: str | None = None  #: time (microseconds), cycles or instructions.
    interval: int | None = None


@dataclass(frozen=True, kw_only=True)
class RunTrace(Wanted):
    """A trace of the whole program, as a ROCpd database."""

    parts: tuple[str, ...] = ("kernel", "hip", "memory", "markers")
