"""Busy time of each GPU by process: overlapping work counts once."""

from __future__ import annotations

import polars as pl

from wavewright import _core
from wavewright.analysis.run.measures.intervals import FARTHEST_NS
from wavewright.model.run_tables import LONGEST_NS

_PLACE = ("process", "agent")


def copy_agent(gpus: pl.Series) -> pl.Expr:
    """The GPU of a copy, as `agent`: where it goes to, else where it comes from."""
    to_gpu = pl.col("dst_agent").is_in(gpus.implode())
    return pl.when(to_gpu).then("dst_agent").otherwise("src_agent").alias("agent")


class BusyTime:
    """Takes the work of GPUs in chunks."""

    def __init__(self) -> None:
        self._time = _core.CoveredTime(len(_PLACE), LONGEST_NS, FARTHEST_NS)
        self._places: list[pl.DataFrame] = []

    def add(self, work: pl.DataFrame) -> None:
        """Add dispatches or copies: `process`, `agent`, `start_ns`, `end_ns`."""
        places = work.select(pl.col(_PLACE).cast(pl.UInt32))
        begin, end = (work[name].cast(pl.Int64) for name in ("start_ns", "end_ns"))
        rows = self._time.add([places[name] for name in _PLACE], begin, end)
        if len(rows):
            self._places.append(places[pl.DataFrame(rows)["row"]])

    def by_process(self) -> pl.DataFrame:
        """`process`, `busy_ns` (added up over its GPUs) and `gpu_count`."""
        places = pl.concat([pl.DataFrame(schema=dict.fromkeys(_PLACE, pl.UInt32)), *self._places])
        busy = places.hstack(pl.DataFrame(self._time.totals())).filter(pl.col("covered_ns") > 0)
        figures = {"busy_ns": pl.col("covered_ns").sum(), "gpu_count": pl.len().cast(pl.Int64)}
        return busy.group_by("process").agg(**figures).sort("process")
