"""The static instructions, and what each of them cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavescope.analysis.trace.costs.exposure import row_costs
from wavescope.page.protocol.doubles import doubles
from wavescope.page.protocol.question import Question

if TYPE_CHECKING:
    from wavescope.page.protocol.document import Document


def code(document: Document) -> pl.DataFrame:
    """The code rows, in row order; addresses as text, because JavaScript's numbers end at 2**53."""
    rows = document.trace.code.sort("row")
    addresses = [None if value is None else hex(value) for value in rows["address"]]
    return rows.with_columns(pl.Series("address", addresses, pl.String), pl.col("code_object").cast(pl.String))


def costs(document: Document) -> pl.DataFrame:
    """Hits, latency, stall, idle, hidden and exposed cycles of every executed row, over all waves."""
    return doubles(row_costs(document.trace))


QUESTIONS = (Question("code", "trace", code), Question("costs", "trace", costs))
