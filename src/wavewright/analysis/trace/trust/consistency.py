"""Do the totals that a decoded directory states agree with its own waves?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from wavewright.analysis.trace.costs.row_totals import row_totals
from wavewright.analysis.trace.selection import whole_of
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.schema import THREAD_TRACE, table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavewright.model.schema import TableSpec
    from wavewright.model.trace import ThreadTrace

_TOTALS = [column.name for column in THREAD_TRACE["stored_totals"].columns if column.name != "row"]


@dataclass(frozen=True)
class Consistency(Answer):
    """Stored totals against totals recomputed from the instructions."""

    definition: ClassVar[str] = (
        "Hit, latency, stall and idle of every code row as the directory states them, against the same totals "
        "recomputed from its wave files (row_totals). They differ when wave files are missing, repeated or damaged, "
        "or come from another decoding than code.json. A selection is judged by the whole trace it was made from."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "differences": table_spec(
            "differences",
            "one code row whose totals differ",
            """
            row                          Int32  -       | code.row
            hit_count                    Int64  -       | executions in the wave files
            latency_cycles_total         Int64  cycles  | sum of durations in the wave files
            stall_cycles_total           Int64  cycles  | sum of stalls in the wave files
            idle_cycles_total            Int64  cycles  | sum of gaps in the wave files
            stored_hit_count             Int64  -       | executions as stated
            stored_latency_cycles_total  Int64  cycles  | sum of durations as stated
            stored_stall_cycles_total    Int64  cycles  | sum of stalls as stated
            stored_idle_cycles_total     Int64  cycles  | sum of gaps as stated
            """,
        )
    }

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
