"""One kernel of a trace: questions that can be asked about it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.analysis.trace.selection import Selection, select
from wavewright.errors import UsageError
from wavewright.questions.kit.parameters import place

if TYPE_CHECKING:
    from wavewright.model.document import Document
    from wavewright.model.trace import ThreadTrace

_MOST_EXPORTED = 8

#: The parameter of questions that can be asked about one kernel; without it they are about all waves.
KERNEL = {"kernel": place}


def traced_kernels(document: Document) -> dict[int, int]:
    """Kernels that traced waves entered, and how many waves, the most first."""
    counts = document.trace.waves["kernel"].drop_nulls().value_counts()
    return dict(counts.sort("count", "kernel", descending=[True, False]).iter_rows())


def of_kernel(document: Document, kernel: int | None) -> ThreadTrace:
    """The trace with only the waves of a kernel; None = all of them."""
    if kernel is None:
        return document.trace
    if kernel not in traced_kernels(document):
        raise UsageError(f"no traced wave entered kernel {kernel}")
    waves = document.trace.waves
    numbers = tuple(waves.filter(waves["kernel"] == kernel)["wave"].to_list())
    return document.kept(("kernel", kernel), lambda: select(document.trace, Selection(waves=numbers)))


def every_kernel(document: Document) -> list[dict[str, Any]]:
    """The selections of an exported page: all waves, and with several kernels those with the most waves separately."""
    kernels = list(traced_kernels(document))[:_MOST_EXPORTED]
    return [{}, *({"kernel": kernel} for kernel in kernels if len(kernels) > 1)]
