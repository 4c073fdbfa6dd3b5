"""Topics about counter captures: which analysis answers, and which words it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.report.kit.topic import Topic, Wording

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from wavescope.page.protocol.document import Document

    Parts = Iterable[RenderableType]

_KERNELS = 5  #: Kernels that the words are about, the longest.


def _diagnose(document: Document) -> Any:
    from wavescope.analysis.counters.limiters import limiters

    return document.kept(("topic", "diagnose"), lambda: limiters(document.counters, top=_KERNELS))


def _diagnose_words(answer: Any, _wording: Wording) -> Parts:
    from wavescope.report.counters.limiters import limiters_report

    return limiters_report(answer)


TOPICS = (
    Topic(
        "diagnose",
        "counters",
        _diagnose,
        title="Limits",
        question="Which limit is each kernel at?",
        words=_diagnose_words,
    ),
)
