"""Rules about ranks: exposed communication, late and unequal ranks, slow collectives.

`Ranks` matches the collectives of all ranks; every check returns a `Candidate`, or None below its threshold of
`facts/run_rules.toml`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from wavewright.analysis.run.calls.kernel_names import short_names
from wavewright.analysis.run.collectives.meetings import arrivals, clock_offsets, matched, waits_of_ranks
from wavewright.analysis.run.diagnose.ledger import Candidate
from wavewright.analysis.run.diagnose.merged_diagnosis import MergedDiagnosis, total
from wavewright.analysis.run.diagnose.work import COMMUNICATE
from wavewright.base.words import counted, duration, percent
from wavewright.facts.kernel_titles import kernel_title
from wavewright.facts.run_rules import RULES
from wavewright.model.findings import PlaceEvidence

_LANE = ["part", "place"]  #: One GPU: the number of its run, and its number in it.
_SLOW_RATIO = 3.0  #: A collective is slow if it takes more than this many times the median of its kind and size.
_CALLS_MIN = 5  #: Among fewer calls of a kind none is slow, and the best does not stand for the link.
_LARGE_BYTES = 8 << 20  #: Only collectives of at least this size are fast enough to show what the links can do.
IS_COMMUNICATION = pl.col("kind") == COMMUNICATE
#: One rank is the straggler, and one reason is why it is late, if it makes up at least this share of the delays.
_HALF = 0.5
_IDLE_WORDS = {
    "host code": "in host code",
    "data loader": "in the data loader",
    "synchronisation": "in synchronisation",
}

Row = dict[str, Any]


class _Matched(NamedTuple):
    """The collectives of ranks, matched."""

    rows: pl.DataFrame
    clocks_agree: bool


@dataclass(frozen=True)
class Ranks:
    """The collectives that ranks have in common."""

    runs: MergedDiagnosis

    @cached_property
    def _matched(self) -> _Matched:
        rows = self.runs.all("collectives")
        if not rows.height:
            rows = rows.with_columns(meeting=pl.lit(None, pl.UInt32), arrival_ns="start_ns", last_ns="start_ns")
            return _Matched(rows, clocks_agree=False)
        rows = matched(rows.rename({"place": "gpu_place"})).rename({"gpu_place": "place"})  # it has one, too
        offsets = clock_offsets(rows)
        arrived = arrivals(rows, offsets).filter(pl.col("left_ns").is_not_null())
        gpu_count = pl.struct(_LANE).n_unique().over("meeting")
        arrived = arrived.filter(gpu_count > 1).with_columns(
            last_ns=pl.col("arrival_ns").max().over("meeting"),
            second_ns=pl.col("arrival_ns").top_k(2).min().over("meeting"),
            over_ns=pl.col("left_ns").max().over("meeting"),
        )
        return _Matched(arrived, clocks_agree=bool(offsets.table["is_steady"].all()))

    @property
    def rows(self) -> pl.DataFrame:
        """Calls of collectives with `meeting`, and on the common clock `arrival_ns`, `last_ns` and `second_ns` (the
        last two arrivals at the meeting), `over_ns` (its end)."""
        return self._matched.rows

    @property
    def clocks_agree(self) -> bool:
        """True if the ranks have one clock, or theirs could be aligned."""
        return self._matched.clocks_agree

    @property
    def are_met(self) -> bool:
        """True if ranks have collectives in common, on one clock."""
        return self.rows.height > 0 and self.clocks_agree

    @cached_property
    def are_aligned(self) -> bool:
        """True if all GPUs have the same collectives, so that their segments lie between the same ones."""
        if not self.are_met:
            return False
        counts = self.rows.group_by(_LANE).len()["len"]
        recorded = self.runs.all("collectives").group_by(_LANE).len()["len"]
        return len(counts) == self.runs.gpu_count and counts.n_unique() == 1 and recorded.n_unique() == 1

    @cached_property
    def exposed(self) -> pl.DataFrame:
        """Exposed time, divided by `is_waiting`: True for the part that is spent waiting for later ranks."""
        exposed = self.runs.exposed.with_columns(is_waiting=pl.lit(value=False))
        if not self.are_met:
            return exposed
        waits = self.rows.group_by(*_LANE, "segment").agg(pl.col("wait_ns").sum())
        communication = exposed.filter(IS_COMMUNICATION).join(waits, on=[*_LANE, "segment"], how="left")
        wait = pl.min_horizontal(pl.col("wait_ns").fill_null(0), "exposed_ns")
        parts = [
            communication.with_columns(exposed_ns=wait, is_waiting=pl.lit(value=True)),
            communication.with_columns(exposed_ns=pl.col("exposed_ns") - wait),
        ]
        return pl.concat([exposed.filter(~IS_COMMUNICATION), *(part.select(exposed.columns) for part in parts)])

    @cached_property
    def wait_ns(self) -> float:
        """Time that a rank waits in collectives for later ones, mean of the ranks."""
        return total(waits_of_ranks(self.rows, _LANE)["wait_ns"]) / max(1, self.rank_count) if self.are_met else 0.0

    @cached_property
    def rank_count(self) -> int:
        """Ranks with collectives in common."""
        return self.rows.select(_LANE).unique().height

    @cached_property
    def meetings(self) -> pl.DataFrame:
        """Meetings with the rank that came last, and how long the others waited for it alone: `late_ns`.

        That is from the second last arrival to the last, as far as another rank had nothing to compute meanwhile.
        """
        waiting = self.exposed.filter("is_waiting").group_by(*_LANE, "segment").agg(pl.col("exposed_ns").sum())
        rows = self.rows.join(waiting, on=[*_LANE, "segment"], how="left")
        longest_wait = pl.min_horizontal("wait_ns", pl.col("exposed_ns").fill_null(0)).max().over("meeting")
        late = pl.min_horizontal(pl.col("last_ns") - pl.col("second_ns"), longest_wait)
        return rows.with_columns(late_ns=late).filter("is_last").unique("meeting", keep="first", maintain_order=True)

    @cached_property
    def late(self) -> pl.DataFrame:
        """By rank: how often it came last, and how long the others waited for it alone; the latest rank first."""
        groups = self.meetings.group_by(*_LANE, "rank", "pid")
        sums = groups.agg(pl.col("late_ns").sum(), last_count=pl.len().cast(pl.Int64))
        return sums.sort("late_ns", *_LANE, descending=[True, False, False])


def rank_candidates(runs: MergedDiagnosis, ranks: Ranks) -> Iterator[tuple[str, Candidate | None]]:
    """Every rule about ranks that could be checked, with its candidate; None = its cause takes too little time."""
    yield "X1", _exposed_communication(runs, ranks)
    late = _late_ranks(runs, ranks) if ranks.are_met else None
    if ranks.are_met:
        yield "X2", late
        yield "X3", _unequal_work(runs, late)
        yield "X4", _slow_collectives(runs, ranks)
        if ranks.rows["in_bytes"].count():
            yield "X5", _low_bandwidth(ranks)


def _exposed_communication(runs: MergedDiagnosis, ranks: Ranks) -> Candidate | None:
    exposed_ns, all_ns = runs.time("exposed_communication_ns"), runs.time("communication_ns")
    if not all_ns or not runs.reaches("X1", exposed_ns):
        return None
    hidden = 1 - exposed_ns / all_ns
    waiting_ns = runs.mean(ranks.exposed.filter("is_waiting")["exposed_ns"])
    computed_ns = runs.time("computation_ns")
    share = percent(all_ns / (all_ns + computed_ns))
    of_kernels = f"; {share} of the time of kernels is communication" if all_ns > computed_ns else ""
    waits = f"; {duration(waiting_ns)} of it is waiting for later ranks" if waiting_ns >= 0.01 * exposed_ns else ""
    return Candidate(
        rule="X1",
        time_ns=exposed_ns,
        cause=f"{duration(exposed_ns)} of {duration(all_ns)} communication per GPU is exposed "
        f"({percent(runs.share(exposed_ns))} of the time), {percent(hidden)} is hidden{of_kernels}{waits}",
        takes=IS_COMMUNICATION,
        evidence=runs.exposed_evidence(is_copy=False),
        case_count=int(runs.exposed.filter(IS_COMMUNICATION).height),
    )


def _late_ranks(runs: MergedDiagnosis, ranks: Ranks) -> Candidate | None:
    if not runs.reaches("X2", ranks.wait_ns):
        return None
    latest = ranks.late.row(0, named=True)
    rank = _rank_text(latest)
    meeting_count = ranks.rows["meeting"].n_unique()
    all_late_ns = total(ranks.late["late_ns"])
    is_straggler = latest["late_ns"] >= _HALF * all_late_ns and all_late_ns > 0
    waiting_ns = runs.mean(ranks.exposed.filter("is_waiting")["exposed_ns"])
    moving_ns = runs.mean(ranks.exposed.filter(IS_COMMUNICATION & ~pl.col("is_waiting"))["exposed_ns"])
    bound_ns = late_bound(runs, latest) if is_straggler else waiting_ns
    lasts = f"{rank} arrives last in {latest['last_count']:,} of {meeting_count:,}"
    clauses = (
        f"a rank waits {duration(ranks.wait_ns)} on average in collectives for those that arrive later",
        f"{lasts}, and the others wait {duration(latest['late_ns'])} for it alone",
        _why_late(runs, ranks, latest),
    )
    has_one_clock = runs.gpus["machine"].n_unique() == 1
    return Candidate(
        rule="X2",
        time_ns=ranks.wait_ns,
        title=f"{rank[:1].upper() + rank[1:]} is late" if is_straggler else "",
        cause="; ".join(filter(None, clauses)),
        takes=IS_COMMUNICATION & ~_is_of_gpu(latest) if is_straggler else pl.col("is_waiting"),
        fixed_ns=bound_ns,
        evidence=_late_evidence(runs, ranks, latest),
        case_count=meeting_count,
        within="" if bound_ns > moving_ns else "X1",
        confidence="high" if has_one_clock else "medium",
        confidence_reason="all ranks have one clock"
        if has_one_clock
        else "clocks of nodes are aligned by the ends of collectives",
    )


def late_bound(runs: MergedDiagnosis, latest: Row) -> float:
    """At most so much shorter if a rank were on time: how long others wait for it alone, or how much more it does."""
    return max(float(latest["late_ns"]), _longer_ns(runs, latest))


def _longer_ns(runs: MergedDiagnosis, latest: Row) -> float:
    """By how much the time of the late rank without waiting for others exceeds that of the fastest."""
    waits = runs.cells.filter(pl.col("cause").is_in(["queued", "stream"])).group_by(_LANE).agg(pl.col("idle_ns").sum())
    exposed = runs.exposed.filter(IS_COMMUNICATION).group_by(_LANE).agg(pl.col("exposed_ns").sum())
    gpus = runs.gpus.select(*_LANE, "edge_ns", window=pl.col("to_ns") - pl.col("from_ns"))
    gpus = gpus.join(waits, on=_LANE, how="left").join(exposed, on=_LANE, how="left").fill_null(0)
    gpus = gpus.with_columns(busy=pl.col("window") - pl.col("edge_ns") - pl.col("exposed_ns"))
    is_late = _is_of_gpu(latest)
    others = gpus.filter(~is_late)
    if not others.height:
        return 0.0
    fastest_ns = min((others["busy"] - others["idle_ns"]).to_list())
    return max(0.0, total(gpus.filter(is_late)["busy"]) - float(fastest_ns))


def _is_of_gpu(row: Row) -> pl.Expr:
    """True for rows about the GPU and the run of this row."""
    return pl.col("part").eq(row["part"]) & pl.col("place").eq(row["place"])


def _rank_text(row: Row) -> str:
    return f"rank {row['rank']}" if row["rank"] is not None else f"process {row['pid']}"


def _why_late(runs: MergedDiagnosis, ranks: Ranks, latest: Row) -> str:
    """Why a rank is late, in words: idle time or computation that it has more than the others before collectives."""
    is_late, other_count = _is_of_gpu(latest), max(1, ranks.rank_count - 1)
    meetings = ranks.rows.filter(is_late & pl.col("is_last"))["meeting"]
    before = ranks.rows.filter(pl.col("meeting").is_in(meetings.implode())).select(*_LANE, "segment")
    idle = runs.cells.join(before, on=[*_LANE, "segment"], how="semi")
    own_ns, others_ns = (pl.col("idle_ns").filter(condition).sum() for condition in (is_late, ~is_late))
    excess = idle.group_by("cause").agg(excess_ns=own_ns - others_ns / other_count)
    excess = excess.sort("excess_ns", "cause", descending=[True, False])
    idle_ns = max(0.0, total(excess["excess_ns"]))
    idles = f"before, its GPU idles {duration(idle_ns)} more than the others"
    if idle_ns >= _HALF * latest["late_ns"] and excess.height:
        cause, cause_ns = excess.row(0)
        return f"{idles}, {duration(cause_ns)} of it {_IDLE_WORDS.get(cause, cause)}"
    computed_ns = total(runs.gpus.filter(is_late)["computation_ns"])
    computed_ns -= total(runs.gpus.filter(~is_late)["computation_ns"]) / other_count
    if computed_ns >= _HALF * latest["late_ns"]:
        return f"its kernels take {duration(computed_ns)} longer than those of the others{_slower_kernel(runs, latest)}"
    return idles if idle_ns > 0 else ""


def _slower_kernel(runs: MergedDiagnosis, latest: Row) -> str:
    """The kernel that takes most of the difference, in words."""
    kernels = pl.concat(
        part.kernels.kernels.select(pl.lit(number, pl.UInt32).alias("part"), "place", "name", "total_ns")
        for number, part in enumerate(runs.partials)
    )
    is_late, other_count = _is_of_gpu(latest), max(1, runs.gpu_count - 1)
    own_ns, others_ns = (pl.col("total_ns").filter(condition).sum() for condition in (is_late, ~is_late))
    sums = kernels.group_by("name").agg(own_ns=own_ns, mean_ns=others_ns / other_count)
    most = sums.sort(pl.col("own_ns") - pl.col("mean_ns"), descending=True).head(1)
    for name, late_ns, mean_ns in most.iter_rows():
        if late_ns > mean_ns > 0:
            times = f"{late_ns / mean_ns:.2f} times the mean of the others"
            return f", {duration(late_ns - mean_ns)} of it {short_names([name], 60)[name]} ({times})"
    return ""


def _late_evidence(runs: MergedDiagnosis, ranks: Ranks, latest: Row) -> tuple[PlaceEvidence, ...]:
    """The meetings for which others waited longest."""
    top = ranks.meetings.filter(_is_of_gpu(latest)).sort("late_ns", "arrival_ns", descending=[True, False])
    return tuple(
        runs.evidence(
            row,
            what=f"{row['collective'] or kernel_title(row['name'] or '?')}, {_rank_text(row)} last",
            start_ns=row["start_ns"] - row["late_ns"],
            end_ns=row["start_ns"],
            time_ns=row["late_ns"],
        )
        for row in top.head(5).iter_rows(named=True)
    )


def _unequal_work(runs: MergedDiagnosis, late: Candidate | None) -> Candidate | None:
    """Ranks that run the same kernels, and compute differently long."""
    kernels_of_gpu = {
        (number, place): frozenset(names)
        for number, part in enumerate(runs.partials)
        for place, names in part.kernels.kernels.group_by("place").agg("name").iter_rows()
    }
    groups: dict[frozenset[str], list[Row]] = {}
    for gpu in runs.gpus.select(*_LANE, "rank", "pid", "computation_ns").iter_rows(named=True):
        groups.setdefault(kernels_of_gpu.get((gpu["part"], gpu["place"]), frozenset()), []).append(gpu)
    largest = max(groups.values(), key=len, default=list[Row]())
    slowest_first = sorted(largest, key=lambda gpu: -gpu["computation_ns"])
    count = len(slowest_first)
    if count < 2:
        return None
    most_ns = float(slowest_first[0]["computation_ns"])
    mean_ns = sum(float(gpu["computation_ns"]) for gpu in slowest_first) / count
    if not most_ns or (most_ns - mean_ns) / most_ns < (RULES["X3"].say or 0):
        return None
    longest = [(gpu, int(gpu["computation_ns"])) for gpu in slowest_first[:5]]
    evidence = tuple(PlaceEvidence(_rank_text(gpu), 1, time_ns, rank=gpu["rank"]) for gpu, time_ns in longest)
    return Candidate(
        rule="X3",
        value=(most_ns - mean_ns) / most_ns,
        time_ns=most_ns - mean_ns,
        cause=f"{_rank_text(slowest_first[0])} computes {duration(most_ns)}, the mean of {counted(count, 'ranks')} "
        f"with the same kernels is {duration(mean_ns)}",
        extra_ns=most_ns - mean_ns,
        within="" if late is None else late.within or "X2",
        case_count=count,
        evidence=evidence,
    )


def _services(ranks: Ranks) -> pl.DataFrame:
    """Meetings with how long they took once all ranks had arrived: `service_ns`."""
    return (
        ranks.rows.sort("arrival_ns")
        .group_by("meeting", maintain_order=True)
        .agg(
            pl.col("kind", "in_bytes", "out_bytes", "group_size", "name", "collective").first(),
            pl.col("last_ns", "over_ns").first(),
            member_count=pl.len().cast(pl.Int64),
        )
        .with_columns(service_ns=(pl.col("over_ns") - pl.col("last_ns")).clip(0))
    )


def _slow_collectives(runs: MergedDiagnosis, ranks: Ranks) -> Candidate | None:
    keys = ["kind", "name", "in_bytes", "out_bytes"]
    services = _services(ranks)
    number, median_ns = pl.int_range(pl.len()).over(keys), pl.col("service_ns").median().over(keys)
    is_slow = (median_ns > 0) & (pl.col("service_ns") > _SLOW_RATIO * median_ns) & (pl.len().over(keys) >= _CALLS_MIN)
    excess = services.with_columns(excess_ns=pl.col("service_ns") - median_ns)
    slow = excess.filter(is_slow & (number > 0))  # the first sets up channels
    excess_ns = total(slow["excess_ns"])
    if not slow.height or not runs.reaches("X4", excess_ns):
        return None
    return Candidate(
        rule="X4",
        time_ns=excess_ns,
        cause=f"{slow.height} of {counted(services.height, 'collectives')} take more than 3 times the median of their "
        f"kind and size after all ranks have arrived, {duration(excess_ns)} more altogether",
        extra_ns=excess_ns,
        within="X1",
        case_count=slow.height,
    )


def _low_bandwidth(ranks: Ranks) -> Candidate | None:
    size = pl.max_horizontal("in_bytes", "out_bytes")
    count = pl.coalesce("group_size", "member_count")
    factor = pl.when(pl.col("kind") == "all-reduce").then(2.0).otherwise(1.0) * (count - 1) / count
    is_rated = (size >= _LARGE_BYTES) & (pl.col("service_ns") > 0) & pl.col("kind").is_not_null()
    services = _services(ranks).with_columns(moved=size * factor).filter(is_rated)
    if services.height < _CALLS_MIN:
        return None
    best = max((services["moved"] / services["service_ns"]).drop_nulls().to_list(), default=0.0)
    service_ns = total(services["service_ns"])
    mean = total(services["moved"]) / service_ns
    if not best or mean / best >= (RULES["X5"].say or 0):
        return None
    return Candidate(
        rule="X5",
        value=mean / best,
        time_ns=service_ns,
        cause=f"{counted(services.height, 'collectives')} of 8 MiB or more move {mean:.0f} GB/s on average, "
        f"the best {best:.0f} GB/s",
        extra_ns=service_ns * (1 - mean / best),
        within="X1",
        case_count=services.height,
    )
