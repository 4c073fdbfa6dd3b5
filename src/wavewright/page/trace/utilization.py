"""Utilization of the pipes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.page.protocol.question import PageQuestion

if TYPE_CHECKING:
    from wavewright.analysis.trace.pipes.utilization import Utilization
    from wavewright.model.document import Document


def pipes_in_use(document: Document) -> Utilization:
    """Busy share of every pipe and issue bubbles, of the whole trace and per shader engine."""
    return document.kept("utilization", lambda: utilization(document.trace))


QUESTIONS = (PageQuestion("utilization", "trace", pipes_in_use),)
