"""How often was each row of the code sampled, and why was it not issued?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from wavescope.model.answer import Answer
from wavescope.model.schema import TableSpec, table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavescope.model.trace import ThreadTrace

_ROWS = table_spec(
    "rows",
    "one static instruction, sampled or not, in the order of the code",
    """
    row            Int32    -  | code.row
    code_object    UInt64   -  | id of the code object; 0 = raw virtual address
    address        UInt64   -  | ELF address in the code object, or raw virtual address
    text           String   -  | disassembly
    class          String   -  | what kind of instruction it is (codeobj/classes)
    function       String   -  | symbol that contains the address
    file           String   -  | innermost source file; null = no debug line
    line           UInt32   -  | innermost source line; null = unknown
    issued_count   Int64    -  | samples in which it was issued
    stalled_count  Int64    -  | samples in which it was not
    reason         String   -  | the most frequent reason for that (SAMPLE_REASONS); null = none
    reason_share   Float64  -  | its share of the reasons, 0 to 1
    """,
)


@dataclass(frozen=True)
class SampleListing(Answer):
    """The code with its samples."""

    definition: ClassVar[str] = (
        "A sample is one look at the program counter of one wave. A row's samples are proportional to the time that "
        "waves spent at it; how often it was executed, and for how long each time, is not known."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {"rows": _ROWS}

    sample_count: int
    stalled_count: int
    rows: pl.DataFrame


def sample_listing(trace: ThreadTrace, *, rows: pl.Series | None = None) -> SampleListing:
    """The code with how often each row was sampled; `rows` = only these code rows."""
    names = _ROWS.names
    code = trace.code if rows is None else trace.code.filter(pl.col("row").is_in(rows.implode()))
    count = pl.col("count")
    reasons = (
        trace.sample_reasons.filter(count > 0)
        .sort("count", "reason", descending=[True, False])
        .group_by("row", maintain_order=True)
        .agg(pl.col("reason").first(), reason_share=count.first() / count.sum())
    )
    listed = (
        code.select(names[:8])
        .join(trace.samples, on="row", how="left", maintain_order="left")
        .join(reasons, on="row", how="left", maintain_order="left")
        .with_columns(pl.col("issued_count", "stalled_count").fill_null(0))
        .select(names)
    )
    stalled = int(listed["stalled_count"].sum())
    return SampleListing(int(listed["issued_count"].sum()) + stalled, stalled, listed)
