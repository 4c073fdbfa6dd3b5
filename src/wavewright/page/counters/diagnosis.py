"""Limit that each kernel of a counter capture is at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.analysis.counters.limiters import limiters
from wavewright.page.counters.kernels import choice_of, every_kernel
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import serialize
from wavewright.questions.kit.parameters import place

if TYPE_CHECKING:
    from wavewright.model.document import Document

#: Kernels, the longest, that an answer about all of them carries; its `kernel_count` tells how many there are.
MOST_KERNELS = 20


def diagnosis_of(document: Document, *, kernel: int | None = None) -> Any:
    """Every limiter of one kernel, or of the longest ones, with its verdict and evidence (`limiters`)."""

    def make() -> Any:
        return serialize(limiters(document.counters, choice=choice_of(document, kernel), top=MOST_KERNELS))

    return make() if kernel is not None else document.kept(("counters", "diagnosis"), make)


QUESTIONS = (PageQuestion("counter_diagnosis", "counters", diagnosis_of, {"kernel": place}, (), every_kernel),)
