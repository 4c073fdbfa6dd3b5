"""The clock of the page for runs: nanoseconds since the start of the node of the event."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from wavewright.analysis.run.select.clocks import NodeClocks, node_clocks
from wavewright.analysis.run.select.recording import Recording, recording
from wavewright.model.document import Document
from wavewright.model.schema import TableSpec

_TIMES = {"start_ns": "begin", "end_ns": "end"}
_MEANINGS = {"start_ns": "start, since the start of its node", "end_ns": "end, since the start of its node"}


def recording_of(document: Document) -> Recording:
    """The recorded processes and GPUs (`analysis.run.select.recording`), computed once."""
    return document.kept("recording", lambda: recording(document.run))


def clocks_of(document: Document) -> NodeClocks:
    """The clocks of the nodes of the run, computed once; those of the whole run, where the document is a part of it."""
    if document.whole:
        return clocks_of(document.whole)
    return document.kept("clocks", lambda: node_clocks(document.run, recording_of(document)))


def nodes_by_machine(document: Document) -> dict[str, str]:
    """The name that answers give to each node, by the identity of the node."""
    clocks = clocks_of(document)
    return {machine: clocks.labels.get(node, node) for machine, node in clocks.nodes["machine", "node"].iter_rows()}


def since_begin(document: Document, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with `begin` and `end` (as far as it has them) as Float64 instead of `start_ns` and `end_ns`.

    A frame that does not say on which node something happened stays as it is. Times of a run can be greater than
    2**53, where JavaScript's numbers end.
    """
    by = node_column(frame.columns)
    if by is None:
        return frame
    begins = clocks_of(document).begins("machine" if by == "machine" else "node")
    first = pl.col(by).replace_strict(begins, default=0, return_dtype=pl.Int64)
    times = {name: short for name, short in _TIMES.items() if name in frame.columns}
    return frame.with_columns((pl.col(name) - first).cast(pl.Float64) for name in times).rename(times)


def node_column(names: list[str]) -> str | None:
    """The column by which the times of a table can be counted from the start of a node; None = they cannot.

    >>> node_column(["node", "start_ns"])
    'node'
    """
    if "start_ns" not in names:
        return None
    return next((name for name in ("machine", "node", "host") if name in names), None)


def declared_since_start(spec: TableSpec) -> TableSpec:
    """The declaration of a table of a run as the page gets it: `since_begin` for columns."""
    if node_column(spec.names) is None:
        return spec
    columns = (
        replace(column, name=_TIMES[column.name], dtype="Float64", meaning=_MEANINGS[column.name])
        if column.name in _TIMES
        else column
        for column in spec.columns
    )
    return replace(spec, columns=tuple(columns))
