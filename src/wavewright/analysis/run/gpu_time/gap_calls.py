"""Calls of a thread while a GPU waited for it: gaps against the calls of the thread that ended them."""

from __future__ import annotations

import numpy as np
import polars as pl


def calls_inside(waits: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """Time of the `waits` that each function takes: `place`, `name`, `inside_ns`, `call_count`.

    `waits` have `place`, `thread`, `start_ns`, `end_ns` and may overlap each other; `calls` are `outermost` ones with
    `name`. Exact: for every call, the waits of its thread up to its end minus those up to its begin.

    Examples
    --------
    >>> import polars as pl
    >>> waits = pl.DataFrame({"place": [0], "thread": [1], "start_ns": [5], "end_ns": [20]})
    >>> calls = pl.DataFrame({"thread": [1, 1], "name": ["sync", "free"], "start_ns": [0, 18], "end_ns": [9, 30]})
    >>> calls_inside(waits, calls).sort("name").rows()
    [(0, 'free', 2, 1), (0, 'sync', 4, 1)]
    """
    parts = [
        pl.DataFrame(
            schema={"place": waits.schema["place"], "name": calls.schema["name"], "inside_ns": pl.Int64}
        ).with_columns(call_count=pl.lit(0, pl.Int64))
    ]
    by_thread = calls.partition_by("thread", as_dict=True) if waits.height else {}
    for (place, thread), thread_waits in waits.group_by("place", "thread", maintain_order=True):
        thread_calls = by_thread.get((thread,))
        if thread_calls is None:
            continue
        inside = _sum_before(thread_waits, thread_calls["end_ns"]) - _sum_before(thread_waits, thread_calls["start_ns"])
        sums = (
            thread_calls.select("name", inside_ns=inside)
            .filter(pl.col("inside_ns") > 0)
            .group_by("name")
            .agg(pl.col("inside_ns").sum(), call_count=pl.len().cast(pl.Int64))
        )
        parts.append(sums.select(pl.lit(place, waits.schema["place"]).alias("place"), pl.all()))
    return pl.concat(parts).group_by("place", "name").agg(pl.col("inside_ns", "call_count").sum())


def _sum_before(waits: pl.DataFrame, times: pl.Series) -> pl.Series:
    """The lengths of all waits up to each of the `times`: sums of the begun ones minus what is past their ends.

    Products may wrap around; the difference of two results, which fits, is right all the same.
    """
    total = pl.Series(pl.repeat(0, times.len(), dtype=pl.Int64, eager=True))
    for column, sign in (("start_ns", 1), ("end_ns", -1)):
        edges = waits[column].sort()
        sums = pl.concat([pl.Series([0], dtype=pl.Int64), edges.cum_sum()])
        count = edges.search_sorted(times, side="right")
        total = total + sign * (count.cast(pl.Int64) * times - sums.gather(count))
    return total


def main_call(waits: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """For each of few `waits` (`thread`, `start_ns`, `end_ns`): the name of the call that takes most of it, how much.

    Examples
    --------
    >>> import polars as pl
    >>> waits = pl.DataFrame({"thread": [1], "start_ns": [5], "end_ns": [20]})
    >>> calls = pl.DataFrame({"thread": [1, 1], "name": ["a", "b"], "start_ns": [0, 10], "end_ns": [9, 30]})
    >>> main_call(waits, calls).rows()
    [('b', 10)]
    """
    by_thread = calls.partition_by("thread", as_dict=True) if waits.height else {}
    # arrays: a query of polars for each wait takes longer than its few calls
    times = {
        thread: (frame["start_ns"].to_numpy(), frame["end_ns"].to_numpy(), frame["name"])
        for (thread,), frame in ((key, each.drop_nulls(["start_ns", "end_ns"])) for key, each in by_thread.items())
    }
    rows: list[tuple[str | None, int]] = []
    for thread, begin, end in waits.select("thread", "start_ns", "end_ns").iter_rows():
        if thread not in times:
            rows.append((None, 0))
            continue
        starts, ends, names = times[thread]
        first = max(0, int(starts.searchsorted(begin, side="right")) - 1)
        last = max(first, int(starts.searchsorted(end, side="left")))
        inside = np.minimum(ends[first:last], end) - np.maximum(starts[first:last], begin)
        best = int(inside.argmax()) if inside.size else 0
        is_there = inside.size > 0 and inside[best] > 0
        rows.append((_text(names[first + best]), int(inside[best])) if is_there else (None, 0))
    return pl.DataFrame(rows, schema={"call": pl.String, "call_ns": pl.Int64}, orient="row")


def _text(name: object) -> str | None:
    return None if name is None else str(name)
