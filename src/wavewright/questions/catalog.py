"""Every question by kind of document and name: what all surfaces are made of."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from wavewright.base.plugins import QUESTIONS as PLUGIN_GROUP
from wavewright.base.plugins import load_plugin, plugin_error, plugins
from wavewright.errors import UsageError
from wavewright.questions.counters.declared import QUESTIONS as _COUNTERS
from wavewright.questions.run.declared import QUESTIONS as _RUN
from wavewright.questions.trace.declared import QUESTIONS as _TRACE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.model.answer import Answer
    from wavewright.questions.kit.question import Plot, Question

#: Kind of document -> name -> question, in the order of a report.
QUESTIONS: dict[str, dict[str, Question[Any]]] = {
    "trace": {question.name: question for question in _TRACE},
    "run": {question.name: question for question in _RUN},
    "counters": {question.name: question for question in _COUNTERS},
}
#: Kind of document -> name -> plot.
PLOTS: dict[str, dict[str, Plot]] = {
    kind: {plot.name: plot for question in questions.values() for plot in question.plots}
    for kind, questions in QUESTIONS.items()
}


def every_question() -> Iterator[Question[Any]]:
    """The questions about all kinds of documents."""
    return (question for questions in QUESTIONS.values() for question in questions.values())


def question_of(kind: str, name: str) -> Question[Any]:
    """The question of that name about documents of this kind. Raises `UsageError` when there is none."""
    question = QUESTIONS[kind].get(name) or plugin_question(name, kind)
    if question is None:
        names = ", ".join(QUESTIONS[kind])
        raise UsageError(f"no topic {name[:40]!r} about {_called(kind)}", advice=f"topics: {names}")
    return question


def plugin_question(name: str, kind: str | None = None) -> Question[Any] | None:
    """The question of that name, about this kind of document, that another package adds; None = there is none.

    Raises `UsageError` when its package cannot be imported, or gives no question.
    """
    if name not in plugins(PLUGIN_GROUP):
        return None
    question = load_plugin(PLUGIN_GROUP, name)
    if getattr(question, "name", None) != name or getattr(question, "kind", None) not in QUESTIONS:
        raise plugin_error(PLUGIN_GROUP, name, "it gives no question of this name")
    return question if kind in (None, question.kind) else None


def plot_of(kind: str, name: str) -> Plot:
    """The plot of that name of documents of this kind. Raises `UsageError` when there is none."""
    plot = PLOTS[kind].get(name)
    if plot is None:
        raise UsageError(f"no plot {name[:40]!r} of {_called(kind)}", advice=f"plots: {', '.join(PLOTS[kind])}")
    return plot


def _called(kind: str) -> str:
    from wavewright.model.document import DOCUMENTS

    return DOCUMENTS[kind]


def question_answered(answer: Answer) -> Question[Any] | None:
    """The question that an answer is an answer to, by its type; None = it is the answer to none."""
    return next((_by_type(kind)[type(answer)] for kind in QUESTIONS if type(answer) in _by_type(kind)), None)


@cache
def _by_type(kind: str) -> dict[type[Answer], Question[Any]]:
    return {answer: question for question in QUESTIONS[kind].values() for answer in question.analysis().answers}
