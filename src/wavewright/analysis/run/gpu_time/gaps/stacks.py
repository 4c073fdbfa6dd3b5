"""Where a thread was during a gap: the markers, operators and frames around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import numpy as np
import polars as pl

from wavewright.analysis.run.calls.open_regions import SEPARATOR

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
    around = {thread: _Around(frame) for (thread,), frame in by_thread.items()}
    rows: list[tuple[str | None, str | None]] = [(None, None)] * gaps.height
    gap_rows = gaps.with_row_index("gap")
    for thread, regions_around in around.items():
        for gap, frames in regions_around.frames(gap_rows.filter(pl.col("thread") == thread)):
            rows[gap] = SEPARATOR.join(frames) if frames else None, frames[-1] if frames else None
    return pl.DataFrame(rows, schema={"stack": pl.String, "context": pl.String}, orient="row")


class _Around:
    """The regions of one thread as arrays: a query of polars for each gap takes longer than the comparison itself."""

    def __init__(self, regions: pl.DataFrame) -> None:
        regions = regions.drop_nulls(["start_ns", "end_ns"])
        self._starts, self._ends = regions["start_ns"].to_numpy(), regions["end_ns"].to_numpy()
        self._names = regions["name"]

    def frames(self, gaps: pl.DataFrame) -> Iterator[tuple[int, list[str]]]:
        """For each `gap`: names of the regions that last at least half of it, else of those that last longest."""
        places = [self._lasting(begin, end) for begin, end in gaps.select("start_ns", "end_ns").iter_rows()]
        names = iter(self._names.gather([at for each in places for at in each]).cast(pl.String).to_list())
        for gap, each in zip(gaps["gap"], places, strict=True):
            known = list(dict.fromkeys(name for name in islice(names, len(each)) if name is not None))
            chosen = [name for name in known if not _PASSING.match(name)] or known
            yield gap, chosen[-_SHOWN:]

    def _lasting(self, begin: int, end: int) -> list[int]:
        """The regions that last at least half of a gap, else those that last longest, from the outermost on."""
        inside = np.minimum(self._ends, end) - np.maximum(self._starts, begin)
        enough = min((end - begin + 1) // 2, max(0, int(inside.max(initial=0))))
        lasting = np.flatnonzero((inside > 0) & (inside >= enough))
        order: list[int] = lasting[np.lexsort((-self._ends[lasting], self._starts[lasting]))].tolist()
        return order
