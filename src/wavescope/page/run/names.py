"""Names for the search in a run: kernels, copies, calls and markers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavescope.analysis.run.kernel_names import short_names
from wavescope.page.protocol.question import Question
from wavescope.page.run.answers import summary_by

if TYPE_CHECKING:
    from wavescope.page.protocol.document import Document

_MOST_KERNELS, _WIDTH = 2_000, 44
MOST_NAMES = 100_000  #: Maximum names sent to the page, most time first.


def names(document: Document) -> pl.DataFrame:
    """Every name of the run with its domain, calls and total time in ns, most time first."""
    things = summary_by(document, "all").things
    columns = ("domain", pl.col("name").fill_null(""), pl.col("calls", "total_ns").cast(pl.Float64))
    return things.sort("total_ns", descending=True).select(columns).head(MOST_NAMES)


def kernel_names(document: Document) -> list[tuple[str, str]]:
    """Kernels that have a shorter name than the recorded one, with that name; the longest-running ones."""

    def make() -> list[tuple[str, str]]:
        kernels = names(document).filter(pl.col("domain") == "KERNEL")["name"].unique(maintain_order=True)
        short = short_names(kernels.head(_MOST_KERNELS), _WIDTH)
        return [(name, text) for name, text in short.items() if name != text]

    return document.kept(("run", "short names"), make)


QUESTIONS = (Question("names", "run", names), Question("run_kernel_names", "run", kernel_names))
