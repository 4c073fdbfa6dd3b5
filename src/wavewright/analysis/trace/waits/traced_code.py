"""The code of a trace as edits see it."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.code.edits.kernel_rows import KernelRows, kernel_rows
from wavewright.analysis.trace.code.live import given_registers, sized_code
from wavewright.analysis.trace.waits.wait_producers import family_of_trace
from wavewright.model.trace import ThreadTrace


def rows_of_kernels(trace: ThreadTrace) -> KernelRows | None:
    """All rows of the code; None where their registers are not known."""
    code = sized_code(trace)
    if not code.height or code["writes"].null_count() == code.height:
        return None
    texts = code.with_columns(pl.col("text").fill_null(""), pl.col("function").fill_null(""))
    return kernel_rows(texts, trace.source.target or "", family_of_trace(trace), given_registers(trace))
