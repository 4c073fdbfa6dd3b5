"""The first question about any document: what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.page.protocol.question import PageQuestion

if TYPE_CHECKING:
    from wavewright.model.document import Document


def overview(document: Document) -> dict[str, Any]:
    """Facts that every view of the document needs."""
    if document.kind == "trace":
        from wavewright.page.trace.overview import overview_of_trace

        return overview_of_trace(document)
    if document.kind == "run":
        from wavewright.page.run.overview import overview_of_run

        return overview_of_run(document)
    from wavewright.page.counters.overview import overview_of_counters

    return overview_of_counters(document)


QUESTIONS = (PageQuestion("overview", "any", overview),)
