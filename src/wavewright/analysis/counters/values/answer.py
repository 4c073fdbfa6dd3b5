"""The answer about metrics of single kernels and dispatches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from wavewright.analysis.counters.values.outliers import outlier_rows
from wavewright.model.answer import Answer
from wavewright.model.schema import frame_of, table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavewright.model.schema import TableSpec


@dataclass(frozen=True)
class MetricValues(Answer):
    """Values of metrics, one row per kernel or dispatch."""

    definition: ClassVar[str] = (
        "Each metric is a formula over the counters of one dispatch (`wavewright metrics NAME`); those of a kernel are "
        "ratios of sums over its dispatches, or means per dispatch. An outlier is more than 5 deviations (1.4826 times "
        "the median absolute deviation) and 5 % away from the median of its kernel, which has at least 5 dispatches."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "metrics": table_spec(
            "metrics",
            "one metric, or one channel of one metric",
            """
            column     String  -  | its column in `values`: the metric's id, with [channel] if it has one; or a counter
            metric_id  String  -  | panel.table.index; empty = a counter as it was measured
            name       String  -  | name
            series     String  -  | of tables with several values per channel: which one; else empty
            channel    UInt16  -  | L2 channel; null = the metric is not about one
            unit       String  -  | unit, with the normalization put in
            reason     String  -  | why there is no value at all; else empty
            """,
        ),
        "values": table_spec(
            "values",
            "one kernel or one dispatch, with one more column for each row of `metrics`",
            """
            kernel            UInt32   -   | rank of the kernel in the capture; --kernel takes it
            kernel_name       String   -   | its name
            dispatch          UInt32   -   | dispatches.dispatch; null = of all chosen dispatches of the kernel
            dispatch_id       Int64    -   | its id; likewise
            gpu               Int32    -   | its GPU; likewise, or not known
            dispatch_count    UInt32   -   | dispatches
            duration_ns_mean  Float64  ns  | mean duration; null = no sound timestamps
            """,
        ),
        "outliers": table_spec(
            "outliers",
            "one value that is not like those of the other dispatches of its kernel, the farthest first",
            """
            dispatch     UInt32   -  | dispatches.dispatch
            dispatch_id  Int64    -  | its id
            kernel_name  String   -  | its kernel
            metric_id    String   -  | panel.table.index; empty = the duration
            name         String   -  | name of the metric
            unit         String   -  | unit
            value        Float64  -  | value of the dispatch
            median       Float64  -  | of the kernel's dispatches
            distance     Float64  -  | from the median, in deviations; null = all others are equal
            """,
        ),
    }

    by: str  #: kernel or dispatch.
    target: str
    normalization: str
    rules: str  #: corrected, the reference whose rules were applied, stored, or raw: counters as they were measured.
    metrics: pl.DataFrame
    values: pl.DataFrame
    outliers: pl.DataFrame

    def named(self) -> pl.DataFrame:
        """`values` with the names and units of the metrics as names of their columns, for plots."""
        names = {}
        for row in self.metrics.iter_rows(named=True):
            unit = f" ({row['unit']})" if row["unit"] else ""
            if row["metric_id"]:
                names[row["column"]] = f"{row['column']} {row['series'] or row['name']}{unit}"
        return self.values.rename(names)


def declared(rows: pl.DataFrame) -> pl.DataFrame:
    """The declared columns of `values`; what the rows lack is null.

    Examples
    --------
    >>> declared(pl.DataFrame({"kernel": [3]})).row(0)[:2]
    (3, None)
    """
    types = MetricValues.tables["values"].dtypes
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in types.items()
    )


def answer_of(
    target: str | None,
    by: str,
    frame: pl.DataFrame,
    metrics: list[dict[str, Any]],
    *,
    normalization: str = "kernel",
    rules: str = "corrected",
) -> MetricValues:
    """The answer for `frame`, which has the columns of `values` and those of `metrics`, with the outliers in it."""
    outliers = list(outlier_rows(frame, metrics)) if by == "dispatch" else []
    outliers.sort(key=lambda row: -(row["distance"] or float("inf")))
    return MetricValues(
        by=by,
        target=target or "",
        normalization=normalization,
        rules=rules,
        metrics=frame_of(MetricValues.tables["metrics"], metrics),
        values=frame.fill_nan(None),
        outliers=frame_of(MetricValues.tables["outliers"], outliers),
    )
