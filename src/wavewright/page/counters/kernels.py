"""Kernels of a counter capture, by rank: what questions are about, and for which an exported page holds answers."""

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

MOST_HELD = 50  #: Kernels, the longest, of which an exported page holds the answers.
MOST_NORMALIZED = 10  #: Those of which it holds them for every normalization.


def kernels_of(document: Document) -> pl.DataFrame:
    """Every kernel of the capture, the longest first: their ranks are those of `analysis.counters.engine.panels`."""

    def make() -> pl.DataFrame:
        if panels := stored_panels_of(document):
            return panels.kernels.drop("is_chosen")
        return ranked_kernels(document.counters.dispatches, document.counters.run_times())

    return document.kept(("counters", "kernels"), make)


def stored_panels_of(document: Document) -> CounterPanels | None:
    """The metrics that another tool computed, where the capture has them instead of counters; else None."""
    counters = document.counters
    if not is_stored(counters):
        return None
    return document.kept(("counters", "stored"), lambda: counter_panels(counters))


def choice_of(document: Document, kernel: int | None) -> CounterChoice:
    """The dispatches of the kernel of that rank; None = all."""
    if kernel is None:
        return CounterChoice()
    if not 0 <= kernel < kernels_of(document).height:
        raise UsageError(f"there is no kernel {kernel}")
    return CounterChoice(kernels=(str(kernel),))


def normalized(name: str) -> str:
    """Parser of a normalization.

    >>> normalized("wave")
    'wave'
    """
    if name not in NORMALIZATIONS:
        raise UsageError(f"amounts are not per {name[:40]!r}", advice=f"they are per {', '.join(NORMALIZATIONS)}")
    return name


def every_kernel(document: Document) -> list[dict[str, Any]]:
    """Parameters of answers about all kernels together and about each of the longest."""
    count = kernels_of(document).height
    return [{}, *({"kernel": kernel} for kernel in range(min(count, MOST_HELD) if count > 1 else 0))]


def every_choice(document: Document) -> list[dict[str, Any]]:
    """The same for every exported normalization."""
    kernels = every_kernel(document)
    more = [{"normalization": per} for per in NORMALIZATIONS if per != "kernel"]
    return kernels + [kernel | per for kernel in kernels[: MOST_NORMALIZED + 1] for per in more]
