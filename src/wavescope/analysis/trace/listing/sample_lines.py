"""How often was each line of the source sampled, and why did it not go on?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from wavescope.analysis.trace.listing.source_frames import by_line
from wavescope.model.answer import Answer
from wavescope.model.schema import TableSpec, table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavescope.model.trace import ThreadTrace

_COUNTS = """
    row_count      Int64    -  | code rows that belong to it
    issued_count   Int64    -  | samples in which one of them was issued
    stalled_count  Int64    -  | samples in which it was not
    reason         String   -  | the most frequent reason for that (SAMPLE_REASONS); null = none
    reason_share   Float64  -  | its share of the reasons, 0 to 1"""
_FILES = table_spec(
    "files",
    "one file that lines belong to, most samples first",
    f"""
    file           String   -  | path as in the debug lines
    has_text       Boolean  -  | whether its text is here
    {_COUNTS.strip()}
    """,
)
_LINES = table_spec(
    "lines",
    "one source line: every line of files whose text is here, and every line with rows of the other files",
    f"""
    file           String   -  | path as in the debug lines
    line           UInt32   -  | number of the line; null = the compiler gave none
    text           String   -  | its text; null = not available here
    {_COUNTS.strip()}
    """,
)
_INLINED = table_spec(
    "inlined",
    "one line of a function that was inlined into a line, directly or through others",
    f"""
    file           String   -  | file of the line it was inlined into
    line           UInt32   -  | the line it was inlined into
    path           String   -  | from there inwards, `file:line` joined by ` -> `
    depth          UInt32   -  | 1 = inlined into the line itself
    inlined_file   String   -  | file of the inlined line, the last of the path
    inlined_line   UInt32   -  | number of the inlined line
    inlined_text   String   -  | its text; null = not available here
    {_COUNTS.strip()}
    """,
)


@dataclass(frozen=True)
class SampleLines(Answer):
    """The source with its samples."""

    definition: ClassVar[str] = (
        "Every code row belongs to one line of its inline chain, as in a listing of cycles; the samples of a line are "
        "the sums over its rows."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {"files": _FILES, "lines": _LINES, "inlined": _INLINED}

    attribution: str
    files: pl.DataFrame
    lines: pl.DataFrame
    inlined: pl.DataFrame
    unmapped_row_count: int  #: Rows without a debug line.
    unmapped_sample_count: int  #: Samples of these rows.

    @property
    def has_text(self) -> bool:
        """Whether the text of any file with rows is here."""
        return bool(self.files["has_text"].any())


def sample_lines(
    trace: ThreadTrace, *, rows: pl.Series | None = None, attribution: str = "outermost", mine: Sequence[str] = ()
) -> SampleLines:
    """The source files with how often each line was sampled; parameters as in `source_listing`.

    Raises
    ------
    UsageError
        When there is no such attribution.
    """
    counts = trace.samples.select("row", "issued_count", "stalled_count")
    reasons = trace.sample_reasons.select("row", "reason", "count")
    found = by_line(trace, rows, counts, reasons, attribution=attribution, mine=mine)
    seen = (pl.col("issued_count") + pl.col("stalled_count")).alias("seen")
    files = found.files.with_columns(seen).sort("seen", "file", descending=[True, False])
    return SampleLines(
        attribution,
        files.select(_FILES.names),
        found.lines.select(_LINES.names),
        found.inlined.select(_INLINED.names),
        found.unmapped.height,
        int(found.unmapped.select(seen.sum()).item()),
    )
