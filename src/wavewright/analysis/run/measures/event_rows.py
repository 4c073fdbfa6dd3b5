"""Rows of events: those that a condition selects, labels by conditions, and the nesting of events on lines."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from wavewright import _core
from wavewright.model.run import Run
from wavewright.model.run_tables import RUN
from wavewright.model.schema import empty_frame


def rows_where(run: Run, table: str, columns: Sequence[str], condition: pl.Expr) -> pl.DataFrame:
    """These columns of the rows of a table for which a condition holds, read chunk by chunk."""
    empty = empty_frame(RUN[table]).select(columns)
    return pl.concat([empty, *(piece.filter(condition) for piece in run.chunks(table, columns))])


def first_label(*labels: tuple[str, pl.Expr], otherwise: str | None = None) -> pl.Expr:
    """The first label whose condition holds."""
    label = pl.lit(otherwise, pl.String)
    for name, condition in reversed(labels):
        label = pl.when(condition).then(pl.lit(name)).otherwise(label)
    return label


def timed(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows that have a start; an end that is missing or before the start becomes the start."""
    begin, end = pl.col("start_ns"), pl.col("end_ns")
    return frame.filter(begin.ge(0)).with_columns(pl.max_horizontal(begin, end).alias("end_ns"))


def nested(frame: pl.DataFrame, keys: Sequence[str], *, may_nest: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The distinct `keys` with the number of their `line`, and the starts and ends of all events in an order in which
    ends close what began last: `row` of `frame`, `line`, `track` (of what overlaps on a line), `is_end`.
    """
    lines = frame.select(keys).unique().sort(keys, nulls_last=True).with_row_index("line")
    events = frame.select(*keys, "start_ns", "end_ns")
    events = events.join(lines, on=keys, how="left", nulls_equal=True, maintain_order="left")
    descending = [False, False, True]
    by_start = pl.arg_sort_by("line", "start_ns", "end_ns", descending=descending, maintain_order=True)
    order = events.select(by_start).to_series()
    ordered = events.select("line", "start_ns", "end_ns")[order]
    line = ordered["line"].cast(pl.UInt64)
    edges = pl.DataFrame(_core.nested_events(line, ordered["start_ns"], ordered["end_ns"], may_nest))
    edges = edges.with_columns(
        ordered["line"].gather(edges["row"]).alias("line"),
        order.gather(edges["row"]).alias("row"),
        pl.col("is_end").cast(pl.Boolean),
    )
    return lines, edges.sort("line", "track", maintain_order=True)
