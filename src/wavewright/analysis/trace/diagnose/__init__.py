"""Limits of a kernel, what could be won at most, and what should be changed first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from wavewright.analysis.code.edits.wait_audit import OPEN_BARRIERS, STRICT_WAITS
from wavewright.analysis.trace.code.control_flow import jumps_in_part
from wavewright.analysis.trace.code.wave_paths import early_waves
from wavewright.analysis.trace.costs.row_costs import cost_questions
from wavewright.analysis.trace.diagnose import gpu_fill
from wavewright.analysis.trace.diagnose.facts import Facts, facts
from wavewright.analysis.trace.diagnose.finding import DISPATCH, TRACED, Link, StallFinding
from wavewright.analysis.trace.diagnose.floor_limits import limits, with_lanes, within_floors
from wavewright.analysis.trace.diagnose.gains import Gains, PoolGain, gains, is_memory
from wavewright.analysis.trace.diagnose.grid_findings import Evenness, grid_findings, roof_finding
from wavewright.analysis.trace.diagnose.pool_findings import ISSUE_BOUND, issue_finding, pool_finding, registers_or_lds
from wavewright.analysis.trace.diagnose.remedies import CaptureFacts, capture_facts
from wavewright.analysis.trace.diagnose.roofs import Pipes, Roof, pipes, roofs
from wavewright.analysis.trace.diagnose.traffic import CountedRate, Traffic, counted_traffic, traffic
from wavewright.analysis.trace.parts import Question, ask
from wavewright.analysis.trace.pipes.utilization import pipe_questions
from wavewright.analysis.trace.trust.caveats import cold_share
from wavewright.analysis.trace.trust.verdicts import Trust, trust_of
from wavewright.analysis.trace.waits.wait_checks import wait_checks
from wavewright.analysis.trace.waits.wait_producers import resolved_in_part
from wavewright.base.bounds import BYTES_GB, bounded
from wavewright.facts.metrics.rule_voices import has_voice
from wavewright.model.answer import Answer
from wavewright.model.schema import empty_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from wavewright.analysis.common.run_gain import RunGain
    from wavewright.analysis.trace.floors import Floors
    from wavewright.analysis.trace.lanes.evaluated import LaneOptions
    from wavewright.model.counters import CounterSet
    from wavewright.model.launch import Launch
    from wavewright.model.schema import TableSpec
    from wavewright.model.trace import ThreadTrace

_NEGLIGIBLE_SHARE = 0.01  #: Causes with a smaller gain are no findings.
#: Stall classes and gaps before and after the work of a wave.
_ENDS_OF_WAVES = ("start-up", "cold instruction fetch", "wait scalar load", "store drain")


@dataclass(frozen=True)
class Diagnosis(Answer, package=__package__):
    """A prioritized plan, and how far its trace can be trusted."""

    tables: ClassVar[Mapping[str, TableSpec]] = {"strict_waits": STRICT_WAITS, "open_barriers": OPEN_BARRIERS}

    trust: Trust  #: Whether the cycles and the source lines can be used, with the caveats.
    findings: tuple[StallFinding, ...]
    order_note: str  #: Which findings do not stand in the order of their gains, and why; empty = all do.
    cold_share: float  #: Of the cycles of all waves: waiting for code that was never executed before on the CU.
    stall_cycles_total: int
    wave_cycles_total: int  #: Latency and idle cycles of all waves.
    time_cycles: int  #: Of the traced CUs, added up: from the first start to the last end of the replayed waves.
    replayed_share: float  #: Of the instructions; of large traces some CUs are replayed.
    early_wave_count: int  #: Waves that left early; they are left out.
    pipes: Pipes | None  #: None = there are no instructions.
    traffic: Traffic | None  #: None = the code asks memory for nothing that can be told.
    roofs: tuple[Roof, ...]
    floors: Floors | None  #: None = the trace is too large for them, has several kernels, or no instructions.
    launch: Launch | None  #: The traced dispatch in the run recorded beside the trace; None = not found.
    #: Executed waits of loops that are stricter than the loop needs, and barriers that LDS writes in flight may reach.
    strict_waits: pl.DataFrame
    open_barriers: pl.DataFrame
    #: The kernel of a counter capture that gives findings their reasons; None = no counters were given.
    link: Link | None = None
    #: What the first findings would do to the run beside the trace, one each (`analysis.beside`); empty = no run.
    in_run: tuple[RunGain, ...] = ()


@bounded(ideal_gb=BYTES_GB)
def diagnose(
    trace: ThreadTrace,
    *,
    rows: pl.Series | None = None,
    counters: CounterSet | None = None,
    kernel: str | None = None,
    ideal_gb: float | None = None,
    lanes: LaneOptions | None = None,
) -> Diagnosis:
    """A prioritized plan for the kernel in a trace.

    Raises `UsageError` when the counters have no kernel that `kernel` picks, or `lanes` does not fit the kernel.

    `rows` = only what these code rows cost. `counters` is a counter capture of the same kernel, whose numbers become
    reasons of the findings; `kernel` picks one of its kernels by rank or part of its name (None = the one with the name
    of the traced kernel), and `ideal_gb` says how many 10^9 bytes a dispatch has to read at least, to tell over-fetch.
    `lanes` are arguments and sizes of the kernel, for the addresses of lanes; None = what the capture tells.
    """
    launch = trace.launch  # read before `trust_of`: a launch that is refused becomes a loss
    early = tuple(early_waves(trace).to_list())
    if trace.instruction_count:  # in one pass over the parts of the trace
        serial: list[Question] = [(resolved_in_part,), *pipe_questions(), (jumps_in_part,)]
        of_waves: list[Question] = [(gpu_fill.work_of_part, early), (gpu_fill.stalls_of_part, early)]
        ask(trace, [*serial, *of_waves, *cost_questions(trace)])  # costs and stalls use all cores themselves
    trust = trust_of(trace)
    trace_facts = facts(trace, rows=rows)
    has_something = trust.has_code and trace_facts.wave_cycles_total
    link, rate, counted = None, None, None
    if counters is not None:
        # the engine of counters is large: most diagnoses do without it
        from wavewright.analysis.trace.diagnose.kernel_counters import counted_rate, linked

        counted = linked(trace, counters, kernel=kernel, ideal_gb=ideal_gb)
        link, rate = counted.link, counted_rate(counted)
    measured = _measured(trace, trace_facts, early, rows, lanes, rate) if has_something else None
    findings = _findings(trace, trace_facts, measured, trust, is_whole=rows is None) if measured else []
    if counted is not None:
        from wavewright.analysis.trace.diagnose.kernel_counters import with_reasons

        findings = with_reasons(findings, counted)
    nothing = empty_frame(STRICT_WAITS), empty_frame(OPEN_BARRIERS)
    strict_rows, barrier_rows = wait_checks(trace) if trust.has_code else nothing
    return Diagnosis(
        trust=trust,
        findings=tuple(findings),
        order_note=_order_note(findings),
        cold_share=cold_share(trace) if has_something else 0.0,
        stall_cycles_total=trace_facts.stall_cycles_total,
        wave_cycles_total=trace_facts.wave_cycles_total,
        time_cycles=measured.gains.recorded_cycles if measured else 0,
        replayed_share=min(1.0, measured.gains.instruction_count / trace.instruction_count) if measured else 0.0,
        early_wave_count=len(early),
        pipes=measured.pipes if measured else None,
        traffic=measured.traffic if measured else None,
        roofs=measured.roofs if measured else (),
        floors=measured.floors if measured else None,
        launch=launch,
        strict_waits=strict_rows,
        open_barriers=barrier_rows,
        link=link,
    )


@dataclass(frozen=True)
class _Measured:
    """Measurements that the findings are made of."""

    gains: Gains
    filling: gpu_fill.Filling
    pipes: Pipes
    traffic: Traffic | None
    roofs: tuple[Roof, ...]
    floors: Floors | None
    left_out: tuple[int, ...]  #: Waves that left early.
    capture: CaptureFacts

    @property
    def limit(self) -> Roof | None:
        """The roof that is reached; None = none is."""
        return next((roof for roof in self.roofs if roof.is_limit), None)

    @property
    def memory_share(self) -> float:
        """Part of the time that the bytes which the traced dispatch certainly moves need at least."""
        return max((roof.share for roof in self.roofs if roof.bounds_gains), default=0.0)

    @property
    def cap_share(self) -> float:
        """No gain is larger than what a roof leaves, or than the time that the bytes that are moved need at least."""
        return max(0.0, 1 - max(self.memory_share, self.limit.share if self.limit else 0.0))


def _measured(
    trace: ThreadTrace,
    trace_facts: Facts,
    early: tuple[int, ...],
    rows: pl.Series | None,
    lanes: LaneOptions | None,
    rate: CountedRate | None,
) -> _Measured:
    cycles = {name: sum(view.stall_cycles_total for view in views) for name, views in trace_facts.views.items()}
    cycles = {name: spent for name, spent in cycles.items() if trace_facts.kinds[name] != "busy"} | trace_facts.gaps
    of_rows = () if rows is None else tuple(rows.to_list())
    replayed = gains(trace, cycles, total_cycles=trace_facts.wave_cycles_total, left_out=early, rows=of_rows)
    filled = gpu_fill.filling(trace, early)
    used = pipes(trace)
    moved = traffic(trace, filled, lanes)
    if rate is not None:  # measured beats inferred
        moved = counted_traffic(trace, moved, rate)
    reached = tuple(roofs(trace, moved, used, filled, replayed))
    code_floors = limits(trace, lanes, early)
    work = gpu_fill.work_of(trace, early) if "barrier" in trace_facts.views else None
    per_simd = max((view.code.waves_per_simd_max for views in trace_facts.views.values() for view in views), default=0)
    return _Measured(
        gains=replayed,
        filling=filled,
        pipes=used,
        traffic=moved,
        roofs=reached,
        floors=code_floors,
        left_out=early,
        capture=capture_facts(trace, code_floors, filled, work, per_simd),
    )


def _findings(
    trace: ThreadTrace, trace_facts: Facts, measured: _Measured, trust: Trust, *, is_whole: bool
) -> list[StallFinding]:
    findings = [
        _pool_finding(trace, trace_facts, gain, measured, trust)
        for gain in measured.gains.pools
        if gain.gain_share_max >= _NEGLIGIBLE_SHARE
    ]
    if is_whole:
        findings += grid_findings(
            measured.filling,
            _fixed_share(trace_facts, measured),
            gpu_fill.machine(trace),
            measured.capture,
            lambda: Evenness(gpu_fill.work_of(trace, measured.left_out), gpu_fill.slow_class(trace, measured.left_out)),
        )
        occupancy_finding = registers_or_lds(trace, trace_facts)
        if occupancy_finding and not measured.filling.early_wave_count:
            findings.append(occupancy_finding)
    findings = [_capped(_within_floors(finding, measured), measured.cap_share) for finding in findings]
    if is_whole and (issue := issue_finding(trace, measured.filling, measured.capture, measured.memory_share)):
        findings.append(_capped(issue, measured.cap_share))
    findings.sort(key=_order)
    findings = [
        finding
        for finding in _within_the_time(findings)
        if finding.gain_share_max >= _NEGLIGIBLE_SHARE and has_voice("trace", finding.name)
    ]
    findings = _placed(findings, (1 - measured.filling.empty_simd_share) * (1 - measured.filling.unused_share))
    if not is_whole:
        return findings
    first = [roof_finding(measured.limit, measured.traffic, measured.pipes)] if measured.limit else []
    return [*first, *findings]


def _placed(findings: list[StallFinding], busy_share: float) -> list[StallFinding]:
    """Findings by their size; `_order_note` tells the exceptions. SIMDs hold waves for `busy_share` of their time."""
    others = sorted((finding for finding in findings if finding.kind != ISSUE_BOUND), key=_order)
    for finding in findings:
        if finding.kind == ISSUE_BOUND:
            share = finding.gain_share_max * busy_share  # of the dispatch
            behind = (
                at for at, other in enumerate(others) if other.gain_basis == TRACED or other.gain_share_max < share
            )
            others.insert(next(behind, len(others)), finding)
    if others and others[0].kind == "occupancy":
        others = [*others[1:2], others[0], *others[2:]]
    return others


def _order(finding: StallFinding) -> tuple[float, str]:
    return -finding.gain_share_max, finding.name


def _order_note(findings: Sequence[StallFinding]) -> str:
    """Reasons why findings stand before larger ones."""
    notes = []
    sizes = [finding.gain_share_max for finding in findings]
    if findings and findings[0].kind == "roof" and max(sizes) > sizes[0]:
        notes.append("the roof stands first, whatever it leaves: nothing in the code can be faster than it allows")
    issue = next((at for at, finding in enumerate(findings) if finding.kind == ISSUE_BOUND), len(findings))
    if any(size > sizes[issue] for size in sizes[issue + 1 :]):
        notes.append("that SIMDs issue most of the time stands before all waits: these can only gain the rest")
    if any(size < sizes[issue] for size in sizes[:issue] if issue < len(sizes)):
        notes.append("SIMDs without work stand before what the others issue")
    behind = [at for at, finding in enumerate(findings) if finding.kind == "occupancy" and at]
    if any(sizes[at] > sizes[at - 1] for at in behind):
        notes.append("occupancy stands behind a smaller cause: more waves hide a cause, they do not remove it")
    return f"not in the order of gains: {'; '.join(notes)}" if notes else ""


def _pool_finding(
    trace: ThreadTrace, trace_facts: Facts, gain: PoolGain, measured: _Measured, trust: Trust
) -> StallFinding:
    finding = pool_finding(trace, trace_facts, gain, measured.gains.no_issue_shares, trust.cycles, measured.capture)
    if measured.floors is None:
        return finding
    views = [view for name in gain.pool.causes for view in trace_facts.views.get(name, ())]
    return with_lanes(finding, views, measured.floors)


def _within_floors(finding: StallFinding, measured: _Measured) -> StallFinding:
    """The finding within the floors where it is about traced CUs: they say nothing about work on other CUs."""
    is_of_cus = finding.gain_basis == TRACED or finding.kind == "occupancy"
    return within_floors(finding, measured.floors) if measured.floors and is_of_cus else finding


def _within_the_time(findings: list[StallFinding]) -> list[StallFinding]:
    """Findings whose gains do not add up to more than the time there is; those behind give way."""
    remaining = dict.fromkeys((TRACED, DISPATCH), 1.0)
    fitting = []
    for finding in findings:
        fitting.append(_capped(finding, remaining[finding.gain_basis]))
        remaining[finding.gain_basis] -= fitting[-1].gain_share_max
    return fitting


def _capped(finding: StallFinding, cap: float) -> StallFinding:
    gain_max = min(finding.gain_share_max, cap)
    return replace(finding, gain_share_max=gain_max, gain_share_min=min(finding.gain_share_min, gain_max))


def _fixed_share(trace_facts: Facts, measured: _Measured) -> float:
    """Share of a wave's time that it needs however little work it has: start, arguments, one round of loads, drain."""
    gain_of_cause = measured.gains.causes
    ends = sum(gain_of_cause.get(cause, 0.0) for cause in _ENDS_OF_WAVES)
    waits = [view for name, views in trace_facts.views.items() if is_memory(name) and "wait" in name for view in views]
    first = min(waits, key=lambda view: view.row, default=None)
    life = measured.filling.wave_cycles_mean
    return min(1.0, ends + (first.stall_cycles_mean / life if first and life else 0.0))
