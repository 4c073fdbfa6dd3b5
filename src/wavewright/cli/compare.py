"""`wavewright compare`: what changed between traces of the same kernel, runs, or counter captures?

One function for each kind of capture opens what the paths name, asks the analysis of its kind, and prints its words;
with --fail-above it leaves with status 1 where something got worse by more than noise. Which function it is follows
from the paths, and from the options where these do not tell (`_kind_meant`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from wavewright.base.shown import printable
from wavewright.base.words import counted, side_label
from wavewright.cli.kit.commands import KINDS, CommandOfKinds
from wavewright.cli.kit.counters import counter_request
from wavewright.cli.kit.form import current_brief, is_about
from wavewright.cli.kit.io import console, line_width
from wavewright.cli.kit.options import own_command
from wavewright.cli.kit.request import Parts, Request, form_of
from wavewright.cli.kit.run import run_request
from wavewright.cli.kit.trace import open_trace, selection_of
from wavewright.errors import UsageError, WavewrightError
from wavewright.model.blocks import sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.analysis.run.compare.compare import FailOn
    from wavewright.model.trace import ThreadTrace

_MOST_SIBLINGS = 8  #: At most so many other dispatches of a capture are read as repeated runs of the compared one.
_MOST_FAILURES = 3  #: At most so many changes are named in the message of --fail-above.
_REGRESSION_EXIT_CODE = 1


class _TracePlace(NamedTuple):
    """The place of a trace: a capture, and one of its dispatches (None = that which `open_trace` prefers)."""

    path: Path
    dispatch: str | None


class _ExceededLimits(NamedTuple):
    """Sentences about what is above the limit of --fail-above."""

    notes: Sequence[str] = ()  #: What may be noise.
    failures: Sequence[str] = ()  #: What is more than noise: the command fails.

    @property
    def facts(self) -> dict[str, Any]:
        """The fields of JSON."""
        return {"is_failed": bool(self.failures), "failures": [*self.failures]}


def traces(
    paths: tuple[str, ...],
    by: str | None,
    everything: bool,
    dispatches: tuple[str, ...],
    repeats: tuple[Path, ...],
    force: bool,
    fail_above: float | None,
    amd: bool,
    **options: Any,
) -> None:
    """Compare thread traces of the same kernel with the first one."""
    from wavewright.analysis.trace.about.overview import subject
    from wavewright.analysis.trace.compare import compare
    from wavewright.analysis.trace.selection import select, selected_rows

    request = Request(paths=tuple(map(Path, paths)), **form_of(options))
    selection = selection_of(options)
    places = _trace_places(tuple(map(Path, paths)), dispatches)
    full_traces = [open_trace(path, dispatch=key, kernel=selection.kernel, amd=amd) for path, key in places]
    traces = [select(trace, selection) for trace in full_traces]
    repeated_traces = _repeats(places, full_traces, repeats, amd=amd)
    repeats_of = [[select(trace, selection) for trace in repeated] for repeated in repeated_traces]
    rows = [selected_rows(trace, selection) for trace in traces]
    labels = [side_label(number) for number in range(len(traces))]
    answer = compare(traces, by=by, labels=labels, repeats=repeats_of, rows=rows, force=force)
    facts: dict[str, Any] = {"subjects": [subject(trace) for trace in traces]}
    facts["verdicts"] = [answer.verdict(number) for number in range(1, len(traces))]
    outcome = _ExceededLimits()
    if fail_above is not None:
        families = [[trace, *repeated] for trace, repeated in zip(full_traces, repeats_of, strict=True)]
        outcome = _judged(families, labels, fail_above / 100)
        facts |= outcome.facts

    def report() -> Parts:
        from wavewright.words.kit.subject import subject_line
        from wavewright.words.trace.trace_changes import compare_report

        is_about("trace")
        width = console().width
        subjects = [
            subject_line(compared, width=width, label=f"{label}: ")
            for compared, label in zip(facts["subjects"], labels, strict=True)
        ]
        if brief := current_brief():
            brief.subject = "; ".join(line.text for line in subjects)
        else:
            yield from subjects
        yield from compare_report(answer, limit=request.limit, everything=everything)
        yield from _warnings(traces, labels)

    # Text has the caveats instead of losses.
    losses = [trace.losses for trace in traces] if request.as_json or request.as_csv else []
    request.give(answer, answer.units, report, losses, **facts)
    _echo_outcome(outcome)


def _judged(families: Sequence[Sequence[ThreadTrace]], labels: Sequence[str], limit: float) -> _ExceededLimits:
    """Differences above a limit, as `wavewright gate` judges traces; a family is a trace and its repeated runs."""
    from wavewright.analysis.common.gate import gate, sentence
    from wavewright.analysis.trace.compare.trace_baseline import trace_baseline
    from wavewright.model.baseline import Baseline

    measured = [
        Baseline("trace", tuple(trace_baseline(trace, label) for trace in family))
        for family, label in zip(families, labels, strict=True)
    ]
    notes, failures = [], []
    for label, side in zip(labels[1:], measured[1:], strict=True):
        for row in gate(side, measured[0], threshold=limit).checks.to_dicts():
            row["reason"] = "" if row["noise"] is not None else row["reason"]  # a noise needs no reason beside it
            words = f"{label}: {sentence(row)}, above the limit of {100 * limit:g} %"
            if row["status"] == "fail":
                failures.append(words)
            elif row["status"] == "cannot tell" and (row["change"] or 0.0) > limit:
                notes.append(f"{words}, but may be noise")
    return _ExceededLimits(notes, failures)


def _trace_places(paths: tuple[Path, ...], dispatches: tuple[str, ...]) -> list[_TracePlace]:
    """The traces to compare: several dispatches of one path, or of each path the same dispatch or its own."""
    if len(paths) == 1 and len(dispatches) > 1:
        return [_TracePlace(paths[0], dispatch) for dispatch in dispatches]
    if len(dispatches) == len(paths):
        return [_TracePlace(path, dispatch) for path, dispatch in zip(paths, dispatches, strict=True)]
    if len(dispatches) < 2:
        return [_TracePlace(path, dispatches[0] if dispatches else None) for path in paths]
    what = f"{counted(len(dispatches), 'dispatches')} for {counted(len(paths), 'paths')}"
    raise UsageError(what, advice="give --dispatch once, or once for each PATH")


def _repeats(
    places: list[_TracePlace], traces: list[ThreadTrace], repeat_paths: tuple[Path, ...], *, amd: bool
) -> list[list[ThreadTrace]]:
    """For every trace the repeated runs that are known: of the first those of --repeat, and of each the other
    dispatches of its capture that ran the same code.
    """
    from wavewright.analysis.trace.compare.alignment import align_rows

    repeats_of: list[list[ThreadTrace]] = [[] for _ in traces]
    for path in repeat_paths:
        trace = open_trace(path, amd=amd)
        if not align_rows([traces[0], trace]).same_code:
            what = "not a repeated run: its code differs from that of the first trace"
            raise UsageError(what, where=str(path), advice="compare it as another PATH instead")
        repeats_of[0].append(trace)
    used = {(path, trace.source.dispatch_key) for (path, _), trace in zip(places, traces, strict=True)}
    for (path, _), trace, repeated in zip(places, traces, repeats_of, strict=True):
        for dispatch in trace.source.other_dispatches[:_MOST_SIBLINGS]:
            if (path, dispatch) in used:
                continue
            used.add((path, dispatch))
            try:
                sibling = open_trace(path, dispatch=dispatch, amd=amd)
            except WavewrightError:
                continue  # what cannot be read repeats nothing
            if sibling.instructions.height and align_rows([trace, sibling]).same_code:
                repeated.append(sibling)
    return repeats_of


def _warnings(traces: list[ThreadTrace], labels: list[str]) -> Parts:
    """Caveats that matter for a comparison, one line each."""
    from wavewright.analysis.trace.trust.caveats import caveats_of_cycles

    for trace, label in zip(traces, labels, strict=True):
        for caveat in caveats_of_cycles(trace):
            if caveat.severity != "note":
                yield sentence((f"{label}:", "bold yellow"), printable(f" {caveat.sentence}"))


def runs(
    step: str | None,
    side_ranks: tuple[int, ...],
    everything: bool,
    repeats: tuple[str, ...],
    force: bool,
    fail_above: float | None,
    fail_on: FailOn | None,
    **options: Any,
) -> None:
    """Compare runs with the first one; each path is one run."""
    import polars as pl

    from wavewright.analysis.run.compare.compare import combine_compare
    from wavewright.analysis.run.compare.compared_side import partial_compare

    request = run_request(options)
    if fail_on == "step" and step is None:
        raise UsageError("--fail-on step needs to know what a step is", advice="name its marker range with --step")
    if fail_on and fail_above is None:
        raise UsageError("--fail-on says what --fail-above looks at", advice="give --fail-above PERCENT, too")
    side_count = len(request.paths)
    if side_ranks and len(side_ranks) != side_count:
        what = f"{counted(len(side_ranks), 'times')} --side-rank for {counted(side_count, 'paths')}"
        raise UsageError(what, advice="give it once for each PATH; --rank selects ranks of all")
    ranks_of: list[tuple[int, ...]] = [(rank,) for rank in side_ranks] or [request.selection.ranks] * side_count
    ranks_of += ranks_of[:1] * len(repeats)  # repeated runs are of the first side
    runs = [
        request.narrowed(ranks=ranks).gather(partial_compare, [path])
        for ranks, path in zip(ranks_of, (*request.paths, *repeats), strict=True)
    ]
    sides, repeated_runs = runs[:side_count], runs[side_count:]
    repeats_values = [run.values for run in repeated_runs]
    answer = combine_compare([side.values for side in sides], repeats=repeats_values, step=step, force=force)
    others = range(1, len(sides))
    facts: dict[str, Any] = {"verdicts": [answer.verdict(side) for side in others]}
    facts["time_verdicts"] = [answer.time_verdict(side) for side in others]
    facts["structure_verdicts"] = [answer.structure_verdict(side) for side in others]
    outcome = _ExceededLimits()
    if fail_above is not None:
        limit, on = fail_above / 100, fail_on or "total"
        changes = [change for side in others for change in answer.above(side, limit, on)]
        failures = [change.sentence(limit) for change in changes if change.is_beyond_noise]
        notes = [f"{change.sentence(limit)}, but within noise" for change in changes if not change.is_beyond_noise]
        outcome = _ExceededLimits(notes, failures)
        facts |= outcome.facts

    def report() -> Parts:
        from wavewright.words.run.run_changes import comparison_report

        return comparison_report(answer, paths=[*map(str, request.paths)], limit=request.limit, everything=everything)

    losses = pl.concat([run.losses for run in runs])
    request.give(answer, answer.things, report, losses, inputs=[path for run in runs for path in run.paths], **facts)
    _echo_outcome(outcome)


def _echo_outcome(outcome: _ExceededLimits) -> None:
    """Print what is above a limit, and leave with a status where that is more than noise."""
    for note in outcome.notes[:_MOST_FAILURES]:
        click.echo(f"not failed: {printable(note)}", err=True)
    if outcome.failures:
        unnamed_count = len(outcome.failures) - _MOST_FAILURES
        more = f" (and {unnamed_count:,} more)" if unnamed_count > 0 else ""
        click.echo(f"failed: {printable('; '.join(outcome.failures[:_MOST_FAILURES]))}{more}", err=True)
        sys.exit(_REGRESSION_EXIT_CODE)


def counters(everything: bool, decimals: int | None, fail_above: float | None, **options: Any) -> None:
    """Compare counter captures with the first one: kernel times and metrics."""
    from wavewright.analysis.counters.compare import counter_compare

    request = counter_request(options)
    sides = [request.at(Path(path)) for path in request.paths]
    answer = counter_compare([side.counters for side in sides], choices=[side.choice for side in sides], **options)
    others = range(1, len(sides))
    regressions = [] if fail_above is None else [answer.regressions(side, fail_above / 100) for side in others]
    slower_count = sum(rows.height for rows in regressions)
    facts: dict[str, Any] = {"verdicts": [answer.verdict(side) for side in others]}
    facts |= {} if fail_above is None else {"is_failed": slower_count > 0}

    def report() -> Parts:
        from wavewright.words.counters.capture_changes import counter_comparison_report

        form = {"width": line_width(), "limit": request.limit}
        return counter_comparison_report(answer, **form, everything=everything, decimals=decimals)

    request.give(answer, answer.metrics, report, [side.counters.losses for side in sides], **facts)
    if slower_count:
        click.echo(f"{counted(slower_count, 'kernels')} got slower by more than {fail_above:g} %", err=True)
        sys.exit(_REGRESSION_EXIT_CODE)


def _kind_meant(paths: list[str], kinds_of_options: set[str]) -> str:
    """The kind of what the paths are, else of the options that are given, else "trace": a key of `KINDS`."""
    from wavewright.cluster.measurements import kind_at

    kinds = {kind for path in paths if (kind := kind_at(path))}
    option_kinds = kinds_of_options & {"run", "counters"}  # one that traces have too tells nothing
    if kinds <= {"run", "counters"} and "counters" in option_kinds:
        kinds = {"counters"}  # what has counters may be a run as well
    if len(kinds) > 1:
        problem = f"these are {' and '.join(KINDS[kind] for kind in sorted(kinds, key=list(KINDS).index))}"
        raise UsageError(problem, advice="compare traces with traces, runs with runs, counters with counters")
    return next(iter(kinds or option_kinds), "trace")


#: Kind of what is compared -> the function of this module that does it.
_FUNCTIONS = {"trace": "traces", "run": "runs", "counters": "counters"}
_COMMANDS = {kind: own_command(("compare",), f"compare:{name}", part=kind) for kind, name in _FUNCTIONS.items()}
command = CommandOfKinds("compare", _COMMANDS, _kind_meant)
