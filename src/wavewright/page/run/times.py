"""Times of a run on the page: nanoseconds since the start of the node on which something happened."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from wavewright.analysis.run.select.clocks import NodeClocks, node_clocks
from wavewright.analysis.run.select.recording import Recording, recording
from wavewright.model.document import Document
from wavewright.model.schema import TableSpec
from wavewright.page.protocol.question import once_per_document

_TIMES = {"start_ns": "begin", "end_ns": "end"}
_MEANINGS = {"start_ns": "start, since the start of its node", "end_ns": "end, since the start of its node"}


@once_per_document
def recording_of(document: Document) -> Recording:
    """The recorded processes and GPUs (`analysis.run.select.recording`)."""
    return recording(document.run)


@once_per_document
def clocks_of(document: Document) -> NodeClocks:
    """The clocks of the nodes of the run; a part of a run has those of the whole."""
    if document.whole:
        return clocks_of(document.whole)
    return node_clocks(document.run, recording_of(document))


def nodes_by_machine(document: Document) -> dict[str, str]:
    """Identity of a node -> the name that answers give to it."""
    clocks = clocks_of(document)
    return {machine: clocks.labels.get(node, node) for machine, node in clocks.nodes["machine", "node"].iter_rows()}


def since_begin(document: Document, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with `begin` and `end` as Float64, relative to the node, instead of `start_ns` and `end_ns`.

    Recorded times can exceed 2**53, where JavaScript's integers end. Frames without a column of nodes stay unchanged.
    """
    by = node_column(frame.columns)
    if by is None:
        return frame
    begins = clocks_of(document).starts("machine" if by == "machine" else "node")
    node_start = pl.col(by).replace_strict(begins, default=0, return_dtype=pl.Int64)
    times = {name: short for name, short in _TIMES.items() if name in frame.columns}
    return frame.with_columns((pl.col(name) - node_start).cast(pl.Float64) for name in times).rename(times)


def node_column(names: list[str]) -> str | None:
    """The column that names the node of each row of a table with times; None = there is none."""
    if "start_ns" not in names:
        return None
    return next((name for name in ("machine", "node", "host") if name in names), None)


def declared_since_start(spec: TableSpec) -> TableSpec:
    """The declaration of a table of a run after `since_begin`."""
    if node_column(spec.names) is None:
        return spec
    columns = (
        replace(column, name=_TIMES[column.name], dtype="Float64", meaning=_MEANINGS[column.name])
        if column.name in _TIMES
        else column
        for column in spec.columns
    )
    return replace(spec, columns=tuple(columns))
