"""Scenarios and what they make: raw buffers of shader engines together with the ground truth."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from synth import lower_gfx9, lower_rdna
from synth.encode_gfx9 import encode as encode_gfx9
from synth.encode_rdna import encode as encode_rdna
from synth.kernel import DEFAULT_TARGET, KernelImage, tour
from synth.planner import Planner
from wavewright.codeobj.targets import FAMILIES, family_of
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from synth.plan import EnginePlan, LoadedObject
    from synth.truth import Truth

_VERSIONS = {"gfx9": (4, 5, 6), "gfx10": (2, 1), "gfx11": (3,), "gfx12": (4,), "gfx1250": (5,)}
_SLOTS = {"gfx9": 10}
_RDNA_SLOTS = 16  # the masks of WAVE_READY and IMMEDIATE address so many


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Description of a trace to synthesize. Equal scenarios give equal bytes.

    Counts are per shader engine; wave counts are those of the traced CU (gfx9) or SIMD (RDNA), of which 0 workgroups
    have none. `loop_trips` is how often each backward branch is taken per entry of its loop. `markers` tells when
    code-object markers come: at the start, late (waves already run), during the trace before each dispatch, or none
    (raw addresses). `keep_share` < 1 cuts the buffers as if the trace buffer had been full. `decisions` says
    for each wave of a workgroup which conditional branches it takes, in the order in which it comes to them.

    Raises
    ------
    UsageError
        The parts do not fit together.

    Examples
    --------
    >>> Scenario(family="gfx11").kernels[0].target
    'gfx1100'
    """

    family: str = "gfx9"
    kernels: tuple[KernelImage, ...] = ()
    shader_engines: int = 1
    dispatches: int = 1
    workgroups: int = 2
    waves_per_workgroup: int = 4
    waves_per_simd: int = 4
    loop_trips: int = 3
    other_waves: int = 4
    earlier_waves: int = 0
    seed: int = 0
    target_cu: int = 1
    target_simd: int = 0
    stream_version: int | None = None
    markers: Literal["start", "late", "during", "none"] = "start"
    unload: bool = False
    same_address: bool = False
    wide_ids: bool = False
    counters: bool = False
    shader_data: bool = False
    extended_starts: bool = False
    execution_tokens: bool = False
    double_buffer: bool = False
    realtime_pairs: int = 0
    events: int = 0
    other_simd: int = 0
    noise: int = 0
    loss: bool = False
    keep_share: float | None = None
    workgroup_size: tuple[int, int, int] | None = None
    decisions: tuple[tuple[bool, ...], ...] = ()

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise UsageError(f"unknown family {self.family!r}", advice="known: " + ", ".join(FAMILIES))
        if not self.kernels:
            object.__setattr__(self, "kernels", (tour(DEFAULT_TARGET[self.family]),))
        _check(self)

    @property
    def version(self) -> int:
        """The stream version that goes into the header."""
        return self.stream_version or _VERSIONS[self.family][0]


def _check(scenario: Scenario) -> None:
    gfx9 = scenario.family == "gfx9"
    slots = _SLOTS["gfx9"] if gfx9 else _RDNA_SLOTS
    room = scenario.waves_per_simd * (4 if gfx9 else 1)
    wrong = [
        (
            scenario.version not in _VERSIONS[scenario.family],
            f"{scenario.family} has no stream version {scenario.version}",
        ),
        (
            any(family_of(kernel.target) != scenario.family for kernel in scenario.kernels),
            f"a kernel is not for {scenario.family}",
        ),
        (not 1 <= scenario.waves_per_simd <= slots, f"waves_per_simd must be 1 to {slots}"),
        (not 1 <= scenario.waves_per_workgroup <= room, f"waves_per_workgroup must be 1 to {room} here"),
        (min(scenario.dispatches, scenario.shader_engines) < 1, "counts must be at least 1"),
        (scenario.workgroups < 0, "counts must not be negative"),
        (scenario.markers == "late" and not scenario.workgroups, "late markers need a workgroup"),
        (not 0 <= scenario.target_cu < (16 if gfx9 else 8), "target_cu is out of range"),
        (not 0 <= scenario.target_simd < 4, "target_simd must be 0 to 3"),
        (len(scenario.decisions) not in (0, scenario.waves_per_workgroup), "decisions must be for all waves"),
        (scenario.keep_share is not None and not 0 < scenario.keep_share < 1, "keep_share must lie between 0 and 1"),
    ]
    for is_wrong, message in wrong:
        if is_wrong:
            raise UsageError(message)


@dataclass(frozen=True)
class SyntheticTrace:
    """One shader engine's raw buffer; `windows` is the byte range that `grow` repeats."""

    shader_engine: int
    data: bytes = field(repr=False)
    windows: tuple[int, int]
    plan: EnginePlan = field(repr=False)
    _acts: list[tuple[int, int, int, int]] = field(repr=False)
    _cut_inside_token: bool = field(repr=False)

    @property
    def code_objects(self) -> tuple[LoadedObject, ...]:
        """The code objects of the traced process with their listings and load addresses."""
        return self.plan.code_objects

    @cached_property
    def truth(self) -> Truth:
        """The tables that decoding `data` must give (computed when first asked for)."""
        if self.plan.family == "gfx9":
            from synth.truth_gfx9 import truth_gfx9

            return truth_gfx9(self.plan, self._acts, cut_inside_token=self._cut_inside_token)
        from synth.truth_rdna import truth_rdna

        return truth_rdna(self.plan, self._acts)


@dataclass(frozen=True)
class SyntheticCapture:
    """The buffers of all shader engines of a scenario."""

    scenario: Scenario
    traces: tuple[SyntheticTrace, ...]

    @property
    def code_objects(self) -> tuple[LoadedObject, ...]:
        """The code objects, the same for all shader engines."""
        return self.traces[0].code_objects


def synthesize(scenario: Scenario) -> SyntheticCapture:
    """Make the raw buffers of a scenario.

    Raises
    ------
    UsageError
        A kernel's walk leaves its listing, does not end, or meets an instruction without a token.

    Examples
    --------
    >>> trace = synthesize(Scenario(family="gfx12", workgroups=1, waves_per_workgroup=1)).traces[0]
    >>> trace.truth.wave_count
    1
    """
    with _garbage_collection_paused():
        traces = tuple(_synthesize_engine(scenario, engine) for engine in range(scenario.shader_engines))
    return SyntheticCapture(scenario, traces)


@contextmanager
def _garbage_collection_paused() -> Iterator[None]:
    """Millions of tuples are made and none of them in a cycle: looking for cycles costs a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _synthesize_engine(scenario: Scenario, shader_engine: int) -> SyntheticTrace:
    plan = Planner(scenario, shader_engine).build()
    gfx9 = scenario.family == "gfx9"
    acts = lower_gfx9.lower(plan) if gfx9 else lower_rdna.lower(plan)
    encoded = encode_gfx9(plan, acts) if gfx9 else encode_rdna(plan, acts)
    windows = (encoded.windows_start_byte, encoded.windows_end_byte)
    return SyntheticTrace(shader_engine, encoded.data, windows, plan, acts[: encoded.acts], encoded.cut_inside_token)
