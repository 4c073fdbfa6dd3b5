"""Topics about runs: which analysis answers, and which words it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.report.kit.topic import Topic, Wording

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from wavescope.page.protocol.document import Document

    Parts = Iterable[RenderableType]


def _diagnose(document: Document) -> Any:
    from wavescope.analysis.run.diagnose import diagnose_run

    return document.kept(("topic", "diagnose"), lambda: diagnose_run(document.run))


def _diagnose_words(answer: Any, wording: Wording) -> Parts:
    from wavescope.report.run.diagnose import diagnosis_report

    return diagnosis_report(answer, limit=wording.limit)


def _summary(document: Document) -> Any:
    from wavescope.analysis.run.summary import summary

    return document.kept(("topic", "summary"), lambda: summary(document.run))


def _summary_words(answer: Any, wording: Wording) -> Parts:
    from wavescope.report.run.summary import summary_report

    return summary_report(answer, width=wording.width, limit=wording.limit)


def _gaps(document: Document) -> Any:
    from wavescope.analysis.run.gaps import gaps

    return document.kept(("topic", "gaps"), lambda: gaps(document.run))


def _gaps_words(answer: Any, wording: Wording) -> Parts:
    from wavescope.report.run.gaps import gaps_report

    return gaps_report(answer, width=wording.width, limit=wording.limit)


TOPICS = (
    Topic(
        "diagnose",
        "run",
        _diagnose,
        title="Findings",
        question="What set the time of the run, and what should be changed first?",
        words=_diagnose_words,
    ),
    Topic(
        "summary",
        "run",
        _summary,
        title="Where the time went",
        question="Where did the time go: kernels, copies, allocations, calls, markers?",
        words=_summary_words,
    ),
    Topic(
        "gaps",
        "run",
        _gaps,
        title="Idle time",
        question="When do the GPUs idle between their work, and who makes them wait?",
        words=_gaps_words,
        pictures=("gaps",),
    ),
)
