"""Do the ranks of a run have the same work, who is slower, and what do the others lose by it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from wavescope.analysis.run.busy_time import BusyTime, copy_agent
from wavescope.analysis.run.collective_waits import MOST_CALLS, collective_calls, compared, is_collective, sequences
from wavescope.analysis.run.processes import PROCESS, processes_of
from wavescope.analysis.run.statistics import is_timed
from wavescope.model.answer import Answer
from wavescope.model.schema import empty_frame, table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavescope.model.run import Run
    from wavescope.model.schema import TableSpec

_WHO = """\
host  String? -  | node
pid   Int64?  -  | process id
rank  Int32   -  | rank; null = not known
run   String  -  | unique id of the recording, or its path
"""
_WORK = table_spec(
    "work",
    "one process",
    _WHO
    + """
    gpu_count      Int64  -   | GPUs it used
    kernel_ns      Int64  ns  | durations of its kernels, added up
    collective_ns  Int64  ns  | of these, kernels that talk to other ranks
    copy_ns        Int64  ns  | durations of its copies, added up
    busy_ns        Int64  ns  | time in which its GPUs ran anything, added up over GPUs
    start_ns       Int64  ns  | begin of its first event
    end_ns         Int64  ns  | end of its last event
    """,
)
_KERNELS = table_spec(
    "kernels",
    "one kernel of one process",
    _WHO
    + """
    name      String  -   | kernel
    calls     Int64   -   | dispatches
    total_ns  Int64   ns  | their durations
    """,
)


@dataclass(frozen=True)
class PartialRanks:
    """The contribution of one run to `Ranks`."""

    work: pl.DataFrame  #: Columns of `_WORK`.
    kernels: pl.DataFrame  #: Columns of `_KERNELS`.
    sequences: pl.DataFrame  #: See `collectives.sequences`.


@dataclass(frozen=True)
class Ranks(Answer):
    """How evenly the work of a run is spread over its processes."""

    definition: ClassVar[str] = (
        "Compute time is the time of all kernels without collectives (names with nccl, rccl, msccl, allreduce and the "
        "like): what a rank has to do itself. Imbalance is the largest compute time over the mean, its cost the "
        "largest minus the mean. The n-th calls of a collective of all ranks belong together; collectives that were "
        "recorded by name or with different process groups are apart. On one clock (one node or one recording) the "
        "rank that starts last arrives last, and the others wait until then, at most as long as their own call. "
        "Clocks of different nodes are not compared: there the rank with the shortest call is last, which holds for "
        "collectives that no rank leaves early (allreduce, allgather, reducescatter, alltoall), and of others "
        f"(broadcast, reduce, send) it is not known. Of each collective the first {MOST_CALLS:,} calls are compared."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "processes": table_spec(
            "processes",
            "one process",
            _WHO
            + """
            gpu_count      Int64    -   | GPUs it used
            compute_ns     Int64    ns  | time of its kernels without collectives
            deviation      Float64  -   | its compute time over the mean, minus 1
            collective_ns  Int64    ns  | time of its collectives, waiting included
            waited_ns      Int64    ns  | of these, waiting for ranks that arrived later; of complete collectives
            last_count     Int64    -   | collectives at which it arrived last
            copy_ns        Int64    ns  | time of its copies
            wall_ns        Int64    ns  | from its first event to its last
            busy_share     Float64  -   | share of that in which its GPUs ran anything
            """,
        ),
        "kernels": table_spec(
            "kernels",
            "one kernel, no collective, that several processes ran",
            """
            name           String   -   | kernel
            process_count  Int64    -   | processes that ran it
            calls          Int64    -   | dispatches of all of them
            mean_ns        Float64  ns  | mean of the processes' total times
            max_ns         Int64    ns  | largest total time of a process
            cost_ns        Float64  ns  | largest total time minus the mean
            imbalance      Float64  -   | largest total time over the mean
            per_call       Float64  -   | largest mean duration of a process over the mean duration of all
            host           String?  -   | node of the process that takes longest
            pid            Int64?   -   | its process id
            rank           Int32?   -   | its rank
            run            String   -   | its recording
            """,
        ),
        "collectives": table_spec(
            "collectives",
            "one collective that several processes ran",
            """
            name           String   -   | kernel
            collective     String   -   | name of the collective as it was recorded: allreduce, ...; null = it was not
            group          String   -   | ranks of its process group as recorded; null = not recorded
            process_count  Int64    -   | processes that ran it
            calls          Int64    -   | calls of each that were compared
            is_complete    Boolean  -   | whether all called it equally often; else the n-th calls may be others
            rule           String   -   | how the last one is known: by start, by (shortest) duration, or unknown
            spread_ns      Int64    ns  | longest wait of a process, added up over calls
            excess_ns      Float64  ns  | longest minus mean wait of the processes, added up over calls
            spread_share   Float64  -   | spread over the longest durations, added up: part of it that is waiting
            host           String?  -   | node of the process that arrived last most often
            pid            Int64?   -   | its process id
            rank           Int32?   -   | its rank
            run            String?  -   | its recording
            last_count     Int64    -   | how often it arrived last
            """,
        ),
    }

    processes: pl.DataFrame
    kernels: pl.DataFrame
    collectives: pl.DataFrame
    imbalance: float | None  #: Largest compute time over the mean; None = nothing was computed.
    cost_ns: float  #: Largest compute time minus the mean.
    waited_ns: int  #: Waiting in collectives, of all processes together.


def partial_ranks(run: Run) -> PartialRanks:
    """The contribution of one run."""
    who = processes_of(run)
    seen = _EventTotals(run)
    kernels = (
        seen.kernels()
        .join(who, on="process", maintain_order="left")
        .with_columns(pl.col("name").cast(pl.String).fill_null(""))
    )
    collective = pl.when(is_collective("name")).then("total_ns").sum()
    times = kernels.group_by("process").agg(kernel_ns=pl.col("total_ns").sum(), collective_ns=collective)
    work = who
    for more in (times, seen.copies, seen.busy.by_process(), seen.extents()):
        work = work.join(more, on="process", how="left", maintain_order="left")
    work = work.with_columns(pl.col("gpu_count", "kernel_ns", "collective_ns", "copy_ns", "busy_ns").fill_null(0))
    return PartialRanks(work.select(_WORK.names), kernels.select(_KERNELS.names), sequences(run, seen.collectives, who))


def combine_ranks(partials: Sequence[PartialRanks]) -> Ranks:
    """The combined result of all runs."""
    work = pl.concat([empty_frame(_WORK), *(part.work for part in partials)]).sort("rank", *PROCESS, nulls_last=True)
    kernels = pl.concat([empty_frame(_KERNELS), *(part.kernels for part in partials)])
    collectives, waits = compared([part.sequences for part in partials])
    compute = pl.col("kernel_ns") - pl.col("collective_ns")
    mean = compute.mean()
    wall = pl.col("end_ns").cast(pl.Int128) - pl.col("start_ns").cast(pl.Int128)  # of impossible times
    processes = work.join(waits, on=PROCESS, how="left", nulls_equal=True, maintain_order="left").with_columns(
        pl.col("waited_ns", "last_count").fill_null(0),
        compute_ns=compute,
        deviation=pl.when(mean > 0).then(compute / mean - 1),
        wall_ns=wall.cast(pl.Int64, strict=False),
        busy_share=pl.when((wall > 0) & (pl.col("gpu_count") > 0)).then(
            pl.col("busy_ns") / (wall * pl.col("gpu_count"))
        ),
    )
    largest = processes.select(largest=pl.col("compute_ns").max(), mean=pl.col("compute_ns").mean()).row(0)
    top, average = largest if processes.height else (0, 0.0)
    return Ranks(
        processes=processes.select(Ranks.tables["processes"].names),
        kernels=_by_kernel(kernels).select(Ranks.tables["kernels"].names),
        collectives=collectives.select(Ranks.tables["collectives"].names),
        imbalance=top / average if average else None,
        cost_ns=top - average,
        waited_ns=int(processes["waited_ns"].sum()),
    )


def ranks(run: Run) -> Ranks:
    """How evenly the work is spread over processes, and what they lose by waiting for each other."""
    return combine_ranks([partial_ranks(part) for part in run.parts])


class _EventTotals:
    """Totals of the events of a run by process, read once."""

    def __init__(self, run: Run) -> None:
        gpus = run.read("agents", ["agent", "kind"]).filter(pl.col("kind") == "GPU")["agent"]
        self.busy = BusyTime()
        self.collectives: list[pl.DataFrame] = []
        self._kernels = [empty_frame(_BY_KERNEL)]
        self._extents = [empty_frame(_ENDS)]
        for piece in run.chunks("dispatches", ["process", "agent", "name", *_OF_CALLS, *_TIMES]):
            sums = {"calls": pl.len().cast(pl.Int64), "total_ns": _duration().sum()}
            self._kernels.append(piece.group_by("process", "name").agg(**sums))
            self.collectives.append(collective_calls(piece))
            self.busy.add(piece)
            self._note(piece)
        copies = run.read("copies", ["process", "dst_agent", "src_agent", *_TIMES])
        self.copies = copies.group_by("process").agg(copy_ns=_duration().sum())
        self.busy.add(copies.with_columns(copy_agent(gpus)))
        self._note(copies)
        for piece in run.chunks("regions", ["process", *_TIMES]):
            self._note(piece)

    def kernels(self) -> pl.DataFrame:
        """`process`, `name`, `calls`, `total_ns`."""
        return pl.concat(self._kernels).group_by("process", "name").agg(pl.col("calls", "total_ns").sum())

    def extents(self) -> pl.DataFrame:
        """`process`, `start_ns`, `end_ns`: from its first event to its last."""
        return pl.concat(self._extents).group_by("process").agg(_first_and_last())

    def _note(self, piece: pl.DataFrame) -> None:
        self._extents.append(piece.filter(is_timed()).group_by("process").agg(_first_and_last()))


_TIMES = ("start_ns", "end_ns")
_OF_CALLS = ("thread", "correlation", "properties")  #: What tells which collective a kernel is.
_ENDS = table_spec(
    "extents", "one process", "process UInt32 - | number\nstart_ns Int64 ns | first\nend_ns Int64 ns | last"
)
_BY_KERNEL = table_spec(
    "kernels",
    "one kernel of one process",
    "process UInt32 - | number\nname Categorical - | kernel\ncalls Int64 - | calls\ntotal_ns Int64 ns | durations",
)


def _first_and_last() -> list[pl.Expr]:
    return [pl.col("start_ns").min(), pl.col("end_ns").max()]


def _duration() -> pl.Expr:
    return pl.when(is_timed()).then(pl.col("end_ns") - pl.col("start_ns"))


def _by_kernel(kernels: pl.DataFrame) -> pl.DataFrame:
    """Kernels of several processes, the one that costs most first."""
    slowest = kernels.sort("name", -pl.col("total_ns"), "rank", *PROCESS, nulls_last=True)
    total, calls = pl.col("total_ns"), pl.col("calls")
    totals = slowest.group_by("name", maintain_order=True).agg(
        process_count=pl.len().cast(pl.Int64),
        calls=calls.sum(),
        mean_ns=total.mean(),
        max_ns=total.max(),
        per_call=(total / calls).max() / (total.sum() / calls.sum()),
        **{name: pl.col(name).first() for name in PROCESS},
    )
    cost = pl.col("max_ns") - pl.col("mean_ns")
    return (
        totals.filter((pl.col("process_count") > 1) & ~is_collective("name"))
        .with_columns(cost_ns=cost, imbalance=pl.when(pl.col("mean_ns") > 0).then(pl.col("max_ns") / pl.col("mean_ns")))
        .with_columns(pl.col("per_call").fill_nan(None))
        .sort(-pl.col("cost_ns"), "name")
    )
