"""How busy the pipes are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.page.protocol.question import Question

if TYPE_CHECKING:
    from wavescope.analysis.trace.pipes.utilization import Utilization
    from wavescope.page.protocol.document import Document

__all__ = ["QUESTIONS", "pipes_in_use"]


def pipes_in_use(document: Document) -> Utilization:
    """Busy share of every pipe and issue bubbles, of the whole trace and per shader engine.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> from wavescope.page.protocol.document import Document
    >>> pipes_in_use(Document(0, "", "", lambda: ThreadTrace({}, TraceSource(path="nothing")))).pipes.height
    0
    """
    from wavescope.analysis.trace.pipes.utilization import utilization

    return document.kept("utilization", lambda: utilization(document.trace))


QUESTIONS = (Question("utilization", "trace", pipes_in_use),)
