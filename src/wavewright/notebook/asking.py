"""`wavewright.ask` and `make_report`: the answers to declared questions in Python, and reports of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from wavewright.model.counters import CounterSet
from wavewright.model.document import Shown
from wavewright.model.report import Report
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace
from wavewright.notebook.documents import document_of
from wavewright.questions.catalog import question_of


def ask(opened: Shown, topic: str, **parameters: Any) -> Any:
    """The answer to a question about a trace, a run or counters; its tables are attributes, and notebooks display it.

    Parameters
    ----------
    opened
        A trace, a run or counters.
    topic
        The question, by the name of its verb on the command line: "diagnose", "gaps", "hotspots", "roofline", ...;
        docs/reference/report-sections.md lists them.
    parameters
        The parameters of the topic, for example `by="line"`.

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


def make_report(
    opened: Shown | Sequence[Shown],
    *,
    sections: Iterable[str] = (),
    without: Iterable[str] = (),
    purpose: str = "full",
    top: int | None = None,
    baseline: Shown | None = None,
    title: str = "",
    with_source: bool = True,
) -> Report:
    """A report about a trace, a run or counters, or about several that are compared with the first.

    Parameters
    ----------
    opened
        A trace, a run or counters, or several of one kind.
    sections, without
        Names of sections: only these, or all but these; docs/reference/report-sections.md lists them.
    purpose
        full, brief, issue or agent.
    top
        Rows of a table; None = as many as suit the purpose, 0 = all.
    baseline
        A trace, a run or counters that `opened` is compared with.
    title
        Title of the report; empty = made of the labels.
    with_source
        Whether the text of source files may be in it.

    Returns
    -------
    Report
        Notebooks show it; `write("report.html")` writes it in any format, `to_markdown()` gives Markdown.

    Raises
    ------
    UsageError
        When there is no such section or purpose, or captures cannot be compared.

    Examples
    --------
    >>> make_report(Run([]), sections=["gaps"]).kind
    'run'
    """
    from wavewright.export.report.composition import make_report as composed

    several = [opened] if isinstance(opened, ThreadTrace | Run | CounterSet) else list(opened)
    return composed(
        [document_of(content) for content in several],
        sections=sections,
        without=without,
        purpose=purpose,
        top=top,
        baseline=None if baseline is None else document_of(baseline),
        title=title,
        with_source=with_source,
    )
