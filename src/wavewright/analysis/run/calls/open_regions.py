"""Stack of a thread at a moment: markers, operators and frames, the outermost first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright.analysis.run.calls.launches import API_DOMAINS
from wavewright.analysis.run.measures.statistics import is_timed

if TYPE_CHECKING:
    from wavewright.model.run import Run

_NOT_OPEN = (*API_DOMAINS, "TOOL")  #: Domains that say nothing about the application.
SEPARATOR = " > "  #: Between the names of a stack.


def open_stacks(run: Run, moments: pl.DataFrame) -> pl.DataFrame:
    """The stacks at moments: `moments` has `moment` (a number), `thread` and `time_ns`.

    Returns `moment` and `stack`; moments at which nothing was open are left out. For some hundred moments: every region
    around each is listed, where `call_sites` takes any number of moments and gives the innermost names.
    """
    columns = ["thread", "name", "start_ns", "end_ns"]
    times = moments["time_ns"].sort()
    is_shown = ~pl.col("domain").is_in(_NOT_OPEN).fill_null(value=False) & is_timed()
    threads = moments["thread"].unique().implode()
    joined = []
    for piece in run.chunks("regions", ["domain", *columns]) if moments.height else ():
        visible = piece.filter(is_shown & pl.col("thread").is_in(threads)).select(columns)
        first, after = (times.search_sorted(visible[name], side="left") for name in ("start_ns", "end_ns"))
        joined.append(
            visible.filter(first < after)
            .join(moments, on="thread")
            .filter(pl.col("start_ns") <= pl.col("time_ns"), pl.col("time_ns") < pl.col("end_ns"))
            .select("moment", pl.col("name").cast(pl.String).fill_null(""), "start_ns", "end_ns")
        )
    empty = pl.DataFrame(schema={"moment": moments["moment"].dtype, "stack": pl.String})
    if not joined:
        return empty
    ordered = pl.concat(joined).sort("moment", "start_ns", -pl.col("end_ns"), maintain_order=True)
    stacks = ordered.group_by("moment", maintain_order=True).agg(stack=pl.col("name").str.join(SEPARATOR))
    return pl.concat([empty, stacks])
