"""Bounds of changes that a user can name: at most so much shorter, by the same sums as the findings of a diagnosis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright.analysis.run.diagnose import account_of, partial_diagnosis
from wavewright.analysis.run.diagnose.across import IS_TALKING, Ranks, late_bound
from wavewright.analysis.run.diagnose.merged_diagnosis import MergedDiagnosis

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wavewright.analysis.run.diagnose.partial import PartialDiagnosis
    from wavewright.model.run import Run

    _Gather = Callable[[Callable[[Run], PartialDiagnosis]], Sequence[PartialDiagnosis]]

_SCENARIOS = ("rank", "communication")


def bounds_of(texts: Sequence[str], gather: _Gather) -> dict[str, int]:
    """Scenario of `wavewright path --what-if` -> at most so much shorter, in ns; where ranks meet on one clock.

    A rank on time gains no more than the finding about late ranks says of it, communication no more than the finding
    about exposed communication. `gather` applies a function to all runs.
    """
    scenarios = [text for text in texts if text.partition("=")[0].strip() in _SCENARIOS]
    runs = MergedDiagnosis(gather(partial_diagnosis) if scenarios else [])
    ranks = Ranks(runs)
    if not scenarios or not runs.gpu_count or not ranks.are_met:
        return {}
    account = account_of(runs, ranks)
    communication_ns = account.time_of(account.idle.clear(), account.exposed.filter(IS_TALKING))
    bounds: dict[str, int] = {}
    for text in scenarios:
        bound, value = communication_ns, text.partition("=")[2]
        if value.strip().isdecimal():
            late = ranks.late.filter(pl.col("rank") == int(value))
            bound = max((late_bound(runs, row) for row in late.iter_rows(named=True)), default=0.0)
        bounds[text] = round(min(bound, runs.window_ns))
    return bounds
