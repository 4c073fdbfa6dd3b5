"""One kernel of a trace: questions that can be asked about it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavescope.errors import UsageError
from wavescope.page.protocol.question import place

if TYPE_CHECKING:
    from wavescope.model import ThreadTrace
    from wavescope.page.protocol.document import Document

__all__ = ["KERNEL", "every_kernel", "of_kernel", "traced_kernels"]

_MOST_EXPORTED = 8

KERNEL = {"kernel": place}
"""The parameter of questions that can be asked about one kernel; without it they are about all waves."""


def traced_kernels(document: Document) -> dict[int, int]:
    """Kernels that traced waves entered, and how many waves, the most first.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> from wavescope.page.protocol.document import Document
    >>> traced_kernels(Document(0, "", "", lambda: ThreadTrace({}, TraceSource(path="nothing"))))
    {}
    """
    counts = document.trace.waves["kernel"].drop_nulls().value_counts()
    return dict(counts.sort("count", "kernel", descending=[True, False]).iter_rows())


def of_kernel(document: Document, kernel: int | None) -> ThreadTrace:
    """The trace with only the waves of a kernel; None = all of them.

    Raises
    ------
    UsageError
        When no traced wave entered it.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> from wavescope.page.protocol.document import Document
    >>> of_kernel(Document(0, "", "", lambda: ThreadTrace({}, TraceSource(path="nothing"))), 3)
    Traceback (most recent call last):
    wavescope.errors.UsageError: no traced wave entered kernel 3
    """
    from wavescope.analysis.trace.selection import Selection, select

    if kernel is None:
        return document.trace
    if kernel not in traced_kernels(document):
        what = f"no traced wave entered kernel {kernel}"
        raise UsageError(what)
    waves = document.trace.waves
    chosen = tuple(waves.filter(waves["kernel"] == kernel)["wave"].to_list())
    return document.kept(("kernel", kernel), lambda: select(document.trace, Selection(waves=chosen)))


def every_kernel(document: Document) -> list[dict[str, Any]]:
    """What an exported page holds: all waves, and where there are several kernels those with the most waves apart.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> from wavescope.page.protocol.document import Document
    >>> every_kernel(Document(0, "", "", lambda: ThreadTrace({}, TraceSource(path="nothing"))))
    [{}]
    """
    kernels = list(traced_kernels(document))[:_MOST_EXPORTED]
    return [{}, *({"kernel": kernel} for kernel in kernels if len(kernels) > 1)]
