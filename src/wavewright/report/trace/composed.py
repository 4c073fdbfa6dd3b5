"""Answers that topics about thread traces put together of several analyses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wavewright.model.answer import Answer
from wavewright.report.trace.asked import asked, check_code, chosen, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from wavewright.analysis.trace.occupancy import Occupancy
    from wavewright.analysis.trace.pipes.utilization import Utilization
    from wavewright.analysis.trace.trust.coverage import Coverage
    from wavewright.analysis.trace.trust.mapping import SourceMapping
    from wavewright.analysis.trace.trust.verdicts import Trust
    from wavewright.analysis.trace.waits import Waits
    from wavewright.analysis.trace.waves.kernel_residency import KernelResidency
    from wavewright.analysis.trace.waves.residency import Residency
    from wavewright.analysis.trace.waves.states import States
    from wavewright.page.protocol.document import Document
    from wavewright.report.kit.handles import InstructionHandle
    from wavewright.report.kit.topic import Wording

    Parts = Iterable[RenderableType]

_BINS = 60


@dataclass(frozen=True)
class WaveStates(Answer):
    """What the waves do over time."""

    states: States
    pipes: Utilization
    residency: KernelResidency
    issue_share: float | None  #: Cycles in which instructions issue, of all cycles of their waves.


@dataclass(frozen=True)
class TraceCoverage(Answer):
    """What the trace covers, and whether it can be trusted."""

    trust: Trust
    coverage: Coverage
    mapping: SourceMapping


@dataclass(frozen=True)
class OccupancyOverTime(Answer):
    """Occupancy, and the resident waves over time."""

    occupancy: Occupancy
    curves: tuple[Residency, ...]


def wave_states(document: Document, **choice: Any) -> WaveStates:
    """What the waves do over time, of the chosen waves."""
    from wavewright.analysis.trace.costs.activity import issue_share
    from wavewright.analysis.trace.pipes.utilization import utilization
    from wavewright.analysis.trace.required import require_instructions
    from wavewright.analysis.trace.waves.kernel_residency import kernel_residency
    from wavewright.analysis.trace.waves.states import states

    def make() -> WaveStates:
        trace, rows = chosen(document, choice)
        if not (trace.waves.height or trace.occupancy.height):
            require_instructions(trace, document.path or document.label)
        pipes = utilization(trace, rows=rows, bins=_BINS)
        return WaveStates(states(trace, bins=_BINS), pipes, kernel_residency(trace, bins=_BINS), issue_share(trace))

    return document.kept(("topic", "wave states", tuple(sorted(choice.items()))), make)


def states_words(answer: WaveStates, wording: Wording) -> Parts:
    """The words of `wavewright states`."""
    from wavewright.report.trace.states import states_report

    return states_report(
        answer.states, answer.pipes, answer.residency, issue_share=answer.issue_share, width=100, limit=wording.limit
    )


def trace_coverage(document: Document) -> TraceCoverage:
    """What the whole trace covers."""
    from wavewright.analysis.trace.required import require_instructions
    from wavewright.analysis.trace.trust.coverage import coverage
    from wavewright.analysis.trace.trust.mapping import mapping
    from wavewright.analysis.trace.trust.verdicts import trust_of

    def make() -> TraceCoverage:
        trace = require_instructions(document.trace, document.path or document.label)
        return TraceCoverage(trust_of(trace), coverage(trace), mapping(trace))

    return document.kept(("topic", "coverage"), make)


def coverage_words(answer: TraceCoverage, wording: Wording) -> Parts:
    """The words of `wavewright coverage`."""
    from wavewright.report.trace.coverage import coverage_report

    return coverage_report(answer.trust, answer.coverage, answer.mapping, limit=wording.limit)


def occupancy_over_time(document: Document) -> OccupancyOverTime:
    """How many waves fit on a SIMD, how many were there, and what limits them."""
    from wavewright.analysis.trace.occupancy import occupancy
    from wavewright.analysis.trace.waves.residency import residency

    def make() -> OccupancyOverTime:
        answer = occupancy(document.trace)
        engines = set(answer.engines["se"].to_list())
        curves = residency(document.trace, bins=_BINS)
        return OccupancyOverTime(answer, tuple(curve for curve in curves if curve.se in engines))

    return document.kept(("topic", "occupancy over time"), make)


def occupancy_words(answer: OccupancyOverTime | Occupancy, wording: Wording) -> Parts:
    """The words of `wavewright occupancy`, with curves where the answer has them."""
    from wavewright.report.trace.occupancy import occupancy_report

    if not isinstance(answer, OccupancyOverTime):
        return occupancy_report(answer, (), limit=wording.limit)
    return occupancy_report(answer.occupancy, answer.curves, limit=wording.limit)


def waits_at(document: Document, *, at: InstructionHandle | None = None, **choice: Any) -> Waits:
    """The waits; with `at`, that wait alone, or the waits for that instruction."""
    import polars as pl

    whole: Waits = asked(document, "analysis.trace.waits:waits", **choice)
    if at is None:
        return whole
    rows = rows_of(document, at)
    waiting = whole.producers.filter(pl.col("producer_row").is_in(rows))["row"].to_list()
    return asked_rows(document, [*rows, *waiting])


def asked_rows(document: Document, rows: list[int]) -> Waits:
    """The waits of these code rows."""
    import polars as pl

    from wavewright.analysis.trace.waits import waits

    chosen_rows = pl.Series("row", sorted(set(rows)), pl.Int32)
    return document.kept(("topic", "waits", tuple(chosen_rows)), lambda: waits(document.trace, rows=chosen_rows))


def source_at(
    document: Document,
    *,
    at: InstructionHandle | None = None,
    file: str | None = None,
    line: int | None = None,
    lines: int = 20,
) -> Any:
    """Source or instructions around a place, or around the hottest lines."""
    from wavewright.analysis.trace.listing.hot_code import hot_code
    from wavewright.analysis.trace.required import has_only_samples

    if not has_only_samples(document.trace):
        check_code(document, document.trace)
    rows = tuple(rows_of(document, at)) if at is not None else ()
    count = max(1, min(lines, 2000))
    key = ("topic", "source", rows, file, line, count)
    return document.kept(key, lambda: hot_code(document.trace, at=rows, file=file, line=line, count=count))
