"""Collectives: kernels that synchronize ranks. The last rank to arrive has the shortest duration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavescope.analysis.run.processes import PROCESS
from wavescope.analysis.run.statistics import is_timed

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Calls of a collective that are compared, so that partial results of thousands of ranks stay small.
MOST_CALLS = 16_384
_NAMES = "(?i)nccl|rccl|all_?reduce|all_?gather|all_?to_?all|reduce_?scatter|cross_device_reduce"


def is_collective(column: str) -> pl.Expr:
    """Whether a kernel of this name talks to other ranks.

    Examples
    --------
    >>> import polars as pl
    >>> pl.DataFrame({"name": ["ncclDevKernel_Generic_1", "gemm"]}).select(is_collective("name")).to_series().to_list()
    [True, False]
    """
    return pl.col(column).cast(pl.String).str.contains(_NAMES)


def collective_calls(dispatches: pl.DataFrame) -> pl.DataFrame:
    """The dispatches of collectives among `dispatches`: `process`, `name`, `start_ns`, `end_ns`.

    Examples
    --------
    >>> import polars as pl
    >>> rows = {"process": [0, 0], "name": ["gemm", "rcclKernel"], "start_ns": [0, 5], "end_ns": [4, 9]}
    >>> collective_calls(pl.DataFrame(rows)).rows()
    [(0, 'rcclKernel', 5, 9)]
    """
    names = dispatches.select(pl.col("name").unique()).filter(is_collective("name")).to_series()
    chosen = dispatches.filter(is_timed() & pl.col("name").is_in(names.implode()))
    return chosen.select("process", pl.col("name").cast(pl.String), "start_ns", "end_ns")


def sequences(calls: Sequence[pl.DataFrame], who: pl.DataFrame) -> pl.DataFrame:
    """The durations of the first calls of each collective of each process, in the order of time.

    `calls` are pieces from `collective_calls`, `who` comes from `processes_of`.
    """
    types = {"process": pl.UInt32, "name": pl.String, "start_ns": pl.Int64, "end_ns": pl.Int64}
    events = pl.concat([pl.DataFrame(schema=types), *calls]).sort("process", "start_ns", "end_ns")
    return (
        events.group_by("process", "name", maintain_order=True)
        .agg(
            calls=pl.len().cast(pl.Int64),
            durations=(pl.col("end_ns") - pl.col("start_ns")).head(MOST_CALLS),
        )
        .join(who, on="process", maintain_order="left")
        .select(*PROCESS, "name", "calls", "durations")
    )


def compared(partials: Sequence[pl.DataFrame]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Per collective how far the ranks are apart, and per process how long it waited and how often it came last.

    Examples
    --------
    >>> [frame.height for frame in compared([])]
    [0, 0]
    """
    who = {"host": pl.String, "pid": pl.Int64, "rank": pl.Int32, "run": pl.String}
    types = {"process_count": pl.Int64, "calls": pl.Int64, "is_complete": pl.Boolean, "spread_ns": pl.Int64}
    sums = types | {"excess_ns": pl.Float64, "spread_share": pl.Float64}
    rows, waits = [], [pl.DataFrame(schema=who | {"waited_ns": pl.Int64, "last_count": pl.Int64})]
    together = pl.concat(partials).sort("name", "rank", *PROCESS, nulls_last=True) if partials else None
    for (name,), group in () if together is None else together.group_by("name", maintain_order=True):
        if group.height > 1:
            row, wait = _compare(group)
            rows.append({"name": name, **row})
            if row["is_complete"]:  # else the n-th calls may be different ones
                waits.append(wait)
    collectives = pl.DataFrame(rows, schema={"name": pl.String} | sums | who | {"last_count": pl.Int64})
    per_process = pl.concat(waits).group_by(PROCESS).agg(pl.col("waited_ns", "last_count").sum())
    return collectives.sort(-pl.col("spread_ns"), "name"), per_process


def _compare(group: pl.DataFrame) -> tuple[dict[str, object], pl.DataFrame]:
    """One collective: a row per process with its durations."""
    count = int(group["durations"].list.len().min())  # type: ignore[arg-type]
    calls = pl.DataFrame({str(n): row.head(count) for n, row in enumerate(group["durations"])})
    columns = calls.columns
    edges = calls.select(
        low=pl.min_horizontal(columns),
        high=pl.max_horizontal(columns),
        total=pl.sum_horizontal(columns),
        last=pl.concat_list(columns).list.arg_min(),
    )
    low = edges["low"]
    lasts = edges["last"].value_counts().rows()
    last_count = dict.fromkeys(range(group.height), 0) | dict(lasts)
    waits = group.select(PROCESS).with_columns(
        waited_ns=pl.Series([int((calls[name] - low).sum()) for name in columns], dtype=pl.Int64),
        last_count=pl.Series([last_count[n] for n in range(group.height)], dtype=pl.Int64),
    )
    spread, longest = int((edges["high"] - low).sum()), int(edges["high"].sum())
    latest = max(range(group.height), key=lambda n: (last_count[n], -n))
    row = {
        "process_count": group.height,
        "calls": count,
        "is_complete": group["calls"].n_unique() == 1,
        "spread_ns": spread,
        "excess_ns": longest - int(edges["total"].sum()) / group.height,
        "spread_share": spread / longest if longest else None,
        **group.select(PROCESS).row(latest, named=True),
        "last_count": last_count[latest],
    }
    return row, waits
