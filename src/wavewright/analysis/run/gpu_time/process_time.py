"""Time of the GPUs of a process by kind: computation, communication, copies, idle with and without launched work."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from wavewright.analysis.run.calls.launches import launches_of
from wavewright.analysis.run.collectives.collectives import is_communication
from wavewright.analysis.run.measures.intervals import covered_before, in_order, intervals, merged
from wavewright.model.run_tables import RUN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.model.run import Run

#: Kinds of time of a process, each without those before it; the rest is `host_ns`: idle, nothing was launched.
KINDS = ("compute_ns", "communication_ns", "copy_ns", "queued_ns")
HOST = "host_ns"
_KNOWN_SHARE = 0.5  #: The launches of a process count as known if at least this share of its work has one.
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
        busy = work.select("process", "start_ns", "end_ns", "kind")
        queued = work.filter(is_launched).select("process", start_ns="launch_start_ns", end_ns="start_ns")
        present = set(busy["kind"].unique())
        all_times = in_order(pl.concat([busy.drop("kind"), queued]), _BY)
        #: For each of `KINDS` the union of its intervals and those of the kinds before it; the same frame where the
        #: run has nothing of the kind.
        self._unions: list[pl.DataFrame] = []
        for kind in range(_QUEUED):
            is_new = not self._unions or kind in present
            self._unions.append(merged(busy.filter(pl.col("kind") <= kind), _BY) if is_new else self._unions[-1])
        self._unions.append(merged(all_times, _BY))

    def before(self, points: pl.DataFrame) -> pl.DataFrame:
        """For each point (`process`, `time_ns`): time of each of `KINDS` until then."""
        sums: list[pl.Series] = []
        for number, union in enumerate(self._unions):
            is_new = not sums or union is not self._unions[number - 1]
            sums.append(covered_before(union, points, _BY) if is_new else sums[-1])
        parts = [sums[0], *(whole - part for part, whole in pairwise(sums))]
        return pl.DataFrame(dict(zip(KINDS, parts, strict=True)))

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


def _work(run: Run, more: Sequence[str]) -> pl.DataFrame:
    """Dispatches and copies with possible times: `process`, `correlation`, `start_ns`, `end_ns`, `kind`, and `more`."""
    common = ["process", "correlation", "start_ns", "end_ns"]
    schema = {"process": pl.UInt32, "correlation": pl.Int64, "start_ns": pl.Int64, "end_ns": pl.Int64, "kind": pl.Int8}
    pieces = [pl.DataFrame(schema=schema | {name: RUN["dispatches"].dtypes[name] for name in more})]
    for piece in run.chunks("dispatches", list(dict.fromkeys([*common, "name", *more]))):
        kind = pl.when(is_communication(piece)).then(_COMMUNICATE).otherwise(_COMPUTE)
        pieces.append(piece.select(*common, *more, kind=kind.cast(pl.Int8)))
    of_copies = [*common, *(name for name in more if name == "stream")]
    pieces.extend(piece.with_columns(kind=pl.lit(_COPY, pl.Int8)) for piece in run.chunks("copies", of_copies))
    work = pl.concat(pieces, how="diagonal")
    return intervals(work.filter(pl.col("process").is_not_null()), _BY)
