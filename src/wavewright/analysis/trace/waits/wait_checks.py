"""The code of a trace as edits see it, and its executed waits that are stricter than needed or too weak for LDS."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.code.edits.kernel_rows import KernelRows, kernel_rows
from wavewright.analysis.code.edits.wait_audit import OPEN_BARRIERS, STRICT_WAITS, open_barriers, strict_waits
from wavewright.analysis.trace.code.live import given_registers, sized_code
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.selection import at_rows
from wavewright.analysis.trace.waits.wait_producers import family_of_trace
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import empty_frame
from wavewright.model.trace import ThreadTrace

_MOST_ROWS = 20_000  #: Of the code: larger ones are not checked, for their time.


def rows_of_kernels(trace: ThreadTrace) -> KernelRows | None:
    """All rows of the code; None where their registers are not known."""
    code = sized_code(trace)
    if not code.height or code["writes"].null_count() == code.height:
        return None
    texts = code.with_columns(pl.col("text").fill_null(""), pl.col("function").fill_null(""))
    return kernel_rows(texts, trace.source.target or "", family_of_trace(trace), given_registers(trace))


@once_per_trace
def wait_checks(trace: ThreadTrace) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Strict waits (`STRICT_WAITS`) and open barriers (`OPEN_BARRIERS`) among the executed rows."""
    code = rows_of_kernels(trace) if trace.code.height <= _MOST_ROWS else None
    if code is None:
        return empty_frame(STRICT_WAITS), empty_frame(OPEN_BARRIERS)
    executed = row_costs(trace).drop_nulls("row").filter(pl.col("hit_count") > 0)["row"]
    return at_rows(strict_waits(code), executed), at_rows(open_barriers(code), executed)
