"""Do the totals that a decoded directory states agree with its own waves?"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.analysis.trace.costs.row_totals import row_totals
from wavewright.analysis.trace.selection import whole_of
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.schema import THREAD_TRACE
from wavewright.model.trace import ThreadTrace

_TOTALS = [column.name for column in THREAD_TRACE["stored_totals"].columns if column.name != "row"]


@dataclass(frozen=True)
class Consistency(Answer, package=__package__):
    """Stored totals against totals recomputed from the instructions."""

    #: Whether the trace states totals and has instructions; raw captures and PC samples state none.
    is_comparable: bool
    row_count: int  #: Code rows with stated or recomputed totals.
    differences: pl.DataFrame

    @property
    def is_consistent(self) -> bool:
        """True if nothing contradicts the wave files."""
        return self.differences.is_empty()


@once_per_trace
def consistency(trace: ThreadTrace) -> Consistency:
    """Compare the stated totals of every code row with recomputed ones."""
    whole, _ = whole_of(trace)
    stored = whole.stored_totals.rename({name: f"stored_{name}" for name in _TOTALS})
    is_comparable = stored.height > 0 and whole.instructions.height > 0
    # writers count the two records of a gfx9 barrier as one execution, as we do, or as two
    records = whole.instructions.group_by("row").agg(hit_count_of_records=pl.len())
    totals = row_totals(whole).join(records, on="row", how="left")
    joined = totals.join(stored, on="row", how="full", coalesce=True).sort("row")
    both = joined.with_columns(pl.exclude("row").fill_null(0).cast(pl.Int64))
    stated, *cycles = (pl.col(f"stored_{name}") for name in _TOTALS)
    differs = (stated != pl.col(_TOTALS[0])) & (stated != pl.col("hit_count_of_records"))
    differs |= pl.any_horizontal(pl.col(name) != column for name, column in zip(_TOTALS[1:], cycles, strict=True))
    columns = Consistency.tables["differences"].names
    differences = both.filter(differs if is_comparable else pl.lit(value=False)).select(columns)
    return Consistency(is_comparable, both.height if is_comparable else 0, differences)
