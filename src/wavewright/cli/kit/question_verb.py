"""Verbs of questions: made of the declaration, the options in its TOML file, and the answer that these ask for."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from wavewright.cli.kit.io import console
from wavewright.cli.kit.options import arguments, declaration_of, options
from wavewright.cli.kit.request import Request, form_of
from wavewright.cli.kit.verbs import full_help, read_declaration
from wavewright.questions.kit.question import Wording

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from wavewright.cli.kit.counters import CounterRequest
    from wavewright.cli.kit.picture import PictureRequest
    from wavewright.cli.kit.request import Parts, Report
    from wavewright.cli.kit.run import RunRequest
    from wavewright.cli.kit.trace import TraceRequest
    from wavewright.model.answer import Answer
    from wavewright.questions.kit.question import Question


class Shown(NamedTuple):
    """An answer, and how a verb shows it."""

    answer: Answer | dict[str, Any]
    table: pl.DataFrame | None = None  #: What --csv prints; None = the rows that the question declares.
    how: Mapping[str, Any] = {}  #: More arguments of the declared words.
    words: Callable[[Wording], Parts] | None = None  #: None = those that are declared for the answer.
    losses: pl.DataFrame | None = None  #: None = those of the request.
    facts: Mapping[str, Any] = {}  #: More keys of the JSON object.
    drawn: Callable[[str], str] | None = None  #: The picture in the colours of a theme.
    is_cut: bool = False  #: Whether it is limited to the first rows already.
    is_by_code: bool = True  #: Whether it says nothing without code, where the question needs code.
    request: Request | None = None  #: What it answers; None = the request as it came.


def _request_of(form: str, options: dict[str, Any]) -> Request:
    """Make the request that arguments and common options ask for; they are taken out of `options`.

    `form` is a table of `cli/kit/forms.toml`; a question without a form of its own has that of its kind. A verb imports
    the requests of its own kind only, which keeps its start short.
    """
    if form == "captures side by side":
        return Request(paths=options.pop("paths"), **form_of(options))
    if form == "counters":
        from wavewright.cli.kit.counters import counter_request

        return counter_request(options)
    if form in {"run", "a name, and whole events"}:
        from wavewright.cli.kit.run import run_request

        return run_request(options, is_whole=form != "run")
    from wavewright.cli.kit.trace import any_request, trace_request

    if form == "with or without a trace":
        return any_request(options)
    return trace_request(options, in_parts=form == "totals")


def derived_verb(question: Question[Any]) -> click.Command:
    """Make the verb that answers a question: its parameters are those of its form and those that it declares itself."""
    declared = declaration_of(question)
    form = declared.get("form", question.kind)
    entries = declared.get("option", [])
    has_picture = {"like": "picture"} in entries
    common = read_declaration("cli", "kit", "forms")[form]

    def run(**given: Any) -> None:
        request = _request_of(form, given)
        if has_picture:
            from wavewright.cli.kit.picture import picture_request

            given["picture"] = picture_request(given)
        answer = _answers(question.kind).get(question.name) or partial(_DEFAULTS[question.kind], question)
        _give(question, request, answer(request, **given), given.get("picture"))

    parameters = [*arguments(common), *options(common["option"], {"own": entries})]
    text = full_help(question, declared.get("details", ""))
    return click.Command(question.verb_name, params=parameters, help=text, callback=run)


def _answers(kind: str) -> Mapping[str, Callable[..., Shown]]:
    """Return the functions that answer questions of a kind by options of their verbs; `--help` imports none of them."""
    module = import_module(f"wavewright.cli.answers.{kind.removesuffix('s')}_answers")
    answers: Mapping[str, Callable[..., Shown]] = module.ANSWERS
    return answers


def _trace_answer(question: Question[Any], request: TraceRequest, **arguments: Any) -> Shown:
    trace = request.trace if question.needs == "nothing" else request.require_instructions()
    return Shown(question.analysis().of(trace, rows=request.rows, **arguments))


def _run_answer(question: Question[Any], request: RunRequest, **arguments: Any) -> Shown:
    analysis = question.analysis()
    if analysis.partial is None or analysis.combine is None:
        needed = "a question about runs needs partial and combine in its Analysis, or a function in cli/answers"
        raise NotImplementedError(f"{question.name}: {needed}")
    partials = request.gather(_with_options(analysis.partial, arguments)).values
    return Shown(_with_options(analysis.combine, arguments)(partials))


def _with_options(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Callable[..., Any]:
    """The function with those options of the verb that it takes."""
    return partial(function, **{name: arguments[name] for name in signature(function).parameters if name in arguments})


def _counter_answer(question: Question[Any], request: CounterRequest, **arguments: Any) -> Shown:
    return Shown(question.analysis().of(request.counters, choice=request.choice, **arguments))


#: Kind of document -> the answer of a verb whose options are arguments of the analysis.
_DEFAULTS: dict[str, Callable[..., Shown]] = {"trace": _trace_answer, "run": _run_answer, "counters": _counter_answer}


def _give(question: Question[Any], request: Request, shown: Shown, picture: PictureRequest | None) -> None:
    request = shown.request or request

    def report() -> Parts:
        out = console()
        wording = Wording(request.limit, out.width, shown.how, ascii_only=out.options.ascii_only)
        yield from shown.words(wording) if shown.words else _declared_words(question, shown.answer, wording)
        if picture is not None:
            yield from picture.lines()

    if picture is not None and shown.drawn is not None:
        picture.write(shown.drawn)
    table = question.main_table(shown.answer) if shown.table is None else shown.table
    losses = request.losses if shown.losses is None else shown.losses
    facts = dict(shown.facts) | (picture.told if picture is not None else {})
    is_by_code = question.needs == "code" and shown.is_by_code and request.kind == "trace"
    shown_report: Report = cast("TraceRequest", request).with_code(report) if is_by_code else report
    request.give(shown.answer, table, shown_report, losses, inputs=request.inputs, is_cut=shown.is_cut, **facts)


def _declared_words(question: Question[Any], answer: Any, wording: Wording) -> Parts:
    """The words of the question, or of what an option asked for instead of it."""
    if type(answer) in question.analysis().answers:
        return question.words(answer, wording)
    from wavewright.questions.beside import words_beside_questions

    return cast("Parts", words_beside_questions(answer)(answer, wording))  # type: ignore[misc]  # every such answer has
