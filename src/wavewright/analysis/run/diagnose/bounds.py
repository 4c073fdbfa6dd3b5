"""Bounds of changes that a user can name: at most so much shorter, by the same sums as the findings of a diagnosis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright.analysis.run.diagnose import account_of
from wavewright.analysis.run.diagnose.across import IS_TALKING, Ranks, late_bound
from wavewright.analysis.run.diagnose.merged_diagnosis import MergedDiagnosis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.analysis.run.diagnose.partial import PartialDiagnosis

#: Scenarios of `wavewright path --what-if` that have a bound.
BOUNDED = ("rank", "communication")


def bounds_of(partials: Sequence[PartialDiagnosis], texts: Sequence[str]) -> dict[str, int]:
    """Scenario -> at most so much shorter, in ns; of those of `BOUNDED` in runs whose ranks meet on one clock.

    A rank on time gains no more than the finding about late ranks says of it, communication no more than the finding
    about exposed communication.
    """
    runs = MergedDiagnosis(partials)
    ranks = Ranks(runs)
    if not runs.gpu_count or not ranks.are_met:
        return {}
    bounds: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name == "communication":
            account = account_of(runs, ranks)
            bounds[text] = account.time_of(account.idle.clear(), account.exposed.filter(IS_TALKING))
        elif name == "rank" and value.isdecimal():
            late = ranks.late.filter(pl.col("rank") == int(value))
            bounds[text] = max((late_bound(runs, row) for row in late.iter_rows(named=True)), default=0.0)
    return {text: round(min(bound, runs.window_ns)) for text, bound in bounds.items()}
