"""The answer about the metrics of a capture, table by table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from wavewright.model.answer import Answer
from wavewright.model.schema import table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from wavewright.facts.metrics.declared import Panel
    from wavewright.model.schema import TableSpec


@dataclass(frozen=True)
class CounterPanels(Answer):
    """Metrics of a counter capture, table by table."""

    definition: ClassVar[str] = (
        "Each metric is a formula over the counters of one dispatch (`wavewright metrics NAME`). Averages are ratios "
        "of sums over the chosen dispatches, amounts are means per dispatch; minimum, quartiles and maximum are over "
        "the values of single dispatches. What cannot be computed is empty, with the reason."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "kernels": table_spec(
            "kernels",
            "one kernel of the whole capture, the longest first",
            """
            kernel              UInt32   -   | its rank; --kernel takes it, or a part of the name
            kernel_name         String   -   | name of the kernel
            dispatch_count      UInt32   -   | dispatches
            duration_ns_total   Float64  ns  | of all of them; null = no sound timestamps
            duration_ns_mean    Float64? ns  | mean duration of a dispatch
            duration_ns_median  Float64? ns  | median duration of a dispatch
            duration_share      Float64? -   | share of the time of all kernels
            is_chosen           Boolean  -   | whether the metrics are about it
            """,
        ),
        "rows": table_spec(
            "rows",
            "one metric, or one channel of one metric",
            """
            table_id        String   -  | panel.table
            metric_id       String   -  | panel.table.index
            name            String   -  | name of the metric
            series          String   -  | of tables with several values per channel: which one; else empty
            channel         UInt16   -  | L2 channel; null = the metric is not about one
            unit            String   -  | unit, with the normalization put in
            average         Float64  -  | ratio of sums, or mean per dispatch; null = see `reason`
            deviation       Float64? -  | sample standard deviation over dispatches
            minimum         Float64? -  | smallest value of a dispatch
            q1              Float64? -  | first quartile over the dispatches
            median          Float64? -  | median over the dispatches
            q3              Float64? -  | third quartile over the dispatches
            maximum         Float64? -  | largest value of a dispatch
            peak            Float64  -  | what the hardware can do at most, in the same unit; null = no such bound
            peak_share      Float64? %  | 100 average / peak
            dispatch_count  UInt32   -  | dispatches that have a value
            reason          String   -  | why there is no average; else empty
            """,
        ),
    }

    target: str
    product: str
    normalization: str  #: kernel, wave, cycle or second.
    rules: str  #: corrected, or the reference whose rules were applied.
    dispatch_count: int  #: Chosen dispatches.
    panels: tuple[Panel, ...]  #: What was evaluated, in order.
    kernels: pl.DataFrame
    rows: pl.DataFrame
    caveats: tuple[str, ...]  #: What limits the trust in the numbers.
