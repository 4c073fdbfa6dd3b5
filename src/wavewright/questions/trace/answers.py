"""Answers that are put together of several analyses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavewright.model.answer import Answer

if TYPE_CHECKING:
    from wavewright.analysis.trace.occupancy import Occupancy
    from wavewright.analysis.trace.pipes.utilization import Utilization
    from wavewright.analysis.trace.trust.coverage import Coverage
    from wavewright.analysis.trace.trust.mapping import SourceMapping
    from wavewright.analysis.trace.trust.verdicts import Trust
    from wavewright.analysis.trace.waves.resident import KernelResidency, Residency
    from wavewright.analysis.trace.waves.states import States


@dataclass(frozen=True)
class WaveStates(Answer):
    """States of the waves over time."""

    states: States
    pipes: Utilization
    residency: KernelResidency
    issue_share: float | None  #: Cycles in which instructions issue, of all cycles of their waves.


@dataclass(frozen=True)
class TraceCoverage(Answer):
    """Coverage of the trace, and verdicts about its trust."""

    trust: Trust
    coverage: Coverage
    mapping: SourceMapping


@dataclass(frozen=True)
class OccupancyOverTime(Answer):
    """Occupancy, and the resident waves over time."""

    occupancy: Occupancy
    curves: tuple[Residency, ...]
