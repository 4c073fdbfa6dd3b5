"""Bounds of changes that a user can name: at most so much shorter, by the same sums as the findings of a diagnosis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import polars as pl

from wavewright.analysis.run.diagnose import OF_HOST, account_of, partial_diagnosis
from wavewright.analysis.run.diagnose.across import IS_COMMUNICATION, Ranks, late_bound
from wavewright.analysis.run.diagnose.ledger import NOTHING
from wavewright.analysis.run.diagnose.merged_diagnosis import MergedDiagnosis
from wavewright.analysis.run.diagnose.partial import PartialDiagnosis
from wavewright.analysis.run.diagnose.work import COPY
from wavewright.base.bounds import integer_of
from wavewright.model.run import Run

_Gather = Callable[[Callable[[Run], PartialDiagnosis]], Sequence[PartialDiagnosis]]  #: Asks each run the function.


class _Shortened(NamedTuple):
    """The cells of time (see `ledger`) that a scenario can shorten."""

    idle: pl.Expr
    exposed: pl.Expr
    has_outside: bool  #: Time outside of the window of the diagnosis, too.


_SCENARIOS = {
    "communication": _Shortened(NOTHING, IS_COMMUNICATION, has_outside=False),
    "copies": _Shortened(NOTHING, pl.col("kind") == COPY, has_outside=False),
    "host": _Shortened(pl.col("cause").is_in(OF_HOST), pl.col("is_waiting"), has_outside=True),
    "launch-gaps": _Shortened(pl.lit(value=True), pl.col("is_waiting"), has_outside=True),
}


def bounds_of(texts: Sequence[str], gather: _Gather, spans_ns: pl.Series) -> dict[str, int]:
    """Scenario of `wavewright path --what-if` -> at most so much shorter, in ns.

    A rank on time gains no more than the finding about late ranks says of it, communication and copies no more than
    they are exposed, faster code of the host no more than GPUs idle for it or wait for later ranks, within the window
    of the diagnosis. `gather` applies a function to all runs; `spans_ns` are the lengths of the groups of the path.
    """
    names = {text: text.partition("=")[0].strip() for text in texts}
    scenarios = [text for text, name in names.items() if name in (*_SCENARIOS, "rank")]
    runs = MergedDiagnosis(gather(partial_diagnosis) if scenarios else [])
    if not scenarios or not runs.gpu_count:
        return {}
    ranks = Ranks(runs)
    account = account_of(runs, ranks)
    outside_ns = max(0.0, spans_ns[0] - runs.window_ns) if len(spans_ns) == 1 else None
    bounds: dict[str, int] = {}
    for text in scenarios:
        value = text.partition("=")[2].strip()
        if names[text] != "rank":
            cells = _SCENARIOS[names[text]]
            bound = account.time_of(account.idle.filter(cells.idle), account.exposed.filter(cells.exposed))
            if not cells.has_outside:
                bounds[text] = round(min(bound, runs.window_ns))
            elif outside_ns is not None:
                bounds[text] = round(bound + outside_ns)
        elif ranks.are_met and (rank := integer_of(value)) is not None:
            late = ranks.late.filter(pl.col("rank") == rank)
            bound = max((late_bound(runs, row) for row in late.iter_rows(named=True)), default=0.0)
            bounds[text] = round(min(bound, runs.window_ns))
    return bounds
