"""Where a thread was during a gap: the markers, operators and frames around it."""

from __future__ import annotations

import re

import polars as pl

from wavescope.analysis.run.open_regions import SEPARATOR

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

    Examples
    --------
    >>> import polars as pl
    >>> gap = pl.DataFrame({"thread": [1], "start_ns": [10], "end_ns": [20]})
    >>> names = ["train.py(7): step", "torch/nn/module.py(1): call", "aten::copy_", "short"]
    >>> times = {"start_ns": [0, 1, 2, 12], "end_ns": [40, 39, 38, 14]}
    >>> stacks(gap, pl.DataFrame({"thread": [1] * 4, "name": names, **times})).rows()
    [('train.py(7): step > aten::copy_', 'aten::copy_')]
    """
    by_thread = regions.partition_by("thread", as_dict=True) if gaps.height else {}
    rows: list[tuple[str | None, str | None]] = []
    for thread, begin, end in gaps.select("thread", "start_ns", "end_ns").iter_rows():
        frames = _around(by_thread.get((thread,)), begin, end)
        rows.append((SEPARATOR.join(frames) if frames else None, frames[-1] if frames else None))
    return pl.DataFrame(rows, schema={"stack": pl.String, "context": pl.String}, orient="row")


def _around(regions: pl.DataFrame | None, begin: int, end: int) -> list[str]:
    if regions is None:
        return []
    inside = pl.min_horizontal("end_ns", pl.lit(end)) - pl.max_horizontal("start_ns", pl.lit(begin))
    there = regions.with_columns(inside=inside).filter(pl.col("inside") > 0)
    enough = min((end - begin + 1) // 2, int(there["inside"].max() or 0))  # type: ignore[arg-type]
    lasting = there.filter(pl.col("inside") >= enough).sort("start_ns", "end_ns", descending=[False, True])
    names = list(dict.fromkeys(lasting["name"].cast(pl.String).drop_nulls().to_list()))
    chosen = [name for name in names if not _PASSING.match(name)] or names
    return chosen[-_SHOWN:]
