"""Answers that are put together of several analyses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavewright.model.answer import Answer

if TYPE_CHECKING:
    from wavewright.analysis.counters.engine.answer import CounterPanels


@dataclass(frozen=True)
class SpeedOfLight(Answer):
    """Distance of each unit from its limit, of all dispatches and of the longest kernels."""

    panels: CounterPanels
    by_kernel: tuple[tuple[int, CounterPanels], ...]  #: Rank of a kernel, and its panel.
