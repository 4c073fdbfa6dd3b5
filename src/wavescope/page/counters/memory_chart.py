"""What flows between waves, caches and memory, for one kernel of a counter capture or all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.page.counters.kernels import choice_of, every_choice
from wavescope.page.counters.panels import PARAMETERS
from wavescope.page.protocol.question import Question

if TYPE_CHECKING:
    from wavescope.page.protocol.document import Document

__all__ = ["QUESTIONS", "memory_chart_of"]


def memory_chart_of(document: Document, *, kernel: int | None = None, normalization: str = "kernel") -> Any:
    """Blocks, their values and the wires between them (`analysis.memory_chart`).

    Raises
    ------
    UsageError
        When there is no such kernel, or the GPU is not known.

    Examples
    --------
    >>> from wavescope.model.counters import CounterSet, System
    >>> from wavescope.page.protocol.document import Document
    >>> memory_chart_of(Document(0, "", "", lambda: CounterSet({}, system=System(target="gfx942"))), kernel=2)
    Traceback (most recent call last):
    wavescope.errors.UsageError: there is no kernel 2
    """
    from wavescope.analysis.counters.memory_chart import memory_chart
    from wavescope.model import to_builtins

    answer = memory_chart(document.counters, choice=choice_of(document, kernel), normalization=normalization)
    told: dict[str, Any] = to_builtins(answer)
    del told["kernel_names"]  # the page knows them; there may be thousands
    return told


QUESTIONS = (Question("memory_chart", "counters", memory_chart_of, PARAMETERS, (), every_choice),)
