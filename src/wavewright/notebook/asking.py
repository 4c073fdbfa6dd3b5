"""`wavewright.ask`: the answers that reports, agents and the command line give, by the name of their topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.notebook.documents import document_of
from wavewright.questions.catalog import question_of

if TYPE_CHECKING:
    from wavewright.notebook.documents import Shown


def ask(opened: Shown, topic: str, **parameters: Any) -> Any:
    """The answer to a question about a trace, a run or counters: its frames are attributes, and notebooks show it.

    Parameters
    ----------
    opened
        A trace, a run or counters.
    topic
        What is asked, as verbs of the command line are called: "diagnose", "gaps", "hotspots", "roofline", ...;
        docs/reference/report-sections.md lists them.
    parameters
        Those of the topic, for example `by="line"`.

    Raises
    ------
    UsageError
        When there is no such topic or parameter, or the input cannot answer.

    Examples
    --------
    >>> from wavewright.model.run import Run
    >>> ask(Run([]), "gaps").gpus.height
    0
    """
    document = document_of(opened)
    question = question_of(document.kind, topic)
    given = {name: str(value) for name, value in parameters.items()}
    return question.answer(document, **question.parsed(given))
