"""Kernels of a counter capture, by rank: what questions are about, and for which an exported page holds answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.errors import UsageError
from wavescope.facts.metrics import NORMALIZATIONS

if TYPE_CHECKING:
    import polars as pl

    from wavescope.analysis.counters.choice import CounterChoice
    from wavescope.analysis.counters.engine import CounterPanels
    from wavescope.page.protocol.document import Document

__all__ = [
    "MOST_HELD",
    "choice_of",
    "every_choice",
    "every_kernel",
    "kernels_of",
    "normalized",
    "stored_panels_of",
]

MOST_HELD = 50
"""Kernels, the longest, of which an exported page holds the answers."""
MOST_NORMALIZED = 10
"""Those of which it holds them for every normalization."""


def kernels_of(document: Document) -> pl.DataFrame:
    """Every kernel of the capture, the longest first: their ranks are those of `analysis.metrics.counter_panels`.

    Examples
    --------
    >>> from wavescope.model.counters import CounterSet
    >>> from wavescope.page.protocol.document import Document
    >>> kernels_of(Document(0, "", "", lambda: CounterSet({}))).height
    0
    """
    from wavescope.analysis.counters.choice import ranked_kernels

    def make() -> pl.DataFrame:
        if stored := stored_panels_of(document):
            return stored.kernels.drop("is_chosen")
        return ranked_kernels(document.counters.dispatches)

    return document.kept(("counters", "kernels"), make)


def stored_panels_of(document: Document) -> CounterPanels | None:
    """The metrics that another tool computed, where the capture has them instead of counters; else None.

    Examples
    --------
    >>> from wavescope.model.counters import CounterSet
    >>> from wavescope.page.protocol.document import Document
    >>> stored_panels_of(Document(0, "", "", lambda: CounterSet({}))) is None
    True
    """
    from wavescope.analysis.counters.engine import counter_panels

    counters = document.counters
    if counters.measured or not counters.stored_metrics.height:
        return None
    return document.kept(("counters", "stored"), lambda: counter_panels(counters))


def choice_of(document: Document, kernel: int | None) -> CounterChoice:
    """The dispatches of the kernel of that rank; None = all.

    Raises
    ------
    UsageError
        When there is no such kernel.

    Examples
    --------
    >>> from wavescope.model.counters import CounterSet
    >>> from wavescope.page.protocol.document import Document
    >>> choice_of(Document(0, "", "", lambda: CounterSet({})), 3)
    Traceback (most recent call last):
    wavescope.errors.UsageError: there is no kernel 3
    """
    from wavescope.analysis.counters.choice import CounterChoice

    if kernel is None:
        return CounterChoice()
    if not 0 <= kernel < kernels_of(document).height:
        what = f"there is no kernel {kernel}"
        raise UsageError(what)
    return CounterChoice(kernels=(str(kernel),))


def normalized(given: str) -> str:
    """A parser of what amounts are per.

    Raises
    ------
    UsageError
        When it is nothing of that.

    Examples
    --------
    >>> normalized("wave")
    'wave'
    """
    if given not in NORMALIZATIONS:
        what = f"amounts are not per {given[:40]!r}"
        raise UsageError(what, advice=f"they are per {', '.join(NORMALIZATIONS)}")
    return given


def every_kernel(document: Document) -> list[dict[str, Any]]:
    """Parameters of answers about all kernels together and about each of the longest.

    Examples
    --------
    >>> from wavescope.model.counters import CounterSet
    >>> from wavescope.page.protocol.document import Document
    >>> every_kernel(Document(0, "", "", lambda: CounterSet({})))
    [{}]
    """
    count = kernels_of(document).height
    return [{}, *({"kernel": kernel} for kernel in range(min(count, MOST_HELD) if count > 1 else 0))]


def every_choice(document: Document) -> list[dict[str, Any]]:
    """The same, for every normalization where that is held.

    Examples
    --------
    >>> from wavescope.model.counters import CounterSet
    >>> from wavescope.page.protocol.document import Document
    >>> len(every_choice(Document(0, "", "", lambda: CounterSet({}))))
    4
    """
    kernels = every_kernel(document)
    more = [{"normalization": per} for per in NORMALIZATIONS if per != "kernel"]
    return kernels + [kernel | per for kernel in kernels[: MOST_NORMALIZED + 1] for per in more]
