"""Marker ranges: which one was open on a thread at a time, or when GPU work was launched."""

from __future__ import annotations

from functools import cached_property

import polars as pl

from wavewright.analysis.run.measures.event_rows import rows_where
from wavewright.model.run import Run

MARKER = "MARKER"  #: Domain of marker ranges.
_THREAD = ("process", "thread")


class Markers:
    """The marker ranges of a run, or the calls of another domain: the innermost one that is open counts."""

    def __init__(self, run: Run, domain: str = MARKER) -> None:
        columns = ["process", "thread", "domain", "name", "start_ns", "end_ns"]
        self._run = run
        self._open = _open_ranges(rows_where(run, "regions", columns, pl.col("domain") == domain).drop("domain"))

    @property
    def is_empty(self) -> bool:
        """True if there is no marker range."""
        return not self._open.height

    def around(self, events: pl.DataFrame) -> pl.Series:
        """The name of the range that is open on `thread` of `process` at `start_ns` of each event; null = none."""
        times = events.select("process", "thread", time="start_ns").with_row_index("row").sort("time")
        ranges = times.join_asof(self._open, on="time", by=_THREAD, check_sortedness=False)
        return ranges.sort("row")["name"].rename("marker")

    def around_launches(self, events: pl.DataFrame) -> pl.Series:
        """As `around`, at the start of the API call that launched each event, by its `correlation`.

        Where the call was not recorded, the start of the event itself counts, on the thread that launched it.
        """
        return self.around(self.times_of_launches(events))

    def times_of_launches(self, events: pl.DataFrame) -> pl.DataFrame:
        """`process`, `thread` and `start_ns` of the API call with the `correlation` of each event, else of itself."""
        calls = events.select("process", "thread", "correlation", "start_ns")
        calls = calls.join(self._launches, on=["process", "correlation"], how="left", maintain_order="left")
        return calls.select(
            "process",
            pl.coalesce("call_thread", "thread").alias("thread"),
            pl.coalesce("call_ns", "start_ns").alias("start_ns"),
        )

    @cached_property
    def _launches(self) -> pl.DataFrame:
        """Thread and start of the API call of each correlation."""
        columns = ["process", "correlation", "domain", "thread", "start_ns"]
        is_call = (pl.col("domain") != MARKER) & pl.col("correlation").is_not_null()
        calls = rows_where(self._run, "regions", columns, is_call)
        calls = calls.select("process", "correlation", call_thread="thread", call_ns="start_ns")
        return calls.unique(["process", "correlation"], keep="first", maintain_order=True)


def _open_ranges(ranges: pl.DataFrame) -> pl.DataFrame:
    """The innermost open range at each start and end of a range on a thread.

    An edge (`step` 1 = start, -1 = end) has the number of ranges that are open after it as its `depth`; where ranges
    nest, the innermost is the last that started at this depth. They cross where an end is not that of the last range
    that started one deeper: then each edge of the thread is followed (`_crossing`).
    """
    timed = ranges.filter(pl.col("end_ns") > pl.col("start_ns")).with_row_index("range")
    sides = [("start_ns", 1, _length(-1)), ("end_ns", -1, _length(1))]
    edges = pl.concat(
        timed.select(*_THREAD, "range", time=time, step=pl.lit(step, pl.Int32), length=length)
        for time, step, length in sides
    ).sort(*_THREAD, "time", "step", "length", "range", nulls_last=True)
    edges = edges.with_columns(depth=pl.col("step").cum_sum().over(_THREAD))
    last_started = pl.when(pl.col("step") > 0).then("range").forward_fill()
    depth_before_end = pl.col("depth") + (pl.col("step") < 0)
    ended, open_ = last_started.over(*_THREAD, depth_before_end), last_started.over(*_THREAD, "depth")
    nested = edges.with_columns(open=pl.when(pl.col("depth") > 0).then(open_), ended=ended)
    is_crossed = (pl.col("ended") != pl.col("range")).any().over(_THREAD)
    states = nested.select(*_THREAD, "time", "range", "step", "open", is_crossed=is_crossed)
    innermost = pl.concat([states.filter(~pl.col("is_crossed")), _crossing(states.filter("is_crossed"))])
    return (
        innermost.join(timed.select("name", open="range"), on="open", how="left", maintain_order="left")
        .select(*_THREAD, "time", "name")
        .unique([*_THREAD, "time"], keep="last", maintain_order=True)
        .sort("time", maintain_order=True)
    )


def _crossing(edges: pl.DataFrame) -> pl.DataFrame:
    """The innermost open range at each edge of threads whose ranges cross: the one that started last."""
    innermost: list[int | None] = []
    for _, thread in edges.group_by(_THREAD, maintain_order=True):
        pending: dict[int, None] = {}
        for number, step in thread.select("range", "step").iter_rows():
            if step > 0:
                pending[number] = None
            else:
                pending.pop(number, None)
            innermost.append(next(reversed(pending), None))
    return edges.with_columns(open=pl.Series(innermost, dtype=pl.UInt32))


def _length(sign: int) -> pl.Expr:
    """The length of a range with a sign: a key that sorts equal starts outermost first, equal ends innermost first."""
    return sign * (pl.col("end_ns") - pl.col("start_ns"))
