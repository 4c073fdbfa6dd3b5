"""The first question about any document: what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.page.question import Question
from wavescope.page.run.overview import overview_of_run
from wavescope.page.trace.overview import overview_of_trace

if TYPE_CHECKING:
    from wavescope.page.document import Document

__all__ = ["QUESTIONS", "overview"]


def overview(document: Document) -> dict[str, Any]:
    """Facts that every view of the document needs.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> from wavescope.page.document import Document
    >>> overview(Document(0, "", "", lambda: ThreadTrace({}, TraceSource(path="nothing"))))["kind"]
    'trace'
    """
    return overview_of_trace(document) if document.kind == "trace" else overview_of_run(document)


QUESTIONS = (Question("overview", "any", overview),)
