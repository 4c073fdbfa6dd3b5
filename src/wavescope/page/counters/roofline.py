"""Kernels of a counter capture under the roofs of arithmetic and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.errors import UsageError
from wavescope.page.question import Question

if TYPE_CHECKING:
    from wavescope.page.document import Document

__all__ = ["MOST_ROWS", "QUESTIONS", "roofline_of"]

MOST_ROWS = 2000
"""Rows of one table that an answer carries."""


def ceilings(given: str) -> str:
    """A parser of which roofs kernels are compared with.

    Raises
    ------
    UsageError
        When there are no such roofs.

    Examples
    --------
    >>> ceilings("empirical")
    'empirical'
    """
    from wavescope.analysis.roofline.ceilings import CHOICES

    if given not in CHOICES:
        what = f"no roofs {given[:40]!r}"
        raise UsageError(what, advice=f"there are {', '.join(CHOICES)}")
    return given


def roofline_of(document: Document, *, ceilings: str = "best") -> Any:
    """Roofs and kernels (`analysis.roofline`).

    Examples
    --------
    >>> from wavescope.model.counter_set import CounterSet
    >>> from wavescope.page.document import Document
    >>> roofline_of(Document(0, "", "", lambda: CounterSet({})))["kernels"]["row_count"]
    0
    """
    from wavescope.analysis.roofline import roofline
    from wavescope.model import to_builtins

    key = ("counters", "roofline", ceilings)
    return document.kept(key, lambda: to_builtins(roofline(document.counters, ceilings=ceilings), top=MOST_ROWS))


def _every_choice(_: Document) -> list[dict[str, str]]:
    from wavescope.analysis.roofline.ceilings import CHOICES

    return [{}, *({"ceilings": choice} for choice in CHOICES)]


QUESTIONS = (Question("counter_roofline", "counters", roofline_of, {"ceilings": ceilings}, (), _every_choice),)
