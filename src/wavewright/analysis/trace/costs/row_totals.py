"""Cost of each code row over all traced waves: hits, latency, stall and idle."""

from __future__ import annotations

import polars as pl

from wavewright import _core
from wavewright.analysis.trace.parts import added, answers
from wavewright.model.answer import once_per_trace
from wavewright.model.trace import ThreadTrace

_TOTALS = ("row", "hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total")
_MAXIMA = ("row", "latency_cycles_max", "stall_cycles_max")


def row_totals(trace: ThreadTrace) -> pl.DataFrame:
    """Totals of every code row that was executed, in row order.

    Columns: `row` (code.row), `hit_count` (executions), `latency_cycles_total` (sum of durations),
    `stall_cycles_total` (sum of stalls) and `idle_cycles_total` (sum of the gaps before its executions: from the
    latest end of the wave's earlier instructions, or the wave's start, to the first attempt to issue). Overlapping
    instructions have no gap. Instructions without a known PC have no row; as in AMD's writer they neither count nor
    end a gap.
    """
    return _pass(trace).select(_TOTALS)


def row_maxima(trace: ThreadTrace) -> pl.DataFrame:
    """The longest duration and the longest stall of every code row that was executed, in row order.

    Columns: `row`, `latency_cycles_max`, `stall_cycles_max`.
    """
    return _pass(trace).select(_MAXIMA)


@once_per_trace
def _pass(trace: ThreadTrace) -> pl.DataFrame:
    return added(answers(trace, totals_of_part), ["row"]).sort("row")


def totals_of_part(part: ThreadTrace, whole: ThreadTrace) -> pl.DataFrame:
    """Cost of each code row in a part (`parts`): the columns of `row_totals` and `row_maxima`."""
    return pl.DataFrame(_core.row_totals(part.instructions, part.waves, whole.code.height))
