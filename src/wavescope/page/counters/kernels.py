"""Kernels of a counter capture, by rank: what questions are about, and for which an exported page holds answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

    from wavescope.analysis.counter_choice import CounterChoice
    from wavescope.page.document import Document

__all__ = ["MOST_HELD", "NORMALIZATIONS", "choice_of", "every_choice", "every_kernel", "kernels_of", "normalized"]

MOST_HELD = 100
"""Kernels, the longest, of which an exported page holds the answers."""
MOST_NORMALIZED = 20
"""Those of which it holds them for every normalization."""
NORMALIZATIONS = ("kernel", "wave", "cycle", "second")


def kernels_of(document: Document) -> pl.DataFrame:
    """Every kernel of the capture, the longest first: `analysis.counter_choice.ranked_kernels`.

    Examples
    --------
    >>> from wavescope.model.counter_set import CounterSet
    >>> from wavescope.page.document import Document
    >>> kernels_of(Document(0, "", "", lambda: CounterSet({}))).height
    0
    """
    from wavescope.analysis.counter_choice import ranked_kernels

    return document.kept(("counters", "kernels"), lambda: ranked_kernels(document.counters.dispatches))


def choice_of(document: Document, kernel: int | None) -> CounterChoice:
    """The dispatches of the kernel of that rank; None = all.

    Raises
    ------
    UsageError
        When there is no such kernel.

    Examples
    --------
    >>> from wavescope.model.counter_set import CounterSet
    >>> from wavescope.page.document import Document
    >>> choice_of(Document(0, "", "", lambda: CounterSet({})), 3)
    Traceback (most recent call last):
    wavescope.errors.UsageError: there is no kernel 3
    """
    from wavescope.analysis.counter_choice import CounterChoice

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
    >>> from wavescope.model.counter_set import CounterSet
    >>> from wavescope.page.document import Document
    >>> every_kernel(Document(0, "", "", lambda: CounterSet({})))
    [{}]
    """
    count = kernels_of(document).height
    return [{}, *({"kernel": kernel} for kernel in range(min(count, MOST_HELD) if count > 1 else 0))]


def every_choice(document: Document) -> list[dict[str, Any]]:
    """The same, for every normalization where that is held.

    Examples
    --------
    >>> from wavescope.model.counter_set import CounterSet
    >>> from wavescope.page.document import Document
    >>> len(every_choice(Document(0, "", "", lambda: CounterSet({}))))
    4
    """
    kernels = every_kernel(document)
    more = [{"normalization": per} for per in NORMALIZATIONS[1:]]
    return kernels + [kernel | per for kernel in kernels[: MOST_NORMALIZED + 1] for per in more]
