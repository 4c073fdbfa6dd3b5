"""Topics about thread traces: which analysis answers, and which words it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.report.kit.topic import Topic, Wording

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from wavescope.page.protocol.document import Document

    Parts = Iterable[RenderableType]


def _diagnose(document: Document) -> Any:
    from wavescope.analysis.trace.diagnose import diagnose

    return document.kept(("topic", "diagnose"), lambda: diagnose(document.trace))


def _diagnose_words(answer: Any, wording: Wording) -> Parts:
    from wavescope.report.trace.diagnose import diagnosis_report

    return diagnosis_report(answer, limit=wording.limit)


def _hotspots(document: Document) -> Any:
    from wavescope.analysis.trace.costs.hotspots import hotspots

    return hotspots(document.trace)


def _hotspots_words(answer: Any, wording: Wording) -> Parts:
    from wavescope.report.trace.hotspots import hotspots_report

    return hotspots_report(answer, width=wording.width, limit=wording.limit)


TOPICS = (
    Topic(
        "diagnose",
        "trace",
        _diagnose,
        title="Findings",
        question="What should be changed first in this kernel?",
        words=_diagnose_words,
    ),
    Topic(
        "hotspots",
        "trace",
        _hotspots,
        title="Costliest instructions",
        question="Which instructions take the cycles?",
        words=_hotspots_words,
    ),
)
