"""Choices of questions about counter captures: the chosen kernel, by handle or name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.questions.kit.groups import COUNTERS
from wavewright.questions.kit.parameters import Parameters, text
from wavewright.questions.kit.question import A, Question, answer_key
from wavewright.words.kit.handles import is_handle, parse_handle

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.analysis.counters.choice import CounterChoice
    from wavewright.model.document import Document

#: What questions about counters can be limited to: part of the name of a kernel, or its handle.
CHOICE: Parameters = {"kernel": text}


class CounterQuestion(Question[A]):
    """A question about a counter capture; its analysis takes the counters, and the chosen dispatches as `choice`."""

    kind = "counters"
    usual_group = COUNTERS

    def asked(self, document: Document, **parameters: Any) -> A:
        """The answer about the capture, or one kernel of it."""
        return asked(document, self.name, self.analysis().of, **parameters)


def choice_of(kernel: str | None) -> CounterChoice:
    """The dispatches of a kernel; None = all."""
    from wavewright.analysis.counters.choice import CounterChoice

    if kernel is None:
        return CounterChoice()
    rank = str(parse_handle(kernel, "k")) if is_handle(kernel) and kernel.startswith("k") else kernel
    return CounterChoice(kernels=(rank,))


def asked(
    document: Document, name: str, function: Callable[..., A], *, kernel: str | None = None, **parameters: Any
) -> A:
    """The answer of an analysis about the capture, or one kernel of it; each is computed once."""
    key = answer_key(name, {} if kernel is None else {"kernel": kernel}, parameters)
    return document.kept(key, lambda: function(document.counters, choice=choice_of(kernel), **parameters))
