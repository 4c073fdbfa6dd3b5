"""The first question about any document: what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.page.counters.overview import overview_of_counters
from wavescope.page.protocol.question import Question
from wavescope.page.run.overview import overview_of_run
from wavescope.page.trace.overview import overview_of_trace

if TYPE_CHECKING:
    from wavescope.page.protocol.document import Document


def overview(document: Document) -> dict[str, Any]:
    """Facts that every view of the document needs."""
    return _OF_KIND[document.kind](document)


_OF_KIND = {"trace": overview_of_trace, "run": overview_of_run, "counters": overview_of_counters}

QUESTIONS = (Question("overview", "any", overview),)
