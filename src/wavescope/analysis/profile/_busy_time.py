"""How long each process kept each of its GPUs busy: overlapping work counts once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.analysis.profile._intervals import covered, intervals, merged
from wavescope.analysis.profile._statistics import is_timed

if TYPE_CHECKING:
    import polars as pl

__all__ = ["BusyTime", "copy_agent"]

_PLACE = ("process", "agent")


def copy_agent(gpus: pl.Series) -> pl.Expr:
    """The GPU of a copy, as `agent`: where it goes to, else where it comes from.

    Examples
    --------
    >>> import polars as pl
    >>> copies = pl.DataFrame({"src_agent": [0, 1], "dst_agent": [1, 0]})
    >>> copies.select(copy_agent(pl.Series([1]))).to_series().to_list()
    [1, 1]
    """
    import polars as pl

    to_gpu = pl.col("dst_agent").is_in(gpus.implode())
    return pl.when(to_gpu).then("dst_agent").otherwise("src_agent").alias("agent")


class BusyTime:
    """Takes the work of GPUs in pieces.

    Examples
    --------
    >>> import polars as pl
    >>> time = BusyTime()
    >>> work = {"process": [0, 0], "agent": [1, 1], "begin_ns": [0, 5], "end_ns": [10, 12]}
    >>> time.add(pl.DataFrame(work))
    >>> time.by_process().rows()
    [(0, 12, 1)]
    """

    def __init__(self) -> None:
        self._merged: list[pl.DataFrame] = []

    def add(self, work: pl.DataFrame) -> None:
        """Add dispatches or copies: `process`, `agent`, `begin_ns`, `end_ns`."""
        columns = [*_PLACE, "begin_ns", "end_ns"]
        self._merged.append(merged(intervals(work.filter(is_timed()).select(columns), _PLACE), _PLACE))

    def by_process(self) -> pl.DataFrame:
        """`process`, `busy_ns` (added up over its GPUs) and `gpu_count`."""
        import polars as pl

        types = {"process": pl.UInt32, "busy_ns": pl.Int64, "gpu_count": pl.Int64}
        if not self._merged:
            return pl.DataFrame(schema=types)
        whole = covered(intervals(pl.concat(self._merged, how="vertical_relaxed"), _PLACE), _PLACE)
        return whole.group_by("process", maintain_order=True).agg(
            busy_ns=pl.col("covered_ns").sum(), gpu_count=pl.len().cast(pl.Int64)
        )
