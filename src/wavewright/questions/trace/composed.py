"""Answers about thread traces that are more than one analysis of the chosen part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.questions.trace.trace_question import asked, check_code, chosen, rows_of

if TYPE_CHECKING:
    import polars as pl

    from wavewright.analysis.trace.about.overview import Contents
    from wavewright.analysis.trace.costs.hotspots import Hotspots, SampleHotspots
    from wavewright.analysis.trace.diagnose import Diagnosis
    from wavewright.analysis.trace.fabric import FabricTraffic
    from wavewright.analysis.trace.listing.hot_code import HotCode
    from wavewright.analysis.trace.samples.diagnosis import SampleDiagnosis, SampleStalls
    from wavewright.analysis.trace.stalls import Stalls
    from wavewright.analysis.trace.waits import Waits
    from wavewright.model.document import Document
    from wavewright.model.trace import ThreadTrace
    from wavewright.questions.trace.answers import OccupancyOverTime, TraceCoverage, WaveStates
    from wavewright.words.kit.handles import InstructionHandle

_BINS = 60  #: Bins of values over time in words.


def trace_contents(document: Document) -> Contents:
    """Contents of the trace, whatever it is."""
    from wavewright.analysis.trace.about.overview import contents

    return document.kept(("topic", "about"), lambda: contents(document.trace))


def either_diagnosis(document: Document, **choice: Any) -> Diagnosis | SampleDiagnosis:
    """Findings, of instructions or of PC samples."""
    from wavewright.analysis.beside import with_run
    from wavewright.analysis.trace.about.overview import has_only_samples
    from wavewright.analysis.trace.diagnose import diagnose
    from wavewright.analysis.trace.samples.diagnosis import sample_diagnosis

    if has_only_samples(document.trace):
        return asked(document, "diagnose", sample_diagnosis, needs="nothing", **choice)
    answer = asked(document, "diagnose", diagnose, **choice)
    key = ("diagnosis in its run", tuple(sorted(choice.items())))
    return document.kept(key, lambda: with_run(answer, document.trace))


def either_hotspots(document: Document, *, by: str = "instruction", **choice: Any) -> Hotspots | SampleHotspots:
    """Hotspots of instructions, of stored totals, or of PC samples."""
    from wavewright.analysis.trace.costs.hotspots import hotspots, sample_hotspots

    if document.trace.samples.height:
        return asked(document, "hotspots", sample_hotspots, needs="nothing", by=by, **choice)
    has_totals = bool(document.trace.stored_totals.height)
    return asked(document, "hotspots", hotspots, needs="nothing" if has_totals else "code", by=by, **choice)


def either_stalls(document: Document, **choice: Any) -> Stalls | SampleStalls:
    """Stalls, of instructions or of PC samples."""
    from wavewright.analysis.trace.about.overview import has_only_samples
    from wavewright.analysis.trace.samples.diagnosis import sample_stalls
    from wavewright.analysis.trace.stalls import stalls

    if has_only_samples(document.trace):
        return asked(document, "stalls", sample_stalls, needs="nothing", **choice)
    return asked(document, "stalls", stalls, **choice)


def wave_states(document: Document, **choice: Any) -> WaveStates:
    """States of the chosen waves over time."""
    from wavewright.analysis.trace.about.overview import require_instructions
    from wavewright.analysis.trace.costs.row_costs import issue_share
    from wavewright.analysis.trace.pipes.utilization import utilization
    from wavewright.analysis.trace.waves.resident import kernel_residency
    from wavewright.analysis.trace.waves.states import states
    from wavewright.questions.trace.answers import WaveStates

    def make() -> WaveStates:
        trace, rows = chosen(document, choice)
        if not (trace.waves.height or trace.occupancy.height):
            require_instructions(trace, document.path or document.label)
        pipes = utilization(trace, rows=rows, bins=_BINS)
        return WaveStates(states(trace, bins=_BINS), pipes, kernel_residency(trace, bins=_BINS), issue_share(trace))

    return document.kept(("topic", "wave states", tuple(sorted(choice.items()))), make)


def trace_coverage(document: Document) -> TraceCoverage:
    """Coverage of the whole trace."""
    from wavewright.analysis.trace.about.overview import require_instructions
    from wavewright.analysis.trace.trust.coverage import coverage
    from wavewright.analysis.trace.trust.mapping import mapping
    from wavewright.analysis.trace.trust.verdicts import trust_of
    from wavewright.questions.trace.answers import TraceCoverage

    def make() -> TraceCoverage:
        trace = require_instructions(document.trace, document.path or document.label)
        return TraceCoverage(trust_of(trace), coverage(trace), mapping(trace))

    return document.kept(("topic", "coverage"), make)


def occupancy_over_time(document: Document) -> OccupancyOverTime:
    """Waves that fit on a SIMD and were there, over time too, and their limits."""
    from wavewright.analysis.trace.occupancy import occupancy
    from wavewright.analysis.trace.waves.resident import residency
    from wavewright.questions.trace.answers import OccupancyOverTime

    def make() -> OccupancyOverTime:
        answer = occupancy(document.trace)
        engines = set(answer.engines["se"].to_list())
        curves = residency(document.trace, bins=_BINS)
        return OccupancyOverTime(answer, tuple(curve for curve in curves if curve.se in engines))

    return document.kept(("topic", "occupancy over time"), make)


def waits_at(document: Document, *, at: InstructionHandle | None = None, **choice: Any) -> Waits:
    """The waits; with `at`, that wait alone, or the waits for that instruction."""
    import polars as pl

    from wavewright.analysis.trace.waits import waits

    whole = asked(document, "waits", waits, **choice)
    if at is None:
        return whole
    rows = rows_of(document, at)
    waiting_rows = whole.producers.filter(pl.col("producer_row").is_in(rows))["row"].to_list()
    return asked_rows(document, [*rows, *waiting_rows])


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
) -> HotCode:
    """Source or instructions around a place, or around the hottest lines."""
    from wavewright.analysis.trace.about.overview import has_only_samples
    from wavewright.analysis.trace.listing.hot_code import hot_code

    if not has_only_samples(document.trace):
        check_code(document, document.trace)
    rows = tuple(rows_of(document, at)) if at is not None else ()
    count = max(1, min(lines, 2000))
    key = ("topic", "source", rows, file, line, count)
    return document.kept(key, lambda: hot_code(document.trace, at=rows, file=file, line=line, count=count))


def dispatch_traffic(
    document: Document,
    *,
    arg: str = "",
    grid: tuple[int, int, int] | None = None,
    workgroup: tuple[int, int, int] | None = None,
    target: str = "",
    partition: str = "",
    **choice: Any,
) -> FabricTraffic:
    """Traffic of the traced dispatch between L2 and the fabric."""
    from dataclasses import replace

    from wavewright.analysis.trace.diagnose.size_fit import argument_sets, fitted_traffic
    from wavewright.analysis.trace.fabric import TrafficOptions
    from wavewright.questions.trace.dispatch_facts import lane_options

    def analysis(trace: ThreadTrace, *, rows: pl.Series | None, **_: Any) -> FabricTraffic:
        parts = tuple(part.strip() for part in arg.split(";") if part.strip())
        options, _beside = lane_options(trace, argument_sets(parts)[0], workgroup, grid)
        return fitted_traffic(trace, TrafficOptions(replace(options, arguments=parts), target, partition), rows=rows)

    facts: dict[str, Any] = {"arg": arg, "grid": grid, "workgroup": workgroup, "target": target, "partition": partition}
    return asked(document, "traffic", analysis, **{name: fact for name, fact in facts.items() if fact}, **choice)
