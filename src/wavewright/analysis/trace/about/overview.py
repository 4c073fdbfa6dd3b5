"""Contents of a trace: its size, what is missing, and what was lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from wavewright.analysis.trace.about.subject import inferred_gpu
from wavewright.analysis.trace.clocks import alignment
from wavewright.model.answer import Answer
from wavewright.model.counters import CounterSet
from wavewright.model.launch import Launch
from wavewright.model.losses import LOSSES
from wavewright.model.schema import SAMPLE_COUNTS, STATES, THREAD_TRACE, TableSpec
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


@dataclass(frozen=True)
class Contents(Answer, package=__package__):
    """The contents of a trace."""

    tables: ClassVar[Mapping[str, TableSpec]] = {"kernels": THREAD_TRACE["kernels"]}

    overview: Overview
    format: str
    target_origin: str
    inferred_gpu: str  #: Where no file names the GPU, the one that the code is sure to be of; empty = several.
    shader_engines: tuple[int, ...]  #: Those that traced waves ran on; without waves, all that the trace names.
    code_rows: int
    rows_with_line: int  #: Code rows that debug lines lead to a source line.
    source_texts: int  #: Source files whose text is in the trace.
    counter_samples: int
    markers: int
    realtime_pairs: int
    pc_samples: int
    sampling_method: str  #: Of the PC samples: `host trap`, or `stochastic` where they record issue and stalls.
    sampled_dispatches: int  #: Dispatches with PC samples; 0 = not recorded.
    kernels: pl.DataFrame
    missing: tuple[str, ...]


def contents(trace: ThreadTrace) -> Contents:
    """Count the contents of a trace, and list missing data."""
    samples = trace.samples
    inferred = "" if trace.source.target else inferred_gpu(trace)
    texts = trace.sources["text"]
    method = "host trap" if samples["unknown_count"].sum() else "stochastic"
    return Contents(
        overview=overview(trace),
        format=trace.source.format,
        target_origin=trace.source.target_origin,
        inferred_gpu=inferred,
        shader_engines=tuple((trace.waves if trace.waves.height else trace.shader_engines)["se"].unique().sort()),
        code_rows=trace.code.height,
        rows_with_line=trace.code.height - trace.code["line"].null_count(),
        source_texts=texts.len() - texts.null_count(),
        counter_samples=trace.sampled_counters.height,
        markers=trace.markers.height or trace.shader_data.height,
        realtime_pairs=trace.realtime.height,
        pc_samples=sum(int(samples[name].sum()) for name in SAMPLE_COUNTS),
        sampling_method=method if samples.height else "",
        sampled_dispatches=trace.sampled_dispatches["dispatch"].drop_nulls().len(),
        kernels=_entered(trace),
        missing=_missing(trace, inferred),
    )


def _entered(trace: ThreadTrace) -> pl.DataFrame:
    """The kernels that waves entered, or whose functions were sampled."""
    if trace.samples.height and not trace.waves.height and not trace.occupancy.height:
        sampled = trace.code.join(trace.samples, on="row", how="semi")["function"]
        return trace.kernels.filter(pl.col("name").is_in(sampled.drop_nulls().unique().implode()))
    entered = trace.waves["kernel"].drop_nulls().unique()
    if not entered.len():
        entered = trace.occupancy["kernel"].drop_nulls().unique()
    return trace.kernels.filter(pl.col("kernel").is_in(entered.to_list()))


def _missing(trace: ThreadTrace, inferred: str) -> tuple[str, ...]:
    """What the trace could contain and does not; PC samples come without what only thread traces record."""
    has_samples = trace.samples.height
    has = {
        "waves": trace.waves.height or has_samples,
        "code": trace.code.height,
        "occupancy": trace.occupancy.height or has_samples,
        "source lines": trace.code["line"].drop_nulls().len(),
        "source texts": trace.sources["text"].drop_nulls().len(),
        "registers and LDS": _entered(trace)["vgprs"].drop_nulls().len(),
        "the exact GPU": trace.source.target is not None or inferred,
        "wall clock": trace.realtime.height or has_samples,
        "sampled counters": trace.sampled_counters.height or has_samples,
        "markers": trace.markers.height or trace.shader_data.height or has_samples,
    }
    return tuple(name for name, is_there in has.items() if not is_there)
