"""The clock of the page for runs: nanoseconds since the begin of the node where something happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from wavescope.analysis.run.clocks import NodeClocks
    from wavescope.analysis.run.recording import Recording
    from wavescope.page.protocol.document import Document

__all__ = ["clocks_of", "recording_of", "since_begin"]


def recording_of(document: Document) -> Recording:
    """What the run records (`analysis.profile.recording`), asked once.

    Examples
    --------
    >>> from wavescope.model.run import Run
    >>> from wavescope.page.protocol.document import Document
    >>> recording_of(Document(0, "", "", lambda: Run([]))).gpus.height
    0
    """
    from wavescope.analysis.run.recording import recording

    return document.kept("recording", lambda: recording(document.run))


def clocks_of(document: Document) -> NodeClocks:
    """The clocks of the nodes of the run, asked once.

    Examples
    --------
    >>> from wavescope.model.run import Run
    >>> from wavescope.page.protocol.document import Document
    >>> clocks_of(Document(0, "", "", lambda: Run([]))).duration_ns
    0
    """
    from wavescope.analysis.run.clocks import node_clocks

    return document.kept("clocks", lambda: node_clocks(document.run, recording_of(document)))


def since_begin(document: Document, frame: pl.DataFrame, by: str = "node") -> pl.DataFrame:
    """The frame with `begin` and `end` (as far as it has them) as Float64 instead of `start_ns` and `end_ns`.

    `by` is the column that says on which node it was: `node` or `host` (its name), `machine` (its identity). Times of
    a run can be greater than 2**53, where JavaScript's numbers end.

    Examples
    --------
    >>> import polars as pl
    >>> from wavescope.model.run import Run
    >>> from wavescope.page.protocol.document import Document
    >>> frame = pl.DataFrame({"node": ["a"], "start_ns": [5]})
    >>> since_begin(Document(0, "", "", lambda: Run([])), frame).rows()
    [('a', 5.0)]
    """
    import polars as pl

    begins = clocks_of(document).begins("machine" if by == "machine" else "node")
    first = pl.col(by).replace_strict(begins, default=0, return_dtype=pl.Int64)
    times = {"start_ns": "begin", "end_ns": "end"}
    known = [name for name in times if name in frame.columns]
    return frame.with_columns((pl.col(name) - first).cast(pl.Float64) for name in known).rename(
        {name: times[name] for name in known}
    )
