"""Kinds of capture: one class each for what is to be recorded, independent of releases.

Launches count from 1, per kernel. As JSON, `kind` is the verb that takes such a capture, and fields that have their
default are left out.
"""

from __future__ import annotations

from typing import get_args

from msgspec import Struct

ROCPROFV3 = "rocprofv3"


class Program(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """The program and where it runs, which all kinds have."""

    program: tuple[str, ...]
    variables: dict[str, str] = {}  #: Set for the program (--env).
    cwd: str = ""  #: Folder in which it runs; empty = the current one.
    gpu_index: int | None = None  #: The only GPU that it sees; None = all.
    extra: tuple[str, ...] = ()  #: More words for rocprofv3, as the user wrote them.


class KernelChoice(Program, frozen=True, kw_only=True):
    """Kinds that record chosen dispatches."""

    kernel: str = ""  #: Name, or part of one; a discovery or a plan makes a regex of it. Empty = not told.
    kernel_regex: str = ""  #: As rocprofv3 takes it; empty = every kernel.
    exclude_regex: str = ""
    launches: tuple[int, ...] = ()  #: Empty = what rocprofv3 does by itself.


class Discovery(Program, frozen=True, kw_only=True, tag="discover"):
    """Names of kernels, how often they run and how long."""


class ThreadTraces(KernelChoice, frozen=True, kw_only=True, tag="att"):
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
    arguments_library: str = ""  #: Loaded into the program: it writes arguments of launches (examples/hip-arguments).


class Counters(KernelChoice, frozen=True, kw_only=True, tag="counters"):
    """Hardware counters; the program runs once per pass."""

    passes: tuple[tuple[str, ...], ...] = ()
    definitions: str = ""  #: YAML of counters that rocprofv3 does not know by name (-E).


class Samples(Program, frozen=True, kw_only=True, tag="samples"):
    """PC samples; None = what the GPU supports."""

    method: str | None = None  #: host_trap or stochastic.
    unit: str | None = None  #: time (microseconds), cycles or instructions.
    interval: int | None = None


USUAL_PARTS = ("kernel", "hip", "memory", "markers")  #: Of a run trace, where nothing else is asked for.


class RunTrace(Program, frozen=True, kw_only=True, tag="run"):
    """A trace of the whole program, as a ROCpd database."""

    parts: tuple[str, ...] = USUAL_PARTS
    tool: str = ROCPROFV3  #: Or one of `plans/other_tools.toml`.


def is_by_rocprofv3(request: Program) -> bool:
    """True for all that rocprofv3 records."""
    return not isinstance(request, RunTrace) or request.tool == ROCPROFV3


Recording = Discovery | ThreadTraces | Counters | Samples | RunTrace
#: Kinds by the verbs that take them.
KINDS: dict[str, type[Recording]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Recording)}
