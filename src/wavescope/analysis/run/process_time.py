"""What the GPUs of a process did with their time: computation, communication, copies, waiting with and without work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavescope.analysis.run.collectives import is_collective
from wavescope.analysis.run.intervals import covered_before, in_order, intervals, merged
from wavescope.analysis.run.launches import Launches, region_pieces

if TYPE_CHECKING:
    from wavescope.model.run import Run

#: Kinds of time of a process, each without those before it; the rest is `host_ns`: idle, nothing was launched.
KINDS = ("compute_ns", "communication_ns", "copy_ns", "queued_ns")
HOST = "host_ns"
_KNOWN_SHARE = 0.5  #: Of the work, with a recorded launch, from which idle time has a cause.
_COMPUTE, _COMMUNICATE, _COPY, _QUEUED = range(len(KINDS))
_BY = ("process",)


class ProcessTime:
    """Time of the GPUs of each process by kind; of a process with several GPUs, of all of them together."""

    def __init__(self, run: Run) -> None:
        work = _work(run)
        launches = Launches(work)
        for calls, _ in region_pieces(run, ["thread", "process", "correlation", "start_ns"]):
            launches.add(calls)
        work = work.with_columns(launches.of(work)["launch_start_ns"])
        is_launched = pl.col("launch_start_ns") <= pl.col("start_ns")
        #: `process`, `start_ns`, `end_ns` (of its GPU work), `is_launch_known` (of at least half of it).
        self.spans = work.group_by(_BY).agg(
            pl.col("start_ns").min(),
            pl.col("end_ns").max(),
            is_launch_known=is_launched.fill_null(value=False).mean() >= _KNOWN_SHARE,
        )
        queued = work.filter(is_launched).select(
            *_BY, start_ns="launch_start_ns", end_ns="start_ns", kind=pl.lit(_QUEUED, pl.Int8)
        )
        columns = [*_BY, "start_ns", "end_ns", "kind"]
        every = pl.concat([work.select(columns), queued.select(columns)])
        self._unions = [merged(in_order(every.filter(pl.col("kind") <= kind), _BY), _BY) for kind in range(len(KINDS))]

    def before(self, points: pl.DataFrame) -> pl.DataFrame:
        """For each point (`process`, `time_ns`): time of each of `KINDS` until then."""
        sums = [covered_before(union, points, _BY) for union in self._unions]
        return pl.DataFrame(
            {name: total - sums[n - 1] if n else total for n, (name, total) in enumerate(zip(KINDS, sums, strict=True))}
        )

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


def _work(run: Run) -> pl.DataFrame:
    """Dispatches and copies with possible times: `process`, `correlation`, `start_ns`, `end_ns`, `kind`."""
    common = ["process", "correlation", "start_ns", "end_ns"]
    schema = {"process": pl.UInt32, "correlation": pl.Int64, "start_ns": pl.Int64, "end_ns": pl.Int64, "kind": pl.Int8}
    pieces = [pl.DataFrame(schema=schema)]
    for piece in run.chunks("dispatches", [*common, "name"]):
        names = piece.select(pl.col("name").unique()).filter(is_collective("name").fill_null(value=False)).to_series()
        kind = pl.when(pl.col("name").is_in(names.implode())).then(_COMMUNICATE).otherwise(_COMPUTE)
        pieces.append(piece.select(*common, kind=kind.cast(pl.Int8)))
    pieces.extend(piece.with_columns(kind=pl.lit(_COPY, pl.Int8)) for piece in run.chunks("copies", common))
    return intervals(pl.concat(pieces), _BY)
