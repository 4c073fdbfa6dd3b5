"""Calls of a thread while a GPU waited for it: gaps against the calls of the thread that ended them."""

from __future__ import annotations

import polars as pl


def calls_inside(waits: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """Time of the `waits` that each function takes: `place`, `name`, `inside_ns`, `call_count`.

    `waits` have `place`, `thread`, `start_ns`, `end_ns` and may overlap each other; `calls` are `outermost` ones with
    `name`. Exact: for every call, the waits of its thread up to its end minus those up to its begin.

    >>> waits = pl.DataFrame({"place": [0], "thread": [1], "start_ns": [5], "end_ns": [20]})
    >>> calls = pl.DataFrame({"thread": [1, 1], "name": ["sync", "free"], "start_ns": [0, 18], "end_ns": [9, 30]})
    >>> calls_inside(waits, calls).sort("name").rows()
    [(0, 'free', 2, 1), (0, 'sync', 4, 1)]
    """
    keys = {"place": waits.schema["place"], "name": calls.schema["name"]}
    parts = [pl.DataFrame(schema=keys | {"inside_ns": pl.Int64(), "call_count": pl.Int64()})]
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

    Products may wrap around 64 bits; the difference of two results, which fits, is right all the same.
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

    >>> waits = pl.DataFrame({"thread": [1], "start_ns": [5], "end_ns": [20]})
    >>> calls = pl.DataFrame({"thread": [1, 1], "name": ["a", "b"], "start_ns": [0, 10], "end_ns": [9, 30]})
    >>> main_call(waits, calls).rows()
    [('b', 10)]
    """
    by_thread = calls.drop_nulls(["start_ns", "end_ns"]).partition_by("thread", as_dict=True) if waits.height else {}
    wait_rows = waits.select("thread", "start_ns", "end_ns").with_row_index("wait")
    longest = [pl.DataFrame(schema={"wait": pl.UInt32, "call": pl.String, "call_ns": pl.Int64})]
    for key, thread_waits in wait_rows.partition_by("thread", as_dict=True).items():
        thread_calls = by_thread.get(key)
        if thread_calls is None:
            continue
        starts, ends = thread_calls["start_ns"], thread_calls["end_ns"]
        first = starts.search_sorted(thread_waits["start_ns"], side="right").cast(pl.Int64) - 1
        last = starts.search_sorted(thread_waits["end_ns"], side="left").cast(pl.Int64)
        near = thread_waits.with_columns(row=pl.int_ranges(first.clip(0), last)).explode("row").drop_nulls("row")
        call_start, call_end = starts.gather(near["row"]), ends.gather(near["row"])
        inside = pl.min_horizontal("end_ns", call_end) - pl.max_horizontal("start_ns", call_start)
        within = near.select("wait", "row", call_ns=inside).filter(pl.col("call_ns") > 0)
        longest_call = within.filter(pl.col("call_ns") == pl.col("call_ns").max().over("wait")).unique(
            "wait", keep="first"
        )
        names = thread_calls["name"].gather(longest_call["row"]).cast(pl.String)
        longest.append(longest_call.select("wait", names.alias("call"), "call_ns"))
    main_calls = wait_rows.join(pl.concat(longest), on="wait", how="left", maintain_order="left")
    return main_calls.select("call", pl.col("call_ns").fill_null(0))
