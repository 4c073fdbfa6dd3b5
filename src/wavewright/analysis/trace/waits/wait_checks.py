"""Executed waits of loops that are stricter than needed, and executed barriers that LDS writes in flight may reach."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.code.edits.wait_audit import OPEN_BARRIERS, STRICT_WAITS, open_barriers, strict_waits
from wavewright.analysis.trace.costs.exposure import row_costs
from wavewright.analysis.trace.waits.traced_code import rows_of_kernels
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import empty_frame
from wavewright.model.trace import ThreadTrace

_MOST_ROWS = 20_000  #: Of the code: larger ones are not looked at, for their time.


@once_per_trace
def wait_checks(trace: ThreadTrace) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Strict waits (`STRICT_WAITS`) and open barriers (`OPEN_BARRIERS`) among the executed rows."""
    code = rows_of_kernels(trace) if trace.code.height <= _MOST_ROWS else None
    if code is None:
        return empty_frame(STRICT_WAITS), empty_frame(OPEN_BARRIERS)
    rows = row_costs(trace).drop_nulls("row").filter(pl.col("hit_count") > 0)["row"].implode()
    is_executed = pl.col("row").is_in(rows)
    return strict_waits(code).filter(is_executed), open_barriers(code).filter(is_executed)
