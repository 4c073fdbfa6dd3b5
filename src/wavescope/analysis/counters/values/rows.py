"""One row per kernel or dispatch, before it has values."""

from __future__ import annotations

import polars as pl

from wavescope.analysis.counters.values.answer import MetricValues


def kernel_frame(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per kernel of ranked dispatches, with the declared columns of `values`."""
    spent = pl.col("end_ns") - pl.col("start_ns")
    found = rows.group_by("kernel").agg(
        pl.col("kernel_name").first(), dispatch_count=pl.len(), duration_ns_mean=spent.mean()
    )
    return declared(found.sort("kernel"))


def dispatch_frame(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per ranked dispatch, with the declared columns of `values`."""
    spent = pl.col("end_ns") - pl.col("start_ns")
    return declared(rows.with_columns(dispatch_count=pl.lit(1), duration_ns_mean=spent))


def declared(rows: pl.DataFrame) -> pl.DataFrame:
    """The declared columns of `values`; what the rows lack is null.

    Examples
    --------
    >>> import polars as pl
    >>> declared(pl.DataFrame({"kernel": [3]})).row(0)[:2]
    (3, None)
    """
    types = MetricValues.tables["values"].dtypes
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in types.items()
    )
