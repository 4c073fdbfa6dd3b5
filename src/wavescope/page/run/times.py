"""The clock of the page for runs: nanoseconds since the begin of the node where something happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavescope.analysis.run.clocks import node_clocks
from wavescope.analysis.run.recording import recording

if TYPE_CHECKING:
    from wavescope.analysis.run.clocks import NodeClocks
    from wavescope.analysis.run.recording import Recording
    from wavescope.page.protocol.document import Document


def recording_of(document: Document) -> Recording:
    """What the run records (`analysis.profile.recording`), asked once."""
    return document.kept("recording", lambda: recording(document.run))


def clocks_of(document: Document) -> NodeClocks:
    """The clocks of the nodes of the run, asked once."""
    return document.kept("clocks", lambda: node_clocks(document.run, recording_of(document)))


def since_begin(document: Document, frame: pl.DataFrame, by: str = "node") -> pl.DataFrame:
    """The frame with `begin` and `end` (as far as it has them) as Float64 instead of `start_ns` and `end_ns`.

    `by` is the column that says on which node it was: `node` or `host` (its name), `machine` (its identity). Times of
    a run can be greater than 2**53, where JavaScript's numbers end.
    """
    begins = clocks_of(document).begins("machine" if by == "machine" else "node")
    first = pl.col(by).replace_strict(begins, default=0, return_dtype=pl.Int64)
    times = {"start_ns": "begin", "end_ns": "end"}
    known = [name for name in times if name in frame.columns]
    return frame.with_columns((pl.col(name) - first).cast(pl.Float64) for name in known).rename(
        {name: times[name] for name in known}
    )
