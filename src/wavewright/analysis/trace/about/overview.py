"""Size and completeness of a trace."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.clocks import alignment
from wavewright.model.counters import CounterSet
from wavewright.model.launch import Launch
from wavewright.model.losses import LOSSES
from wavewright.model.schema import STATES
from wavewright.model.trace import ThreadTrace
from wavewright.model.traced_span import clock_mhz


@dataclass(frozen=True)
class LossLine:
    """One loss, in words."""

    kind: str
    count: int
    se: int | None
    time_cycles: int | None
    byte_offset: int | None
    message: str
    advice: str
    is_damage: bool


@dataclass(frozen=True)
class Overview:
    """Counts and completeness of a trace."""

    agent: int | None
    dispatch: int | None
    target: str | None
    gfxip: int
    shader_engines: int
    bytes: int
    waves: int
    waves_complete: int
    instructions: int
    unresolved: int  #: Instructions with an unknown PC.
    #: From the first start to the last end of a traced wave, on one clock where the shader engines can be aligned.
    span_cycles: int
    clock_mhz: float | None  #: Shader clock from the realtime pairs; None = not recorded.
    occupancy_events: int
    kernels: tuple[str, ...]
    state_cycles: dict[str, int]  #: Cycles of all traced waves per state.
    launch: Launch | None  #: The traced dispatch in the run recorded beside the trace; None = not found.
    losses: tuple[LossLine, ...]

    @property
    def damaged(self) -> bool:
        """True if anything was lost (`--strict` asks)."""
        return any(loss.is_damage for loss in self.losses)


def overview(trace: ThreadTrace) -> Overview:
    """Count the contents of a trace."""
    waves, engines, executed_rows = trace.waves, trace.shader_engines, trace.executed
    launch = trace.launch  # before the losses, of which it may be one
    return Overview(
        agent=trace.source.agent,
        dispatch=trace.source.dispatch,
        target=trace.source.target,
        gfxip=max(engines["gfxip"].to_list(), default=0),
        shader_engines=engines.height,
        bytes=int(engines["byte_count"].sum()),
        waves=waves.height,
        waves_complete=int(waves["complete"].sum()),
        instructions=executed_rows.instruction_count,
        unresolved=executed_rows.unresolved_count,
        span_cycles=traced_span(trace),
        clock_mhz=clock_mhz(trace),
        occupancy_events=trace.occupancy.height,
        kernels=tuple(trace.kernels["demangled"].to_list()),
        state_cycles={STATES.get(state, str(state)): cycles for state, cycles in executed_rows.state_cycles.items()},
        launch=launch,
        losses=losses_of(trace),
    )


def traced_span(trace: ThreadTrace) -> int:
    """Cycles from the first start to the last end of a traced wave, on one clock; 0 = no wave was traced."""
    offsets = alignment(trace).offsets
    by_engine = trace.waves.group_by("se").agg(pl.col("start_cycles").min(), pl.col("end_cycles").max())
    starts = [start + offsets.get(se, 0) for se, start, _ in by_engine.iter_rows()]
    ends = [end + offsets.get(se, 0) for se, _, end in by_engine.iter_rows()]
    return max(ends, default=0) - min(starts, default=0)


def losses_of(trace: ThreadTrace | CounterSet) -> tuple[LossLine, ...]:
    """The losses of a trace, or of a counter capture, each with whether it is damage."""
    rows = trace.losses.iter_rows(named=True)
    return tuple(LossLine(**row, is_damage=LOSSES[row["kind"]].is_damage) for row in rows)


#: Losses that explain missing code, the most specific first.
_OF_MISSING_CODE = ("missing_files", "no_code_object", "no_disassembler", "unknown_rows", "unresolved_pcs")


def unknown_code(trace: ThreadTrace) -> str:
    """The reason why a trace with executed instructions has no results by instruction or line; empty = it has."""
    count = trace.instructions.height
    if not count or trace.executed.rows:
        return ""
    reasons = {loss.kind: f": {loss.message}; {loss.advice}" for loss in losses_of(trace)[::-1]}
    reason = next((reasons[kind] for kind in _OF_MISSING_CODE if kind in reasons), "")
    return f"{count:,} instructions were executed, but the code of none of them is known{reason}"
