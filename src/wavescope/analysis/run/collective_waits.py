"""Collectives: kernels that ranks run together. The last rank to arrive starts last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavescope.analysis.run.markers import Markers
from wavescope.analysis.run.processes import PROCESS
from wavescope.analysis.run.statistics import is_timed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavescope.model.run import Run

#: Calls of a collective that are compared, so that partial results of thousands of ranks stay small.
MOST_CALLS = 16_384
_NAMES = "(?i)nccl|rccl|all_?reduce|all_?gather|all_?to_?all|reduce_?scatter|cross_device_reduce"
#: Collectives that no rank leaves before the last one has arrived: there the shortest call is that of the last one.
#: Of broadcast, reduce, send and the like a rank may leave before others come.
_SYNCHRONIZING = "(?i)all_?reduce|all_?gather|all_?to_?all|reduce_?scatter|barrier"
_PROPERTIES = {"collective": "Collective name", "group": "Process Group Ranks"}  #: As PyTorch records them.
_CALL_COLUMNS = {"process": pl.UInt32, "thread": pl.UInt32, "correlation": pl.Int64, "name": pl.String}
_CALL_COLUMNS |= {"start_ns": pl.Int64, "end_ns": pl.Int64, "properties": pl.String}
IDENTITY = ("name", "collective", "group")  #: What tells one collective from another.
#: Which rank is last: the one that starts last, where clocks are the same; else the one with the shortest call.
RULES = ("start", "duration", "unknown")


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
    """The dispatches of collectives among `dispatches`: the columns of `_CALL_COLUMNS`.

    Examples
    --------
    >>> import polars as pl
    >>> rows = {"process": [0, 0], "thread": [0, 0], "correlation": [1, 2], "properties": [None, None]}
    >>> rows |= {"name": ["gemm", "rcclKernel"], "start_ns": [0, 5], "end_ns": [4, 9]}
    >>> collective_calls(pl.DataFrame(rows)).select("name", "start_ns").rows()
    [('rcclKernel', 5)]
    """
    names = dispatches.select(pl.col("name").unique()).filter(is_collective("name")).to_series()
    chosen = dispatches.filter(is_timed() & pl.col("name").is_in(names.implode()))
    return chosen.select(pl.col(name).cast(dtype) for name, dtype in _CALL_COLUMNS.items())


def sequences(run: Run, pieces: Sequence[pl.DataFrame], who: pl.DataFrame) -> pl.DataFrame:
    """Start and duration of the first calls of each collective of each process, in the order of time.

    `pieces` are from `collective_calls`, `who` comes from `processes_of`.
    """
    calls = _named(run, pl.concat([pl.DataFrame(schema=_CALL_COLUMNS), *pieces]))
    return (
        calls.sort("process", "start_ns", "end_ns")
        .group_by("process", *IDENTITY, maintain_order=True)
        .agg(
            calls=pl.len().cast(pl.Int64),
            starts=pl.col("start_ns").head(MOST_CALLS),
            durations=(pl.col("end_ns") - pl.col("start_ns")).head(MOST_CALLS),
        )
        .join(who, on="process", maintain_order="left")
        .select(*PROCESS, *IDENTITY, "calls", "starts", "durations")
    )


def _named(run: Run, calls: pl.DataFrame) -> pl.DataFrame:
    """With `collective` and `group` as they were recorded: beside the kernel, or as the RCCL call that launched it."""
    recorded = {name: pl.col("properties").str.json_path_match(f"$['{key}']") for name, key in _PROPERTIES.items()}
    calls = calls.with_columns(**recorded)
    if calls["collective"].null_count():
        rccl = Markers(run, "RCCL")
        if not rccl.is_empty:
            around = rccl.around_launches(calls).cast(pl.String)
            is_one = pl.col("around").str.contains(_NAMES) & ~pl.col("around").str.contains("Group")
            calls = calls.with_columns(around=around).with_columns(
                collective=pl.coalesce("collective", pl.when(is_one).then("around"))
            )
    return calls


_WHO = {"host": pl.String, "pid": pl.Int64, "rank": pl.Int32, "run": pl.String}
_FIGURES = {
    "process_count": pl.Int64,
    "calls": pl.Int64,
    "is_complete": pl.Boolean,
    "rule": pl.String,
    "spread_ns": pl.Int64,
    "excess_ns": pl.Float64,
    "spread_share": pl.Float64,
}


def compared(partials: Sequence[pl.DataFrame]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Per collective how long ranks wait in it, and per process how long it waited and how often it came last.

    Examples
    --------
    >>> [frame.height for frame in compared([])]
    [0, 0]
    """
    rows, waits = [], [pl.DataFrame(schema=_WHO | {"waited_ns": pl.Int64, "last_count": pl.Int64})]
    together = pl.concat(partials).sort(*IDENTITY, "rank", *PROCESS, nulls_last=True) if partials else None
    for identity, group in () if together is None else together.group_by(IDENTITY, maintain_order=True):
        if group.height > 1:
            row, wait = _compare(group)
            rows.append(dict(zip(IDENTITY, identity, strict=True)) | row)
            if row["is_complete"]:  # else the n-th calls may be different ones
                waits.append(wait)
    schema = dict.fromkeys(IDENTITY, pl.String) | _FIGURES | _WHO | {"last_count": pl.Int64}
    collectives = pl.DataFrame(rows, schema=schema)
    per_process = pl.concat(waits).group_by(PROCESS).agg(pl.col("waited_ns", "last_count").sum())
    return collectives.sort(-pl.col("spread_ns"), *IDENTITY), per_process


def _compare(group: pl.DataFrame) -> tuple[dict[str, object], pl.DataFrame]:
    """One collective: a row per process with the starts and durations of its calls."""
    count = int(group["durations"].list.len().min())  # type: ignore[arg-type]
    starts, durations = (
        pl.DataFrame({str(n): row.head(count) for n, row in enumerate(group[name])}) for name in ("starts", "durations")
    )
    columns = durations.columns
    rule = _rule(group)
    waits = _waits(starts, durations, rule)
    latest = starts.select(pl.concat_list(columns).list.arg_max()) if rule == "start" else None
    latest = durations.select(pl.concat_list(columns).list.arg_min()) if rule == "duration" else latest
    counts = dict(latest.to_series().value_counts().rows()) if latest is not None else {}
    last_count = [counts.get(n, 0) for n in range(group.height)]
    edges = waits.select(high=pl.max_horizontal(columns), mean=pl.mean_horizontal(columns))
    spread, longest = int(edges["high"].sum()), int(durations.select(pl.max_horizontal(columns)).to_series().sum())
    last = max(range(group.height), key=lambda n: (last_count[n], -n))
    who = group.select(PROCESS).row(last, named=True) if rule != "unknown" else dict.fromkeys(PROCESS)
    row = {
        "process_count": group.height,
        "calls": count,
        "is_complete": group["calls"].n_unique() == 1,
        "rule": rule,
        "spread_ns": spread,
        "excess_ns": float((edges["high"] - edges["mean"]).sum()),
        "spread_share": spread / longest if longest else None,
        **who,
        "last_count": last_count[last],
    }
    per_process = group.select(PROCESS).with_columns(
        waited_ns=pl.Series([int(waits[name].sum()) for name in columns], dtype=pl.Int64),
        last_count=pl.Series(last_count, dtype=pl.Int64),
    )
    return row, per_process


def _rule(group: pl.DataFrame) -> str:
    """By what the last rank is known: see `RULES`."""
    has_one_clock = group["run"].n_unique() == 1 or (group["host"].n_unique() == 1 and bool(group["host"][0]))
    if has_one_clock:
        return "start"
    name = group["collective"][0]
    return "duration" if name is None or group.select(pl.lit(name).str.contains(_SYNCHRONIZING)).item() else "unknown"


def _waits(starts: pl.DataFrame, durations: pl.DataFrame, rule: str) -> pl.DataFrame:
    """How long each call waited for the last rank; nothing is known to wait where clocks and ends tell nothing."""
    columns = durations.columns
    if rule == "unknown":
        return durations.select((pl.col(name) * 0).alias(name) for name in columns)
    if rule == "start":
        last = starts.select(pl.max_horizontal(columns)).to_series()
        until = starts.select((last - pl.col(name)).alias(name) for name in columns)
        return pl.DataFrame({n: until.select(pl.min_horizontal(pl.col(n), durations[n])).to_series() for n in columns})
    low = durations.select(pl.min_horizontal(columns)).to_series()
    return durations.select((pl.col(name) - low).alias(name) for name in columns)
