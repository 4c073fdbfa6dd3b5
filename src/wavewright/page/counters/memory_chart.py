"""Traffic between waves, caches and memory, for one kernel of a counter capture or all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.analysis.counters.memory_chart import memory_chart
from wavewright.page.counters.kernels import choice_of, every_choice
from wavewright.page.counters.panels import PARAMETERS
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import serialize

if TYPE_CHECKING:
    from wavewright.model.document import Document


def memory_chart_of(document: Document, *, kernel: int | None = None, normalization: str = "kernel") -> Any:
    """Blocks, their values and the wires between them (`analysis.memory_chart`)."""

    answer = memory_chart(document.counters, choice=choice_of(document, kernel), normalization=normalization)
    content: dict[str, Any] = serialize(answer, top=None)
    del content["kernel_names"]  # the page knows them; there may be thousands
    return content


QUESTIONS = (PageQuestion("memory_chart", "counters", memory_chart_of, PARAMETERS, (), every_choice),)
