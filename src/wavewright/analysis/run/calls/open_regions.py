"""Stack of a thread at a moment: markers, operators and frames, the outermost first."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.run.calls.launches import API_DOMAINS

NOT_OPEN = (*API_DOMAINS, "TOOL")  #: Domains that say nothing about the application.
SEPARATOR = " > "  #: Between the names of a stack.


def open_stacks(regions: pl.DataFrame, moments: pl.DataFrame) -> pl.DataFrame:
    """The stacks at moments: `moments` has `moment` (a number), `part` (of the run), `thread` and `time_ns`.

    Returns `moment` and `stack`; moments at which nothing was open are left out. For some hundred moments: every region
    around each is listed, where `call_sites` takes any number of moments and gives the innermost names.
    """
    times = moments["time_ns"].sort()
    first, after = (times.search_sorted(regions[name], side="left") for name in ("start_ns", "end_ns"))
    ordered = (
        regions.filter(first < after)
        .join(moments, on=["part", "thread"])
        .filter(pl.col("start_ns") <= pl.col("time_ns"), pl.col("time_ns") < pl.col("end_ns"))
        .with_columns(pl.col("name").cast(pl.String).fill_null(""))
        .sort("moment", "start_ns", -pl.col("end_ns"), maintain_order=True)
    )
    return ordered.group_by("moment", maintain_order=True).agg(stack=pl.col("name").str.join(SEPARATOR))
