"""`wavewright.make_report`: the report of `wavewright report` as a value that shows and writes itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.export.report.composition import make_report as _make_report
from wavewright.model.counters import CounterSet
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace
from wavewright.notebook.documents import document_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wavewright.model.report import Report
    from wavewright.notebook.documents import Shown


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
        What the only one is compared with.
    title
        Title of the report; empty = made of what it is about.
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
    several = [opened] if isinstance(opened, ThreadTrace | Run | CounterSet) else list(opened)
    return _make_report(
        [document_of(each) for each in several],
        sections=sections,
        without=without,
        purpose=purpose,
        top=top,
        baseline=None if baseline is None else document_of(baseline),
        title=title,
        with_source=with_source,
    )
