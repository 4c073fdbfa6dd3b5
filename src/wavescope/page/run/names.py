"""Names for the search in a run: kernels, copies, calls and markers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavescope.page.protocol.question import Question
from wavescope.page.run.answers import summary_by

if TYPE_CHECKING:
    from wavescope.page.protocol.document import Document

MOST_NAMES = 100_000  #: Maximum names sent to the page, most time first.


def names(document: Document) -> pl.DataFrame:
    """Every name of the run with its domain, calls and total time in ns, most time first."""
    things = summary_by(document, "all").things
    columns = ("domain", pl.col("name").fill_null(""), pl.col("calls", "total_ns").cast(pl.Float64))
    return things.sort("total_ns", descending=True).select(columns).head(MOST_NAMES)


QUESTIONS = (Question("names", "run", names),)
