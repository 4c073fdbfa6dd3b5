"""Kernels of a counter capture by rank: the choices that questions take, and those that an exported page stores."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.counters.choice import CounterChoice, ranked_kernels
from wavewright.analysis.counters.engine.answer import CounterPanels
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.analysis.counters.engine.stored import is_stored
from wavewright.errors import UsageError
from wavewright.facts.metrics.names import NORMALIZATIONS
from wavewright.model.document import Document
from wavewright.page.protocol.question import once_per_document, one_of

MOST_HELD = 50  #: Kernels, the longest, whose answers an exported page stores.
MOST_NORMALIZED = 10  #: Those of them whose answers it stores for every normalization.

#: Parser of a normalization: what amounts are divided by.
normalized = one_of("amounts are not per", NORMALIZATIONS, "they are per")


@once_per_document
def kernels_of(document: Document) -> pl.DataFrame:
    """Every kernel of the capture, the longest first: their ranks are those of `analysis.counters.engine.panels`."""
    if panels := stored_panels_of(document):
        return panels.kernels.drop("is_chosen")
    return ranked_kernels(document.counters.dispatches, document.counters.run_times())


@once_per_document
def stored_panels_of(document: Document) -> CounterPanels | None:
    """The metrics that another tool computed, where the capture has them instead of counters; else None."""
    return counter_panels(document.counters) if is_stored(document.counters) else None


def choice_of(document: Document, kernel: int | None) -> CounterChoice:
    """The dispatches of the kernel of that rank; None = all."""
    if kernel is None:
        return CounterChoice()
    if not 0 <= kernel < kernels_of(document).height:
        raise UsageError(f"there is no kernel {kernel}")
    return CounterChoice(kernels=(str(kernel),))


def every_kernel(document: Document) -> list[dict[str, Any]]:
    """The choices that an exported page stores: all kernels together, and each of the longest."""
    count = kernels_of(document).height
    return [{}, *({"kernel": kernel} for kernel in range(min(count, MOST_HELD) if count > 1 else 0))]


def every_choice(document: Document) -> list[dict[str, Any]]:
    """`every_kernel`, and the first of these choices for every other normalization too."""
    kernels = every_kernel(document)
    other_normalizations = [{"normalization": per} for per in NORMALIZATIONS if per != "kernel"]
    fewer = kernels[: MOST_NORMALIZED + 1]  # the first choice is all kernels together
    return kernels + [kernel | per for kernel in fewer for per in other_normalizations]
