"""Next questions about counter captures: the kernel that an answer is about, by its handle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.model.next_question import NextQuestion
from wavewright.report.kit.handles import handle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.counters.limiters import Limiters
    from wavewright.model.document import Document


def after_limits(_document: Document, answer: Limiters) -> Iterator[NextQuestion]:
    """The panels of what limits the first kernel, then where it stands under the roofs."""
    if answer.kernels:
        first = answer.kernels[0]
        kernel = {"kernel": handle("k", first.kernel)}
        evidence = [item.metric_id for limiter in first.of("at limit", "likely") for item in limiter.evidence]
        panels = list(dict.fromkeys(metric.partition(".")[0] for metric in evidence if metric))
        if panels:
            yield NextQuestion("panels", {"panel": panels[0], **kernel}, "the metrics behind the first verdict")
        yield NextQuestion("roofline", kernel, "which roof is near")
        yield NextQuestion("memory-chart", kernel, "traffic between caches and memory")
