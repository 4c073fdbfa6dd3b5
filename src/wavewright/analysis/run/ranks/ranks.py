"""Spread of the work of a run over its ranks: who has more or slower work, and what the others lose by waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.run.collectives.collectives import is_communication, names_collective
from wavewright.analysis.run.collectives.meetings import collective_rows
from wavewright.analysis.run.gpu_time.busy_time import BusyTime, copy_agent
from wavewright.analysis.run.gpu_time.process_time import ProcessTime
from wavewright.analysis.run.measures.statistics import is_timed
from wavewright.analysis.run.ranks.collective_times import (
    Collectives,
    Meetings,
    PartialCollectives,
    most_often_last,
    with_times,
)
from wavewright.analysis.run.ranks.stragglers import causes_of_ranks, stragglers
from wavewright.analysis.run.select.identities import PROCESS, processes_of
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.schema import TableSpec, empty_frame, packaged_spec

_PEER_GROUPS_MAX = 64  #: Groups of ranks with the same kernels; a rank that would start a further group stands alone.
_ALIKE = 0.9  #: Two ranks are peers if kernels that both have take at least this share of the compute time of each.
_TIMES = ("start_ns", "end_ns")
_WORK = packaged_spec(__package__, "work")
_KERNELS = packaged_spec(__package__, "kernels")
_ENDS = packaged_spec(__package__, "ends")
_BY_KERNEL = packaged_spec(__package__, "by_kernel")
_DURATION = pl.when(is_timed()).then(pl.col("end_ns") - pl.col("start_ns"))
_EXTENT = [pl.col("start_ns").min(), pl.col("end_ns").max()]


@dataclass(frozen=True, eq=False, repr=False)
class PartialRanks:
    """The contribution of one run to `Ranks`."""

    work: pl.DataFrame  #: Columns of `_WORK`.
    kernels: pl.DataFrame  #: Columns of `_KERNELS`.
    collectives: PartialCollectives


@dataclass(frozen=True, eq=False)
class Ranks(Answer, package=__package__):
    """Spread of the work of a run over its processes."""

    tables: ClassVar[Mapping[str, TableSpec]] = {"causes": Collectives.tables["causes"]}

    processes: pl.DataFrame
    kernels: pl.DataFrame
    collectives: pl.DataFrame
    causes: pl.DataFrame  #: Why ranks were late.
    imbalance: float | None  #: Largest compute time over the mean of its peers; None = nothing can be compared.
    cost_ns: float  #: Largest compute time minus the mean, of the peers where that is most.
    waited_ns: int  #: Waiting in collectives, of all processes together.
    caveats: tuple[Caveat, ...]


def partial_ranks(run: Run) -> PartialRanks:
    """The contribution of one run."""
    processes = processes_of(run)
    totals = _EventTotals(run)
    kernels = (
        totals.kernels()
        .join(processes, on="process", maintain_order="left")
        .with_columns(pl.col("name").cast(pl.String).fill_null(""))
    )
    times = kernels.group_by("process").agg(compute_ns=pl.col("total_ns").filter(~names_collective("name")).sum())
    communication = totals.communication.by_process().select("process", collective_ns="busy_ns")
    time = ProcessTime(run)
    idle = time.totals().select("process", "idle_ns", "host_ns")
    work = processes
    for columns in (times, communication, totals.copies, totals.busy.by_process(), totals.extents(), idle):
        work = work.join(columns, on="process", how="left", maintain_order="left")
    # A process without such work is in none of the frames; `host_ns` stays null, which says that launches are unknown.
    amounts = ("gpu_count", "compute_ns", "collective_ns", "copy_ns", "busy_ns", "idle_ns")
    work = work.with_columns(pl.col(amounts).fill_null(0))
    calls = with_times(collective_rows(run), time)
    return PartialRanks(work.select(_WORK.names), kernels.select(_KERNELS.names), calls)


def combine_ranks(partials: Sequence[PartialRanks]) -> Ranks:
    """The combined result of all runs."""
    work = pl.concat([empty_frame(_WORK), *(part.work for part in partials)]).sort("rank", *PROCESS, nulls_last=True)
    work = work.unique(PROCESS, keep="first", maintain_order=True)  # a file that was given twice
    kernels = pl.concat([empty_frame(_KERNELS), *(part.kernels for part in partials)])
    kernels = kernels.unique([*PROCESS, "name"], keep="first", maintain_order=True)
    meetings = Meetings.of([part.collectives for part in partials])
    waits = meetings.processes().group_by(PROCESS).agg(pl.col("last_count").sum(), waited_ns=pl.col("wait_ns").sum())
    # The times of a damaged file may be further apart than 64 bits can tell.
    wall = pl.col("end_ns").cast(pl.Int128) - pl.col("start_ns").cast(pl.Int128)
    work = work.with_columns(peers=_peers(work, kernels))
    mean = pl.col("compute_ns").mean().over("peers")
    is_compared = (pl.len().over("peers") > 1) | (work.height == 1)
    processes = work.join(waits, on=PROCESS, how="left", nulls_equal=True, maintain_order="left").with_columns(
        pl.col("waited_ns", "last_count").fill_null(0),
        deviation=pl.when((mean > 0) & is_compared).then(pl.col("compute_ns") / mean - 1),
        excess_ns=pl.when((mean > 0) & is_compared).then(pl.col("compute_ns") - mean),
        wall_ns=wall.cast(pl.Int64, strict=False),
        busy_share=pl.when((wall > 0) & (pl.col("gpu_count") > 0)).then(
            pl.col("busy_ns") / (wall * pl.col("gpu_count"))
        ),
    )
    by_excess = processes.drop_nulls("excess_ns").sort("excess_ns", descending=True, maintain_order=True)
    slowest = by_excess.head(1).to_dicts()
    return Ranks(
        processes=processes.select(Ranks.tables["processes"].names),
        kernels=_by_kernel(kernels.join(work.select(*PROCESS, "peers"), on=PROCESS, nulls_equal=True)).select(
            Ranks.tables["kernels"].names
        ),
        collectives=_by_collective(meetings).select(Ranks.tables["collectives"].names),
        causes=causes_of_ranks(stragglers(meetings.arrivals)).select(Ranks.tables["causes"].names),
        imbalance=1 + slowest[0]["deviation"] if slowest else None,
        cost_ns=slowest[0]["excess_ns"] if slowest else 0.0,
        waited_ns=int(processes["waited_ns"].sum()),
        caveats=tuple(meetings.caveats()),
    )


def ranks(run: Run) -> Ranks:
    """Spread of the work over processes, and what they lose by waiting for each other."""
    return combine_ranks([partial_ranks(part) for part in run.parts])


def _peers(work: pl.DataFrame, kernels: pl.DataFrame) -> pl.Series:
    """For each row of `work` the number of the first with the same kernels: stages of a pipeline differ by design."""
    of_process = kernels.filter(~names_collective("name")).partition_by(PROCESS, as_dict=True)
    times = [
        dict(of_process[key].select("name", "total_ns").rows()) if key in of_process else {}
        for key in work.select(PROCESS).rows()
    ]
    firsts: list[int] = []
    numbers = []
    for number, kernel_ns in enumerate(times):
        peer = next((first for first in firsts if _are_alike(times[first], kernel_ns)), None)
        if peer is None and len(firsts) < _PEER_GROUPS_MAX:
            firsts.append(number)
        numbers.append(number if peer is None else peer)
    return pl.Series(numbers, dtype=pl.Int64)


def _are_alike(first: dict[str, int], second: dict[str, int]) -> bool:
    """True if kernels that both ranks have take most of the time of each; name -> nanoseconds."""
    shared_names = first.keys() & second.keys()
    return all(
        sum(kernel_ns[name] or 0 for name in shared_names) >= _ALIKE * sum(ns or 0 for ns in kernel_ns.values())
        for kernel_ns in (first, second)
    )


def _by_collective(meetings: Meetings) -> pl.DataFrame:
    """Per collective how long ranks wait in it, who arrives last, and the most frequent of `meetings.RULES`: `rule`."""
    keys = ("name", "collective", "group")
    wait = pl.col("wait_ns").fill_null(0)
    by_meeting = meetings.arrivals.group_by(*keys, "meeting").agg(
        pl.col("rule").first(),
        process_count=pl.len().cast(pl.Int64),
        longest_ns=(pl.col("end_ns") - pl.col("start_ns")).max(),
        wait_ns=wait.max(),
        mean_ns=wait.mean(),
        **{name: pl.col(name).filter("is_last").first() for name in PROCESS},
    )
    sums = by_meeting.group_by(keys).agg(
        pl.col("process_count").max(),
        calls=pl.len().cast(pl.Int64),
        rule=pl.col("rule").mode().sort().first(),
        spread_ns=pl.col("wait_ns").sum(),
        excess_ns=(pl.col("wait_ns") - pl.col("mean_ns")).sum(),
        longest_ns=pl.col("longest_ns").sum(),
    )
    # A rank that was given twice is no second member, and its calls would look unmatched.
    recorded = meetings.rows.filter(pl.col("mismatch").ne_missing("twice")).group_by(keys)
    members = pl.struct("part", "process").n_unique()
    return (
        recorded.agg(is_complete=pl.col("meeting").null_count() == 0, members=members)
        .filter(pl.col("members") > 1)
        .join(sums, on=keys, how="left", nulls_equal=True)
        .join(most_often_last(by_meeting, keys), on=keys, how="left", nulls_equal=True)
        .with_columns(
            pl.col("rule").fill_null("unknown"),
            pl.col("calls", "spread_ns", "last_count").fill_null(0),
            pl.col("excess_ns").fill_null(0.0),
            process_count=pl.coalesce("process_count", pl.col("members").cast(pl.Int64)),
            spread_share=pl.when(pl.col("longest_ns") > 0).then(pl.col("spread_ns") / pl.col("longest_ns")),
        )
        .sort(-pl.col("spread_ns"), *keys, nulls_last=True)
    )


class _EventTotals:
    """Totals of the events of a run by process, read once."""

    def __init__(self, run: Run) -> None:
        gpus = run.read("agents", ["agent", "kind"]).filter(pl.col("kind") == "GPU")["agent"]
        self.busy, self.communication = BusyTime(), BusyTime()  #: Of all work, and of collectives only.
        self._kernels = [empty_frame(_BY_KERNEL)]
        self._extents = [empty_frame(_ENDS)]
        for piece in run.chunks("dispatches", ["process", "agent", "name", *_TIMES]):
            sums = {"calls": pl.len().cast(pl.Int64), "total_ns": _DURATION.sum()}
            self._kernels.append(piece.group_by("process", "name").agg(**sums))
            self.busy.add(piece)
            self.communication.add(piece.filter(is_communication(piece)))
            self._add_extents(piece)
        copies = run.read("copies", ["process", "dst_agent", "src_agent", *_TIMES])
        self.copies = copies.group_by("process").agg(copy_ns=_DURATION.sum())
        self.busy.add(copies.with_columns(copy_agent(gpus)))
        self._add_extents(copies)
        for piece in run.chunks("regions", ["process", *_TIMES]):
            self._add_extents(piece)

    def kernels(self) -> pl.DataFrame:
        """`process`, `name`, `calls`, `total_ns`."""
        return pl.concat(self._kernels).group_by("process", "name").agg(pl.col("calls", "total_ns").sum())

    def extents(self) -> pl.DataFrame:
        """`process`, `start_ns`, `end_ns`: from its first event to its last."""
        return pl.concat(self._extents).group_by("process").agg(_EXTENT)

    def _add_extents(self, piece: pl.DataFrame) -> None:
        self._extents.append(piece.filter(is_timed()).group_by("process").agg(_EXTENT))


def _by_kernel(kernels: pl.DataFrame) -> pl.DataFrame:
    """Kernels that several processes ran, the costliest first; `kernels` has the columns of `_KERNELS`, and `peers`."""
    by_time = kernels.sort("name", "peers", -pl.col("total_ns"), "rank", *PROCESS, nulls_last=True)
    total, calls = pl.col("total_ns"), pl.col("calls")
    totals = by_time.group_by("name", "peers", maintain_order=True).agg(
        process_count=pl.len().cast(pl.Int64),
        calls=calls.sum(),
        mean_ns=total.mean(),
        max_ns=total.max(),
        per_call=(total / calls).max() / (total.sum() / calls.sum()),
        **{name: pl.col(name).first() for name in PROCESS},
    )
    cost = pl.col("max_ns") - pl.col("mean_ns")
    return (
        totals.filter((pl.col("process_count") > 1) & ~names_collective("name"))
        .with_columns(cost_ns=cost, imbalance=pl.when(pl.col("mean_ns") > 0).then(pl.col("max_ns") / pl.col("mean_ns")))
        .with_columns(pl.col("per_call").fill_nan(None))
        .sort(-pl.col("cost_ns"), "name", "rank", *PROCESS)
    )
