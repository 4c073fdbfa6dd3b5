"""Verbs of questions that have no options of their own: made of the declaration alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.cli.kit.counters import counter_verb
from wavewright.cli.kit.io import console
from wavewright.cli.kit.run import run_verb
from wavewright.cli.kit.trace import trace_verb
from wavewright.cli.kit.verbs import full_help
from wavewright.questions.kit.question import Wording

if TYPE_CHECKING:
    import click

    from wavewright.cli.kit.counters import CounterRequest
    from wavewright.cli.kit.request import Parts, Report, Request
    from wavewright.cli.kit.run import RunRequest
    from wavewright.cli.kit.trace import TraceRequest
    from wavewright.model.answer import Answer
    from wavewright.questions.kit.question import Question


def derived_verb(question: Question[Any]) -> click.Command:
    """The verb that answers a question, with the options of its kind of document."""
    command = {"trace": _of_trace, "run": _of_run, "counters": _of_counters}[question.kind](question)
    command.help = full_help(question, question.details)
    return command


def _report(question: Question[Any], answer: Answer, request: Request) -> Report:
    def parts() -> Parts:
        # those whose words are blocks (about, diagnose) have modules of their own
        return question.words(answer, Wording(request.limit, console().width))

    return parts


def _of_trace(question: Question[Any]) -> click.Command:
    @trace_verb
    def command(request: TraceRequest) -> None:
        trace = request.trace if question.needs == "nothing" else request.require_instructions()
        answer = question.analysis().of(trace, rows=request.rows)
        report = _report(question, answer, request)
        if question.needs == "code":
            report = request.with_code(report)
        request.give(answer, question.main_table(answer), report, request.trace.losses)

    return command


def _of_run(question: Question[Any]) -> click.Command:
    @run_verb
    def command(request: RunRequest) -> None:
        analysis = question.analysis()
        if analysis.partial is not None and analysis.combine is not None:
            gathered = request.gather(analysis.partial)
            answer = analysis.combine(gathered.values)
        else:
            run, gathered = request.opened()
            answer = analysis.of(run)
        report = _report(question, answer, request)
        request.give(answer, question.main_table(answer), report, gathered.losses, inputs=gathered.paths)

    return command


def _of_counters(question: Question[Any]) -> click.Command:
    @counter_verb
    def command(request: CounterRequest) -> None:
        answer = question.analysis().of(request.counters, choice=request.choice)
        report = _report(question, answer, request)
        request.give(answer, question.main_table(answer), report, request.counters.losses)

    return command
