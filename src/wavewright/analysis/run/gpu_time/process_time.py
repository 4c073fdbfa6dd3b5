"""Time of the GPUs of a process: computation, communication, copies, waiting with and without work."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from wavewright.analysis.run.calls.launches import launches_of
from wavewright.analysis.run.collectives.collectives import is_collective
from wavewright.analysis.run.measures.intervals import intervals
from wavewright.model.run_tables import RUN

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from wavewright.model.run import Run

    Times = npt.NDArray[np.int64]

#: Kinds of time of a process, each without those before it; the rest is `host_ns`: idle, nothing was launched.
KINDS = ("compute_ns", "communication_ns", "copy_ns", "queued_ns")
HOST = "host_ns"
_KNOWN_SHARE = 0.5  #: Of the work, with a recorded launch, from which idle time has a cause.
_COMPUTE, _COMMUNICATE, _COPY, _QUEUED = range(len(KINDS))
_BY = ("process",)


class ProcessTime:
    """Time of the GPUs of each process by kind; of a process with several GPUs, of all of them together."""

    def __init__(self, run: Run, more: Sequence[str] = ()) -> None:
        work = _work(run, more)
        work = work.with_columns(launches_of(run, work).of(work)["launch_start_ns"])
        is_launched = pl.col("launch_start_ns") <= pl.col("start_ns")
        #: Kernels and copies by process and time, with `is_copy`, `launch_start_ns` and the columns `more` of kernels;
        #: of copies only `stream`.
        self.work = work.with_columns(is_copy=pl.col("kind") == _COPY)
        #: `process`, `start_ns`, `end_ns` (of its GPU work), `is_launch_known` (of at least half of it).
        self.spans = work.group_by(_BY).agg(
            pl.col("start_ns").min(),
            pl.col("end_ns").max(),
            is_launch_known=is_launched.fill_null(value=False).mean() >= _KNOWN_SHARE,
        )
        self._unions = {
            int(process): _unions(*(frame[name].to_numpy() for name in ("start_ns", "end_ns", "kind", "queued_ns")))
            for (process,), frame in work.with_columns(
                queued_ns=pl.when(is_launched).then("launch_start_ns").otherwise("start_ns")
            )
            .partition_by("process", as_dict=True)
            .items()
        }

    def before(self, points: pl.DataFrame) -> pl.DataFrame:
        """For each point (`process`, `time_ns`): time of each of `KINDS` until then."""
        processes, times = points["process"].to_numpy(), points["time_ns"].to_numpy()
        sums = np.zeros((len(KINDS), points.height), dtype=np.int64)
        for process in np.unique(processes):
            is_own = processes == process
            for number, union in enumerate(self._unions.get(int(process), ())):
                sums[number, is_own] = union.before(times[is_own])
        sums[1:] -= sums[:-1].copy()
        return pl.DataFrame({name: pl.Series(values, dtype=pl.Int64) for name, values in zip(KINDS, sums, strict=True)})

    def totals(self) -> pl.DataFrame:
        """`process`, `KINDS`, `host_ns` and `idle_ns` between its first and last work on GPUs.

        `queued_ns` and `host_ns` are null where launches were not recorded.
        """
        ends = self.before(self.spans.select("process", time_ns="end_ns"))
        begins = self.before(self.spans.select("process", time_ns="start_ns"))
        rows = self.spans.hstack(ends - begins)
        idle = pl.col("end_ns") - pl.col("start_ns") - pl.sum_horizontal(KINDS[:_QUEUED])
        rows = rows.with_columns(idle_ns=idle)
        if_launched = pl.when("is_launch_known")
        return rows.select(
            "process",
            *KINDS[:_QUEUED],
            if_launched.then("queued_ns").alias("queued_ns"),
            if_launched.then(pl.col("idle_ns") - pl.col("queued_ns")).alias(HOST),
            "idle_ns",
        )


class _Union(NamedTuple):
    """Intervals that do not overlap, and the time that those before each of them cover."""

    starts: Times
    ends: Times
    covered: Times

    @classmethod
    def of(cls, starts: Times, ends: Times) -> _Union:
        """The union of intervals that are sorted by start."""
        if not starts.size:
            return cls(starts, ends, starts)
        reached = np.maximum.accumulate(ends)
        firsts = np.flatnonzero(np.concatenate([[True], starts[1:] > reached[:-1]]))
        lasts = np.concatenate([firsts[1:] - 1, [starts.size - 1]])
        begins, stops = starts[firsts], reached[lasts]
        lengths = stops - begins
        return cls(begins, stops, np.cumsum(lengths) - lengths)

    def before(self, times: Times) -> Times:
        """The covered time before each of the times."""
        if not self.starts.size:
            return np.zeros(times.size, dtype=np.int64)
        place = np.searchsorted(self.starts, times, side="right") - 1
        at = np.maximum(place, 0)
        covered = self.covered[at] + np.minimum(times, self.ends[at]) - self.starts[at]
        return np.where(place < 0, 0, covered)


def _unions(starts: Times, ends: Times, kinds: Times, queued: Times) -> tuple[_Union, ...]:
    """For each of `KINDS` the union of its intervals and those of the kinds before it."""
    unions = [_Union.of(starts[kinds <= kind], ends[kinds <= kind]) for kind in range(_QUEUED)]
    every = np.concatenate([starts, queued])
    order = np.argsort(every, kind="stable")
    return (*unions, _Union.of(every[order], np.concatenate([ends, starts])[order]))


def _work(run: Run, more: Sequence[str]) -> pl.DataFrame:
    """Dispatches and copies with possible times: `process`, `correlation`, `start_ns`, `end_ns`, `kind`, and `more`."""
    common = ["process", "correlation", "start_ns", "end_ns"]
    schema = {"process": pl.UInt32, "correlation": pl.Int64, "start_ns": pl.Int64, "end_ns": pl.Int64, "kind": pl.Int8}
    pieces = [pl.DataFrame(schema=schema | {name: RUN["dispatches"].dtypes[name] for name in more})]
    for piece in run.chunks("dispatches", list(dict.fromkeys([*common, "name", *more]))):
        names = piece.select(pl.col("name").unique()).filter(is_collective("name").fill_null(value=False)).to_series()
        kind = pl.when(pl.col("name").is_in(names.implode())).then(_COMMUNICATE).otherwise(_COMPUTE)
        pieces.append(piece.select(*common, *more, kind=kind.cast(pl.Int8)))
    of_copies = [*common, *(name for name in more if name == "stream")]
    pieces.extend(piece.with_columns(kind=pl.lit(_COPY, pl.Int8)) for piece in run.chunks("copies", of_copies))
    every = pl.concat(pieces, how="diagonal")
    return intervals(every.filter(pl.col("process").is_not_null()), _BY)
