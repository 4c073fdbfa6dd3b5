"""The answer about the metrics of a capture, table by table."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.facts.metrics.declared import Panel
from wavewright.model.answer import Answer


@dataclass(frozen=True)
class CounterPanels(Answer, package=__package__):
    """Metrics of a counter capture, table by table."""

    target: str
    product: str
    normalization: str  #: kernel, wave, cycle or second.
    rules: str  #: corrected, or the reference whose rules were applied.
    dispatch_count: int  #: Chosen dispatches.
    panels: tuple[Panel, ...]  #: What was evaluated, in order.
    kernels: pl.DataFrame
    rows: pl.DataFrame
    caveats: tuple[str, ...]  #: What limits the trust in the numbers.
