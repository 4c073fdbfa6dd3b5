"""What does each line of the source cost, and what was inlined into it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from wavescope.analysis.trace.costs.exposure import row_costs
from wavescope.analysis.trace.listing.source_frames import by_line
from wavescope.analysis.trace.waits.rows import stall_rows
from wavescope.model.answer import Answer
from wavescope.model.schema import TableSpec, table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavescope.model.trace import ThreadTrace

_SUMS = (
    "hit_count",
    "latency_cycles_total",
    "stall_cycles_total",
    "idle_cycles_total",
    "exposed_stall_cycles_total",
    "exposed_issue_cycles_total",
    "exposed_idle_cycles_total",
    "exposed_cycles_total",
)
_COSTS = """
    row_count                   Int64   -       | code rows that belong to it
    hit_count                   Int64   -       | executions of these rows
    latency_cycles_total        Int64   cycles  | sum of durations
    stall_cycles_total          Int64   cycles  | sum of stalls
    idle_cycles_total           Int64   cycles  | sum of the gaps before the executions
    exposed_stall_cycles_total  Int64   cycles  | stall that work of other waves did not hide
    exposed_issue_cycles_total  Int64   cycles  | latency without stall that other work did not hide
    exposed_idle_cycles_total   Int64   cycles  | idle that other work did not hide
    exposed_cycles_total        Int64   cycles  | sum of the three
    stall_class                 String  -       | what its rows stalled on most (stall_classes.py); null = no stall
    stall_class_share           Float64 -       | share of that class in its stall, 0 to 1"""
_LINES = table_spec(
    "lines",
    "one source line: every line of files whose text is here, and every line with rows of the other files",
    f"""
    file                        String  -       | path as in the debug lines
    line                        UInt32  -       | number of the line; null = the compiler gave none
    text                        String  -       | its text; null = not available here
    {_COSTS.strip()}
    """,
)
_INLINED = table_spec(
    "inlined",
    "one line of a function that was inlined into a line, directly or through others",
    f"""
    file                        String  -       | file of the line it was inlined into
    line                        UInt32  -       | the line it was inlined into
    path                        String  -       | from there inwards, `file:line` joined by ` -> `
    depth                       UInt32  -       | 1 = inlined into the line itself
    inlined_file                String  -       | file of the inlined line, the last of the path
    inlined_line                UInt32  -       | number of the inlined line
    inlined_text                String  -       | its text; null = not available here
    {_COSTS.strip()}
    """,
)
_FILES = table_spec(
    "files",
    "one file that lines belong to, costliest first",
    f"""
    file                        String   -       | path as in the debug lines
    has_text                    Boolean  -       | whether its text is here
    {_COSTS.strip()}
    """,
)


@dataclass(frozen=True)
class SourceListing(Answer):
    """The source with its costs."""

    definition: ClassVar[str] = (
        "Every code row belongs to one line: the innermost of its inline chain (the line the instruction was compiled "
        "from), the outermost (the line of the kernel that called for it), or the first from the inside that is not in "
        "a library. The costs of a line are the sums over its rows; lines inlined into it have their shares in "
        "`inlined`, where a row counts at every depth down to 64."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {"files": _FILES, "lines": _LINES, "inlined": _INLINED}

    attribution: str
    files: pl.DataFrame
    lines: pl.DataFrame
    inlined: pl.DataFrame
    unmapped_row_count: int  #: Rows without a debug line.
    unmapped_cycles_total: int  #: Latency and idle of these rows.

    @property
    def has_text(self) -> bool:
        """Whether the text of any file with rows is here."""
        return bool(self.files["has_text"].any())


def source_listing(
    trace: ThreadTrace, *, rows: pl.Series | None = None, attribution: str = "outermost", mine: Sequence[str] = ()
) -> SourceListing:
    """The source files with what each line cost.

    Parameters
    ----------
    rows
        Only the cost of these code rows; None = all.
    attribution
        Which line of an inline chain a row belongs to: innermost, outermost or mine (the first from the inside that is
        not in a library, or that is below one of the paths `mine`).

    Raises
    ------
    UsageError
        When there is no such attribution.
    """
    costs = row_costs(trace).select("row", *_SUMS)
    classes = stall_rows(trace).select("row", pl.col("class").alias("stall_class"), "stall_cycles_total")
    found = by_line(trace, rows, costs, classes, attribution=attribution, mine=mine)
    return SourceListing(
        attribution,
        found.files.sort("exposed_cycles_total", "file", descending=[True, False]).select(_FILES.names),
        found.lines.select(_LINES.names),
        found.inlined.select(_INLINED.names),
        found.unmapped.height,
        int(found.unmapped["latency_cycles_total"].sum()) + int(found.unmapped["idle_cycles_total"].sum()),
    )
