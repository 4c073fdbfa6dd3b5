"""Contents of a trace: its size, what is missing, and what was lost."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath
from typing import ClassVar

import polars as pl

from wavewright.analysis.common.occupancy.architecture import architecture
from wavewright.analysis.trace.clocks import alignment
from wavewright.base.shown import quoted
from wavewright.base.words import counted, percent
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.model.answer import Answer
from wavewright.model.counters import CounterSet
from wavewright.model.launch import Launch
from wavewright.model.losses import LOSSES
from wavewright.model.schema import SAMPLE_COUNTS, STATES, THREAD_TRACE, TableSpec
from wavewright.model.trace import ThreadTrace
from wavewright.model.traced_span import clock_mhz


@dataclass(frozen=True)
class Subject:
    """The dispatch that a trace is of."""

    kernel: str | None  #: The kernel with the most time of traced waves, demangled; None = not known.
    kernel_count: int  #: Kernels whose waves were traced, or seen on other CUs where none was.
    dispatch: int | None
    dispatch_key: str  #: What `--dispatch` takes for it.
    dispatch_count: int  #: Dispatches of the input, this one included.
    agent: int | None
    target: str | None  #: gfx942, ...; None = the exact GPU is not known.
    gpu: str  #: The GPU in words.
    duration_ns: int | None  #: Of the dispatch, from the run beside the capture; None = not known.


def subject(trace: ThreadTrace) -> Subject:
    """Name what the trace shows."""
    source = trace.source
    kernels = entered_kernels(trace)
    launch = getattr(trace, "launch", None)
    return Subject(
        kernel=next(iter(kernels["demangled"]), None),
        kernel_count=kernels.height,
        dispatch=source.dispatch,
        dispatch_key=source.dispatch_key or ("" if source.dispatch is None else str(source.dispatch)),
        dispatch_count=1 + len(source.other_dispatches),
        agent=source.agent,
        target=source.target,
        gpu=_gpu(trace),
        duration_ns=launch.duration_ns if launch is not None else None,
    )


def entered_kernels(trace: ThreadTrace) -> pl.DataFrame:
    """The kernels of the traced waves, that with the most cycles first; without waves, those of the occupancy events,
    of PC samples, or all that the trace names."""
    costs = _costs(trace)
    if not costs.height:
        return trace.kernels
    return trace.kernels.join(costs, on="kernel").sort("cost", "kernel", descending=[True, False]).drop("cost")


def _costs(trace: ThreadTrace) -> pl.DataFrame:
    """`kernel` and `cost`: cycles of traced waves; without any, occupancy events; without those, PC samples."""
    lifetime = (pl.col("end_cycles") - pl.col("start_cycles")).sum()
    has_kernel = pl.col("kernel").is_not_null()
    costs = trace.waves.filter(has_kernel).group_by("kernel").agg(cost=lifetime)
    if not costs.height:
        costs = trace.occupancy.filter(has_kernel).group_by("kernel").agg(cost=pl.len())
    if not costs.height and trace.samples.height:
        sampled = trace.samples.select("row", cost=pl.col("issued_count") + pl.col("stalled_count"))
        by_function = sampled.join(trace.code.select("row", "function"), on="row").group_by("function")
        totals = by_function.agg(pl.col("cost").sum())
        costs = trace.kernels.join(totals, left_on="name", right_on="function").select("kernel", "cost")
    return costs


def _gpu(trace: ThreadTrace) -> str:
    target = trace.source.target
    if target is None:
        return inferred_gpu(trace) or (f"gfx{trace.gfxip}, exact GPU not known" if trace.gfxip else "GPU not known")
    name = target.rsplit("--", 1)[-1].split(":", 1)[0].lower()  # amdgcn-amd-amdhsa--gfx942:sramecc+
    return f"{target} ({gpus.of(name).family})" if name in gpus.TARGETS else target


def inferred_gpu(trace: ThreadTrace) -> str:
    """The GPU that the code is sure to be of; empty = it can be of several."""
    with suppress(UsageError):
        inferred = architecture(trace) if trace.gfxip else None
        if inferred and inferred.is_certain:
            return f"{inferred.facts.target} ({inferred.facts.family}, inferred)"
    return ""


def microseconds(nanoseconds: float) -> str:
    """A duration of a kernel as text."""
    return f"{nanoseconds / 1000:,.1f} µs"


def launch_sentence(launch: Launch) -> str:
    """The traced call, its duration, and its distance from the median call.

    >>> from wavewright.model.launch import Launch
    >>> launch_sentence(Launch("gemm", 3, 7100, 1, 150, 4900.0, 4700.0, 5200.0, "28_results.db"))
    'first of 150 calls, 45 % slower than the median (7.1 µs against 4.9 µs)'
    >>> launch_sentence(Launch("gemm", 3, 4900, 7, 9, 4900.0, 4700.0, 5200.0, "28_results.db", kernel_call_count=12))
    'call 7 of 9 with this grid, as long as the median (4.9 µs)'
    >>> launch_sentence(Launch("gemm", 3, 7100, 1, 1, 7100.0, 7100.0, 7100.0, "28_results.db"))
    'the only call, 7.1 µs'
    """
    grid = " with this grid" if launch.kernel_call_count > launch.call_count else ""
    took = microseconds(launch.duration_ns)
    if launch.call_count == 1:
        return f"the only call{grid}, {took}"
    place = "first of" if launch.call_number == 1 else f"call {launch.call_number:,} of"
    number = counted(launch.call_count, "calls") if launch.call_number == 1 else f"{launch.call_count:,}"
    share = percent(abs(launch.above_median_share), 0)
    if share == percent(0.0, 0):
        return f"{place} {number}{grid}, as long as the median ({took})"
    word = "slower" if launch.above_median_share > 0 else "faster"
    median = microseconds(launch.duration_ns_median)
    return f"{place} {number}{grid}, {share} {word} than the median ({took} against {median})"


def launch_source(launch: Launch) -> str:
    """The name of the file that the calls are recorded in."""
    return PurePath(launch.path).name


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
    launch = trace.launch  # read first: that no launch was found may itself become a loss
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
    """Data that the trace could contain and does not; PC samples come without what only thread traces record."""
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


def require_instructions(trace: ThreadTrace, where: str) -> ThreadTrace:
    """Return the trace if it has instructions; the error names the verb that fits its content.

    Raises `UsageError` when it has none.
    """
    if trace.instruction_count:
        return trace
    source = trace.source
    place = quoted(where)
    arguments = f"{place} --dispatch {source.dispatch_key}" if source.other_dispatches else place
    if trace.samples.height:
        what = "these are PC samples: they record how often a row was seen, not when"
        raise UsageError(what, where=where, advice=f"wavewright hotspots {arguments}")
    if "placeholder" in trace.losses["kind"]:
        number = f"dispatch {source.dispatch_key} is " if source.dispatch_key else ""
        what = f"{number}an empty placeholder: nothing was captured"
        raise UsageError(what, where=where, advice=f"wavewright info {place} lists the other dispatches")
    if trace.stored_totals["hit_count"].sum():
        what = "the wave files are missing: there are totals per instruction, but no instructions"
        advice = f"copy the whole directory; wavewright hotspots {arguments} and stalls --classic use the totals"
        raise UsageError(what, where=where, advice=advice)
    what = "no wave ran on the traced CU, so there are no instructions"
    if trace.occupancy.height:
        advice = f"wavewright occupancy {arguments} shows the waves of the other CUs"
        raise UsageError(what, where=where, advice=advice)
    raise UsageError(what, where=where, advice=f"wavewright info {arguments}")


def has_only_samples(trace: ThreadTrace) -> bool:
    """True if the trace has PC samples and no instructions."""
    return trace.samples.height > 0 and not trace.instruction_count
