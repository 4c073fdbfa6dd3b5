"""Answers about thread traces, by the options of their verbs."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import click

from wavewright.base.files import open_regular
from wavewright.base.shown import printable, quoted
from wavewright.cli.answers.source_listing import source
from wavewright.cli.kit.io import console, line_width, progress
from wavewright.cli.kit.question_verb import Shown
from wavewright.cli.kit.trace import CodeObjectRequest, TraceRequest
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    import polars as pl

    from wavewright.analysis.common.occupancy.limits import Resources
    from wavewright.analysis.trace.derived_counters import DerivedCounters
    from wavewright.analysis.trace.derived_counters.sampled_counters import SampledCounters
    from wavewright.analysis.trace.diagnose import Diagnosis
    from wavewright.analysis.trace.lanes.evaluated import LaneOptions
    from wavewright.analysis.trace.samples.diagnosis import SampleDiagnosis
    from wavewright.cli.kit.picture import PictureRequest
    from wavewright.cli.kit.request import Parts, Request
    from wavewright.model.counters import CounterSet
    from wavewright.model.trace import ThreadTrace
    from wavewright.questions.kit.question import Wording

_JSON_BINS = 60  #: Bins of states over time in JSON, without --bins.
_MAX_DEFINITIONS = 1 << 20  #: Bytes of a file of derived counters.
_OTHER_COLUMNS = 46  #: Characters that the other columns of the table of shader engines need.


def coverage(request: TraceRequest) -> Shown:
    """Coverage of the chosen code."""
    from wavewright.analysis.trace.trust.coverage import coverage as analysis
    from wavewright.analysis.trace.trust.mapping import mapping
    from wavewright.analysis.trace.trust.verdicts import trust_of

    trust = trust_of(request.trace)
    covered, lines = analysis(request.trace, rows=request.rows), mapping(request.trace, rows=request.rows)
    shares = {"executed_share": covered.executed_share, "traced_share": covered.traced_share}

    def words(wording: Wording) -> Parts:
        from wavewright.words.trace.input.coverage import FEW, coverage_report

        few = FEW if request.top is None else wording.limit
        return coverage_report(trust, covered, lines, limit=wording.limit, few=few)

    answer = {"trust": trust, "shares": shares, "coverage": covered, "mapping": lines}
    return Shown(answer, covered.functions, words=words)


def diagnose(
    request: TraceRequest,
    counters_path: Path | None,
    counters_kernel: str | None,
    ideal_gb: float | None,
    form: str | None = None,
) -> Shown:
    """Findings of instructions, with reasons from counters, or of PC samples; as a plan, if that is the form."""
    from wavewright.analysis.beside import with_run
    from wavewright.analysis.trace.about.overview import has_only_samples
    from wavewright.analysis.trace.diagnose import diagnose as analysis
    from wavewright.analysis.trace.diagnose.finding import StallFinding
    from wavewright.analysis.trace.samples.diagnosis import sample_diagnosis

    if has_only_samples(request.trace):
        if counters_path is not None:
            what = "findings of PC samples do not take reasons from counters"
            raise UsageError(what, where=str(request.path), advice="diagnose the counter capture by itself")
        samples = sample_diagnosis(request.trace, rows=request.rows)
        columns = ("name", "verdict", "remedy", "sample_count", "share", "share_min", "share_max", "row_count")
        return Shown(samples, _finding_table(samples, columns), words=_plan_words(samples, form), is_by_code=False)
    if counters_path is None and (ideal_gb is not None or counters_kernel is not None):
        what = f"{'--ideal-gb' if ideal_gb is not None else '--counters-kernel'} needs --counters"
        raise UsageError(what, advice="give the PATH of a counter capture of the same kernel")
    counters = None if counters_path is None else _opened_counters(counters_path, request.trace.source.target)
    # Without --counters-kernel the kernel of --kernel is looked up in the counters, if its name occurs there.
    kernel = counters_kernel
    if kernel is None and counters is not None and request.selection.kernel is not None:
        names = counters.dispatches["kernel_name"].drop_nulls()
        kernel = request.selection.kernel if names.str.contains(request.selection.kernel, literal=True).any() else None
    answer = analysis(request.trace, rows=request.rows, counters=counters, kernel=kernel, ideal_gb=ideal_gb)
    answer = with_run(answer, request.trace)
    return Shown(
        answer,
        _finding_table(answer, [field.name for field in fields(StallFinding) if field.type in ("str", "int", "float")]),
        words=_plan_words(answer, form),
        facts={} if counters is None else {"counter_losses": counters.losses.to_dicts()},
        is_by_code=False,
    )


def _plan_words(answer: Diagnosis | SampleDiagnosis, form: str | None) -> Callable[[Wording], Parts] | None:
    """The words of a plan, if that is the form; None = those of the question."""
    if form is None:
        return None

    def words(wording: Wording) -> Parts:
        from wavewright.words.trace.plan import plan_report

        return plan_report(answer, limit=wording.limit)

    return words


def _finding_table(answer: Diagnosis | SampleDiagnosis, names: Iterable[str]) -> pl.DataFrame:
    """One row per finding, with these fields."""
    import polars as pl

    return pl.DataFrame([{name: getattr(finding, name) for name in names} for finding in answer.findings])


def _opened_counters(path: Path, target: str | None) -> CounterSet:
    """The counters; where they do not name their GPU, it is taken to be that of the trace."""
    from wavewright.readers.counters import open_counters

    with progress(f"reading {path.name}"):
        counters = open_counters(path)
        if target is None or counters.system.target is not None:
            return counters
        return open_counters(path, target=target)


def hotspots(
    request: TraceRequest, by: str, sort: str, attribution: str, prefixes: tuple[str, ...], lanes: bool
) -> Shown:
    """Costliest units of instructions, or of PC samples."""
    from wavewright.analysis.trace.costs.hotspots import hotspots as analysis
    from wavewright.analysis.trace.costs.hotspots import sample_hotspots
    from wavewright.cli.answers.source_listing import evaluated_lanes

    sums = evaluated_lanes(request) if lanes else None
    how: dict[str, Any] = {"rows": request.rows, "by": by, "mine": prefixes}
    how["attribution"] = "mine" if prefixes else attribution
    if request.trace.samples.height:
        return Shown(sample_hotspots(request.trace, **how), is_by_code=False)
    if not request.trace.stored_totals.height:
        request.require_instructions()
    return Shown(analysis(request.trace, **how, sort=sort, lane_sums=sums))


def lanes(
    request: TraceRequest,
    row: int | None,
    fixes: bool,
    wants_floors: bool,
    addresses_path: Path | None,
    omniprobe_path: Path | None,
    target: str | None,
    picture: PictureRequest,
    **dispatch_facts: Any,
) -> Shown:
    """Lanes of all instructions, those of one, or the cycles that pipes need at least."""
    trace = _with_target(request.require_instructions(), target)
    request = replace(request, trace=trace)
    options = _lane_options(trace, **dispatch_facts)
    picture.check()
    if addresses_path is not None:
        from wavewright.base.words import counted
        from wavewright.export.trace.lane_addresses import write_lane_addresses

        count = write_lane_addresses(trace, addresses_path, options)
        click.echo(f"wrote {counted(count, 'patterns')} of lanes to {printable(str(addresses_path))}", err=True)
    if row is not None:
        if fixes or wants_floors or omniprobe_path is not None:
            what = "--row shows one instruction, with the best layout; --fix, --floors and --omniprobe are about all"
            raise UsageError(what, advice="leave out --row, or the other")
        return _lanes_of_row(request, row, options)
    if wants_floors:
        if fixes or omniprobe_path is not None:
            raise UsageError("--floors is an answer of its own", advice="leave out --fix and --omniprobe")
        from wavewright.analysis.trace.floors import floors

        with progress("evaluating lanes"):
            floor_cycles = floors(trace, options)
        return Shown(floor_cycles, floor_cycles.pipes, request=request)
    from wavewright.analysis.trace.lanes.answer import lanes as analysis
    from wavewright.model.answer import to_builtins

    if picture.output is not None:
        raise UsageError("a picture shows one instruction, and none is chosen", advice="--row N chooses it")
    measured = None
    if omniprobe_path is not None:
        from wavewright.readers.trace.omniprobe import read_omniprobe

        measured = read_omniprobe(omniprobe_path)
    accesses, losses = (None, None) if measured is None else (measured.accesses, measured.losses)
    with progress("evaluating lanes"):
        doubt, traffic = _traffic_of_rows(trace, options)
        answer = analysis(trace, options, rows=request.rows, fixes=fixes, omniprobe=accesses, traffic=traffic)
    facts = {} if losses is None else {"omniprobe_losses": to_builtins(losses)}
    facts |= {"doubt": doubt} if doubt else {}
    evidence = {"has_fixes": fixes, "measured_losses": losses, "doubt": doubt}
    return Shown(answer, how=evidence, facts=facts, request=request)


def _traffic_of_rows(trace: ThreadTrace, options: LaneOptions) -> tuple[str, pl.DataFrame | None]:
    """A reason against the arguments (workgroups would store to the same bytes; empty = none); bytes by row."""
    if not options.arguments and options.recorded_arguments is None:
        return "", None
    from wavewright.analysis.trace.fabric import TrafficOptions, fabric_traffic

    answer = fabric_traffic(trace, TrafficOptions(options, only_today=True))
    return answer.problem if answer.overlapping_bytes else "", None if answer.problem else answer.rows


def _lanes_of_row(request: TraceRequest, row: int, options: LaneOptions) -> Shown:
    from wavewright.analysis.trace.lanes.pattern import row_pattern

    with progress("evaluating lanes"):
        answer = row_pattern(request.trace, row, options)

    def drawn(theme: str) -> str:
        from wavewright.words.trace.lane_access.picture import lane_svg

        return lane_svg(answer, theme=theme)

    return Shown(answer, answer.lanes, drawn=drawn, is_by_code=False, request=request)


def _with_target(trace: ThreadTrace, target: str | None) -> ThreadTrace:
    from wavewright.facts.gpus.facts import of

    if target is None:
        return trace
    named_target = of(target).target
    if trace.source.target not in (None, named_target):
        what = f"--target is {named_target}, and the trace is of {trace.source.target}"
        raise UsageError(what, where=trace.source.path, advice="leave out --target")
    return replace(trace, source=replace(trace.source, target=named_target), answers={})


def _lane_options(trace: ThreadTrace, **dispatch_facts: Any) -> LaneOptions:
    """Facts of the user about a dispatch beyond its trace: arguments, sizes and rules."""
    from wavewright.questions.trace.dispatch_facts import lane_options

    options, beside = lane_options(trace, **dispatch_facts)
    if beside is not None:
        click.echo(f"arguments from {printable(str(beside))}", err=True)
    return options


def traffic(
    request: TraceRequest,
    order_path: Path | None,
    partition: str,
    target: str | None,
    picture: PictureRequest,
    arguments: tuple[str, ...],
    counters_path: Path | None,
    **dispatch_facts: Any,
) -> Shown:
    """Traffic between L2 and the fabric, by lane addresses of all workgroups."""
    from wavewright.analysis.trace.diagnose.size_fit import argument_sets, fitted_traffic
    from wavewright.analysis.trace.fabric import TrafficOptions
    from wavewright.readers.counters import open_counters
    from wavewright.readers.trace.workgroup_order import read_workgroup_order

    picture.check()
    trace = _with_target(request.require_instructions(), target)
    argument_texts = tuple(part.strip() for text in arguments for part in text.split(";") if part.strip())
    # The options are checked with the first size; the traffic is computed for all of them.
    lanes_known = _lane_options(trace, arguments=argument_sets(argument_texts)[0], **dispatch_facts)
    lanes_known = replace(lanes_known, arguments=argument_texts)
    counters = None if counters_path is None else open_counters(counters_path, target=trace.source.target)
    order = () if order_path is None else read_workgroup_order(order_path)
    with progress("evaluating workgroups"):
        options = TrafficOptions(lanes_known, target or "", partition, order)
        answer = fitted_traffic(trace, options, rows=request.rows, counters=counters)

    def drawn(theme: str) -> str:
        from wavewright.words.trace.pictures.traffic import traffic_picture

        return traffic_picture(answer, theme).svg

    return Shown(answer, drawn=drawn, is_by_code=False, request=replace(request, trace=trace))


def loops(request: TraceRequest, by: str) -> Shown:
    """Loops, or each iteration number of them."""
    from wavewright.analysis.trace.costs.loops import loops as analysis

    answer = analysis(request.require_instructions(), rows=request.rows)
    return Shown(answer, answer.iterations if by == "iteration" else answer.loops, {"by": by})


def occupancy(request: Request, target: str | None, cu_mode: bool, wave_size: str | None, **amounts: Any) -> Shown:
    """Waves that fit and were there of a trace, that fit of kernels in a code object, or of given resources."""
    from wavewright.analysis.common.occupancy.limits import Resources

    resources = Resources(**amounts, wave_size=int(wave_size) if wave_size else None)
    if isinstance(request, TraceRequest):
        return _occupancy_of_trace(request, target, resources, wgp_mode=not cu_mode)
    if isinstance(request, CodeObjectRequest):
        return _occupancy_of_code(request, target, resources, wgp_mode=not cu_mode)
    from wavewright.analysis.trace.occupancy import theoretical

    if target is None or resources.vgprs is None:
        what = "without PATH, --target and --vgprs are needed"
        advice = "wavewright occupancy --target gfx942 --vgprs 144 --agprs 136 --sgprs 112 --lds 12800 --workgroup 256"
        raise UsageError(what, advice=advice)
    answer = theoretical(target, resources, wgp_mode=not cu_mode)

    def report(_wording: Wording) -> Parts:
        from wavewright.words.trace.occupancy import occupancy_report

        return occupancy_report(answer, (), limit=1)

    return Shown(answer, answer.kernels, words=report)


def _occupancy_of_code(
    request: CodeObjectRequest, target: str | None, resources: Resources, *, wgp_mode: bool
) -> Shown:
    from wavewright.analysis.trace.occupancy import occupancy_of_code_object
    from wavewright.codeobj.code_object import CodeObject
    from wavewright.model.losses import loss_frame

    code_object = CodeObject.read(request.path, target=target)
    chosen = {"gpu": target, "kernel": request.kernel}
    answer = occupancy_of_code_object(code_object, **chosen, override=resources, wgp_mode=wgp_mode)
    return Shown(answer, answer.kernels, losses=loss_frame(code_object.losses))


def _occupancy_of_trace(request: TraceRequest, target: str | None, resources: Resources, *, wgp_mode: bool) -> Shown:
    from wavewright.analysis.trace.occupancy import occupancy as analysis
    from wavewright.analysis.trace.waves.resident import residency

    if request.selection.waves or request.selection.chooses_rows:
        what = "occupancy counts all waves of a shader engine: --wave, --file and --line choose nothing here"
        raise UsageError(what, advice="use --kernel, --se, --simd or --time")
    answer = analysis(request.trace, gpu=target, override=resources, wgp_mode=wgp_mode, selection=request.selection)

    def words(wording: Wording) -> Parts:
        from wavewright.words.trace.occupancy import occupancy_report

        engines = set(answer.engines["se"].to_list())
        bins = max(8, min(60, wording.width - _OTHER_COLUMNS))
        curves = tuple(curve for curve in residency(request.trace, bins=bins) if curve.se in engines)
        return occupancy_report(answer, curves, limit=wording.limit)

    return Shown(answer, answer.kernels, words=words)


def stalls(request: TraceRequest, as_classic: bool) -> Shown:
    """Stalls of instructions or of PC samples, or the types of the classic script."""
    from wavewright.analysis.trace.about.overview import has_only_samples
    from wavewright.analysis.trace.samples.diagnosis import sample_stalls
    from wavewright.analysis.trace.stalls import stalls as analysis
    from wavewright.analysis.trace.stalls.classic import classic

    if as_classic:
        has_sums = request.trace.stored_totals["hit_count"].sum()
        types = classic(request.trace if has_sums else request.require_instructions(), rows=request.rows)
        return Shown(types, types.types)
    if not has_only_samples(request.trace):
        answer = analysis(request.require_instructions(), rows=request.rows)
        return Shown(answer, answer.classes)
    samples = sample_stalls(request.trace, rows=request.rows)
    if samples.scope.unknown_count == samples.scope.sample_count:
        from wavewright.words.trace.samples import STOCHASTIC

        what = "host-trap PC samples record where waves were, not whether or why they stalled"
        advice = f"wavewright hotspots and diagnose show where; reasons: {STOCHASTIC} (MI300 and later), or --att"
        raise UsageError(what, where=str(request.path), advice=advice)
    return Shown(samples, samples.causes)


def states(
    request: TraceRequest, bins: int | None, with_counters: bool, counter_names: str | None, definitions: Path | None
) -> Shown:
    """States of waves, busy pipes and residency over time, and the counters in the trace."""
    from wavewright.analysis.trace.costs.row_costs import issue_share, totals_of_part
    from wavewright.analysis.trace.parts import ask
    from wavewright.analysis.trace.pipes.utilization import pipe_questions, utilization
    from wavewright.analysis.trace.waves.resident import kernel_residency
    from wavewright.analysis.trace.waves.states import state_questions
    from wavewright.analysis.trace.waves.states import states as analysis

    trace, width = request.trace, line_width()
    if not (trace.waves.height or trace.occupancy.height or trace.sampled_counters.height):
        request.require_instructions()
    count = bins or (_JSON_BINS if request.as_json else max(20, width - 8))
    sampled = None
    if with_counters or counter_names or definitions:
        sampled = _sampled(request, counter_names, definitions, count)
    ask(trace, [*state_questions(count), *pipe_questions(request.rows, count), (totals_of_part,)])  # one pass for all
    waves = analysis(trace, bins=count)
    pipes = utilization(trace, rows=request.rows, bins=count)
    residency = kernel_residency(trace, bins=count)
    issued = None if request.rows is not None else issue_share(trace)

    def words(wording: Wording) -> Parts:
        from wavewright.model.blocks import GAP, Sentence
        from wavewright.words.trace.states import states_report

        yield from states_report(waves, pipes, residency, issue_share=issued, width=width, limit=wording.limit)
        if sampled:
            from wavewright.words.trace.sampled_counters import sampled_counters_report  # with NumPy

            yield GAP
            yield from sampled_counters_report(*sampled, width=width, limit=wording.limit)
        elif trace.sampled_counters.height:
            yield GAP
            yield Sentence(f"the trace also has counters: wavewright states {quoted(request.path)} --counters")

    answer: dict[str, Any] = {"states": waves, "utilization": pipes, "residency": residency}
    answer |= {"sampled_counters": sampled[0], "derived": sampled[1]} if sampled else {}
    return Shown(answer, waves.over_time, words=words)


def _sampled(
    request: TraceRequest, names: str | None, definitions: Path | None, bins: int
) -> tuple[SampledCounters, DerivedCounters]:
    from wavewright.analysis.trace.derived_counters import derived_counters
    from wavewright.analysis.trace.derived_counters.sampled_counters import sampled_counters

    text = None
    if definitions is not None:
        try:
            with open_regular(definitions) as file:
                text = file.read(_MAX_DEFINITIONS + 1).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            what, advice = f"the definitions cannot be read: {error}", "give a text file with lines NAME := EXPRESSION"
            raise UsageError(what, where=str(definitions), advice=advice) from error
    how: dict[str, Any] = {"names": tuple(name.strip() for name in names.split(",")) if names else (), "bins": bins}
    return sampled_counters(request.trace, **how), derived_counters(request.trace, definitions=text, **how)


def waits(request: TraceRequest, at: str | None) -> Shown:
    """Waits; with a place, the wait there, and the waits for what is there."""
    import polars as pl

    from wavewright.analysis.trace.listing.places import rows_at
    from wavewright.analysis.trace.waits import waits as analysis

    answer = analysis(request.require_instructions(), rows=request.rows)
    if at is not None:
        rows = rows_at(request.trace.code, at)
        waiting = answer.producers.filter(pl.col("producer_row").is_in(rows))["row"].to_list()
        answer = analysis(request.trace, rows=pl.Series("row", sorted({*rows, *waiting}), pl.Int32))
    return Shown(answer)


def whatif(
    request: TraceRequest,
    edits: tuple[str, ...],
    assumptions: tuple[str, ...],
    more_waves: str | None,
    at_row: int | None,
    emit_path: Path | None,
    is_forced: bool,
    measured: str | None,
    measured_before: str | None,
) -> Shown:
    """Edits of a block, judged and timed; or a search for one."""
    from wavewright.analysis.trace.what_if import what_if as analysis
    from wavewright.questions.trace.beside_trace import with_measured_times, with_runs

    empty = next((edit for edit in edits if not edit.strip("; \t\n")), None)
    if empty is not None:
        raise UsageError(f"an edit has no words: {empty!r}", advice="leave --edit out to search for one")
    trace = request.require_instructions()
    if more_waves is not None:
        edits = (*edits, f"waves {more_waves}")
    with progress("replaying edits"):
        answer = analysis(trace, rows=request.rows, edit=";".join(edits), assume=";".join(assumptions), at_row=at_row)
        answer = with_runs(trace, answer)
    if measured is not None:
        answer = with_measured_times(trace, answer, measured, measured_before)
    if emit_path is not None:
        from wavewright.analysis.trace.what_if.assembly import CHECKED, assembly
        from wavewright.export.kit.staging import staged

        text = assembly(trace, answer)
        with staged([emit_path], force=is_forced) as (temporary,):
            temporary.write_text(text, encoding="utf-8")
        console(stderr=True).print(f"{quoted(emit_path)}: {CHECKED}", markup=False, highlight=False)
    return Shown(answer, answer.edits, request=request)


#: Name of a question -> the function that answers it by the options of its verb.
ANSWERS: dict[str, Callable[..., Shown]] = {
    function.__name__: function
    for function in (
        *(coverage, diagnose, hotspots, lanes, loops, occupancy),
        *(source, stalls, states, traffic, waits, whatif),
    )
}
