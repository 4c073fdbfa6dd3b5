"""Stacks of gaps: the markers, operators and frames that a thread was in while a GPU waited for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from wavewright.analysis.run.calls.call_sites import SEPARATOR

_SHOWN = 5  #: Frames of a stack.
#: Frames that lead to nobody's code: interpreters, threads, wrappers of frameworks.
_PASSING = re.compile(
    r"<|(.*(site|dist)-packages/|.*/lib/python3[^/]*/)?"
    r"(torch/|threading\.py|contextlib\.py|functools\.py|runpy\.py|multiprocessing/|concurrent/|asyncio/|importlib/)"
)


def stacks(gaps: pl.DataFrame, regions: pl.DataFrame) -> pl.DataFrame:
    """For each gap (`thread`, `start_ns`, `end_ns`): `stack`, the regions of its thread that last at least half of it
    from the outermost to the innermost, and `context`, the innermost of them.

    Where none lasts so long, it is the one that lasts longest. Frames of interpreters and frameworks are left out where
    others remain, and of many the innermost are kept.

    >>> gap = pl.DataFrame({"thread": [1], "start_ns": [10], "end_ns": [20]})
    >>> names = ["train.py(7): step", "torch/nn/module.py(1): call", "aten::copy_", "short"]
    >>> times = {"start_ns": [0, 1, 2, 12], "end_ns": [40, 39, 38, 14]}
    >>> stacks(gap, pl.DataFrame({"thread": [1] * 4, "name": names, **times})).rows()
    [('train.py(7): step > aten::copy_', 'aten::copy_')]
    """
    known = regions.drop_nulls(["thread", "start_ns", "end_ns"])
    by_thread = known.partition_by("thread", as_dict=True) if gaps.height else {}
    rows: list[tuple[str | None, str | None]] = [(None, None)] * gaps.height
    for (thread,), gaps_of_thread in gaps.with_row_index("gap").partition_by("thread", as_dict=True).items():
        if (thread,) in by_thread:
            for gap, frames in _frames(gaps_of_thread, by_thread[thread,]):
                rows[gap] = SEPARATOR.join(frames) if frames else None, frames[-1] if frames else None
    return pl.DataFrame(rows, schema={"stack": pl.String, "context": pl.String}, orient="row")


def _frames(gaps: pl.DataFrame, regions: pl.DataFrame) -> Iterator[tuple[int, list[str]]]:
    """For each `gap` of a thread: names of its regions that last at least half of it, else of those that last longest,
    from the outermost on.
    """
    ranges = regions.lazy().select(begin_ns="start_ns", until_ns="end_ns").with_row_index("region")
    pairs = gaps.lazy()
    pairs = pairs.join_where(ranges, pl.col("begin_ns") < pl.col("end_ns"), pl.col("until_ns") > pl.col("start_ns"))
    inside = pl.min_horizontal("end_ns", "until_ns") - pl.max_horizontal("start_ns", "begin_ns")
    half = (pl.col("end_ns") - pl.col("start_ns") + 1) // 2
    lasting = (
        pairs.with_columns(ns=inside)
        .filter(pl.col("ns") > 0, pl.col("ns") >= pl.min_horizontal(half, pl.col("ns").max().over("gap")))
        .sort("gap", "begin_ns", -pl.col("until_ns"), "region")
        .select("gap", "region")
        .collect()
    )
    region_names = lasting.select("gap", name=regions["name"].gather(lasting["region"]).cast(pl.String)).drop_nulls()
    for gap, names in (
        region_names.group_by("gap", maintain_order=True).agg(pl.col("name").unique(maintain_order=True)).rows()
    ):
        chosen = [name for name in names if not _PASSING.match(name)] or names
        yield gap, chosen[-_SHOWN:]
