"""The rules about ranks: exposed communication, late and unequal ranks, collectives that are slow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from wavewright.analysis.run.calls.kernel_names import short_names
from wavewright.analysis.run.collectives.meetings import arrivals, clock_offsets, matched, waits_of_ranks
from wavewright.analysis.run.diagnose.ledger import Candidate
from wavewright.analysis.run.diagnose.merged_diagnosis import MergedDiagnosis
from wavewright.analysis.run.diagnose.sums import total
from wavewright.analysis.run.diagnose.work import COMMUNICATE
from wavewright.base.words import counted, duration, percent
from wavewright.facts.kernel_titles import kernel_title
from wavewright.facts.run_rules import RULES
from wavewright.model.findings import PlaceEvidence

_LANE = ["part", "place"]
_SLOW = 3.0  #: Times the median of its kind.
_LARGE_BYTES = 8 << 20
IS_TALKING = pl.col("kind") == COMMUNICATE
_MOST = 0.5


@dataclass(frozen=True)
class Ranks:
    """The collectives that ranks have in common."""

    runs: MergedDiagnosis

    @cached_property
    def rows(self) -> pl.DataFrame:
        """Collectives on all ranks with `meeting`, `arrival_ns` (on the common clock), `last_ns`, `second_ns`."""
        rows = self.runs.all("collectives")
        if not rows.height:
            return rows.with_columns(meeting=pl.lit(None, pl.UInt32), arrival_ns="start_ns", last_ns="start_ns")
        met = matched(rows.rename({"place": "gpu_place"})).rename({"gpu_place": "place"})
        offsets = clock_offsets(met)
        self.__dict__["clocks_agree"] = bool(offsets.table["is_steady"].all())
        met = arrivals(met, offsets).filter(pl.col("left_ns").is_not_null())
        lanes = pl.struct(_LANE).n_unique().over("meeting")
        return met.filter(lanes > 1).with_columns(
            last_ns=pl.col("arrival_ns").max().over("meeting"),
            second_ns=pl.col("arrival_ns").top_k(2).min().over("meeting"),
            over_ns=pl.col("left_ns").max().over("meeting"),
        )

    @cached_property
    def clocks_agree(self) -> bool:
        """True if the ranks have one clock, or theirs could be aligned."""
        _ = self.rows
        return bool(self.__dict__.get("clocks_agree", False))

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
        every = self.runs.all("collectives").group_by(_LANE).len()["len"]
        return len(counts) == self.runs.gpu_count and counts.n_unique() == 1 and every.n_unique() == 1

    @cached_property
    def exposed(self) -> pl.DataFrame:
        """Exposed time, with what is spent waiting for later ranks apart: `is_waiting`."""
        exposed = self.runs.exposed.with_columns(is_waiting=pl.lit(value=False))
        if not self.are_met:
            return exposed
        waits = self.rows.group_by(*_LANE, "segment").agg(pl.col("wait_ns").sum())
        talking = exposed.filter(IS_TALKING).join(waits, on=[*_LANE, "segment"], how="left")
        wait = pl.min_horizontal(pl.col("wait_ns").fill_null(0), "exposed_ns")
        parts = [
            talking.with_columns(exposed_ns=wait, is_waiting=pl.lit(value=True)),
            talking.with_columns(exposed_ns=pl.col("exposed_ns") - wait),
        ]
        return pl.concat([exposed.filter(~IS_TALKING), *(part.select(exposed.columns) for part in parts)])

    @cached_property
    def wait_ns(self) -> float:
        """Time that a rank waits in collectives for later ones, on average."""
        return total(waits_of_ranks(self.rows, _LANE)["wait_ns"]) / max(1, self.rank_count) if self.are_met else 0.0

    @cached_property
    def rank_count(self) -> int:
        """Ranks with collectives in common."""
        return self.rows.select(_LANE).unique().height

    @cached_property
    def meetings(self) -> pl.DataFrame:
        """Meetings with the rank that came last, and how much the others waited for it alone: `late_ns`.

        That is from the arrival before to the last, as far as another rank had nothing to compute meanwhile.
        """
        waiting = self.exposed.filter("is_waiting").group_by(*_LANE, "segment").agg(pl.col("exposed_ns").sum())
        rows = self.rows.join(waiting, on=[*_LANE, "segment"], how="left")
        most = pl.min_horizontal("wait_ns", pl.col("exposed_ns").fill_null(0)).max().over("meeting")
        late = pl.min_horizontal(pl.col("last_ns") - pl.col("second_ns"), most)
        return rows.with_columns(late_ns=late).filter("is_last").unique("meeting", keep="first", maintain_order=True)

    @cached_property
    def late(self) -> pl.DataFrame:
        """By rank: how often it is the last, and how long the others waited for it alone; the latest first."""
        sums = self.meetings.group_by(*_LANE, "rank", "pid").agg(
            pl.col("late_ns").sum(), last_count=pl.len().cast(pl.Int64)
        )
        return sums.sort("late_ns", *_LANE, descending=[True, False, False])


def rank_candidates(runs: MergedDiagnosis, ranks: Ranks) -> Iterator[tuple[str, Candidate | None]]:
    """Every rule about ranks that could be checked, with what it says, or None."""
    yield "X1", _exposed_communication(runs, ranks)
    late = _late_ranks(runs, ranks) if ranks.are_met else None
    if ranks.are_met:
        yield "X2", late
        yield "X3", _unequal_work(runs, ranks, late)
        yield "X4", _slow_collectives(runs, ranks)
        if ranks.rows["in_bytes"].count():
            yield "X5", _low_bandwidth(runs, ranks)


def _exposed_communication(runs: MergedDiagnosis, ranks: Ranks) -> Candidate | None:
    exposed, talking = runs.time("exposed_communication_ns"), runs.time("communication_ns")
    if runs.share(exposed) < (RULES["X1"].say or 0) or not talking:
        return None
    hidden = 1 - exposed / talking
    waiting = runs.mean(ranks.exposed.filter("is_waiting")["exposed_ns"])
    computed = runs.time("computation_ns")
    of_kernels = (
        f"; {percent(talking / (talking + computed))} of the time of kernels is communication"
        if talking > computed
        else ""
    )
    waits = f"; {duration(waiting)} of it is waiting for later ranks" if waiting >= 0.01 * exposed else ""
    return Candidate(
        rule="X1",
        value=runs.share(exposed),
        time_ns=exposed,
        title="Communication is not hidden behind computation",
        cause=f"{duration(exposed)} of {duration(talking)} communication per GPU is exposed "
        f"({percent(runs.share(exposed))} of the time), {percent(hidden)} is hidden{of_kernels}{waits}",
        takes=IS_TALKING,
        evidence=runs.exposed_evidence(is_copy=False),
        case_count=int(runs.exposed.filter(IS_TALKING).height),
    )


def _late_ranks(runs: MergedDiagnosis, ranks: Ranks) -> Candidate | None:
    if runs.share(ranks.wait_ns) < (RULES["X2"].say or 0):
        return None
    first = ranks.late.row(0, named=True)
    who = _who(first)
    meetings = ranks.rows["meeting"].n_unique()
    all_late = total(ranks.late["late_ns"])
    is_straggler = first["late_ns"] >= _MOST * all_late and all_late > 0
    waiting = runs.mean(ranks.exposed.filter("is_waiting")["exposed_ns"])
    moving = runs.mean(ranks.exposed.filter(IS_TALKING & ~pl.col("is_waiting"))["exposed_ns"])
    bound = late_bound(runs, first) if is_straggler else waiting
    parts = [f"a rank waits {duration(ranks.wait_ns)} on average in collectives for those that arrive later"]
    parts.append(
        f"{who} arrives last in {first['last_count']:,} of {meetings:,}, "
        f"and the others wait {duration(first['late_ns'])} for it alone"
    )
    why = _why_late(runs, ranks, first)
    is_it = _lane_of(first)
    title = f"{who[:1].upper() + who[1:]} is late" if is_straggler else "Ranks arrive late in collectives"
    return Candidate(
        rule="X2",
        value=runs.share(ranks.wait_ns),
        time_ns=ranks.wait_ns,
        title=title,
        cause="; ".join([*parts, *([why] if why else [])]),
        takes=IS_TALKING & ~is_it if is_straggler else pl.col("is_waiting"),
        fixed_ns=bound,
        evidence=_late_evidence(runs, ranks, first),
        case_count=meetings,
        within="" if bound > moving else "X1",
        confidence="high" if ranks.runs.gpus["machine"].n_unique() == 1 else "medium",
        confidence_reason="all ranks have one clock"
        if ranks.runs.gpus["machine"].n_unique() == 1
        else "clocks of nodes are aligned by the ends of collectives",
    )


def late_bound(runs: MergedDiagnosis, late: dict[str, object]) -> float:
    """At most so much shorter if a rank were on time: how long others wait for it alone, or how much more it does."""
    return max(float(late["late_ns"]), _longer(runs, late))  # type: ignore[arg-type]


def _longer(runs: MergedDiagnosis, first: dict[str, object]) -> float:
    """By how much the time of the late rank without waiting for others exceeds that of the fastest."""
    waits = runs.cells.filter(pl.col("cause").is_in(["queued", "stream"])).group_by(_LANE).agg(pl.col("idle_ns").sum())
    exposed = runs.exposed.filter(IS_TALKING).group_by(_LANE).agg(pl.col("exposed_ns").sum())
    lanes = runs.gpus.select(*_LANE, window=pl.col("to_ns") - pl.col("from_ns"), edge="edge_ns")
    lanes = lanes.join(waits, on=_LANE, how="left").join(exposed, on=_LANE, how="left").fill_null(0)
    times = lanes.with_columns(busy=pl.col("window") - pl.col("edge") - pl.col("exposed_ns"))
    is_it = _lane_of(first)
    others = times.filter(~is_it)
    if not others.height:
        return 0.0
    return max(0.0, total(times.filter(is_it)["busy"]) - float((others["busy"] - others["idle_ns"]).min()))  # type: ignore[arg-type]


def _lane_of(row: dict[str, object]) -> pl.Expr:
    """True if a row is about the same GPU of the same run."""
    return pl.col("part").eq(row["part"]) & pl.col("place").eq(row["place"])


def _who(row: dict[str, object]) -> str:
    return f"rank {row['rank']}" if row["rank"] is not None else f"process {row['pid']}"


def _why_late(runs: MergedDiagnosis, ranks: Ranks, first: dict[str, object]) -> str:
    """Work that the late rank does more than the others before the collectives in which it is the last."""
    is_it = _lane_of(first)
    meetings = ranks.rows.filter(is_it & pl.col("is_last"))["meeting"]
    before = ranks.rows.filter(pl.col("meeting").is_in(meetings.implode())).select(*_LANE, "segment")
    idle = runs.cells.join(before, on=[*_LANE, "segment"], how="semi")
    others = max(1, ranks.rank_count - 1)
    more = (
        idle.group_by("cause")
        .agg(more_ns=pl.col("idle_ns").filter(is_it).sum() - pl.col("idle_ns").filter(~is_it).sum() / others)
        .sort("more_ns", "cause", descending=[True, False])
    )
    waited = max(0.0, total(more["more_ns"]))
    late = float(first["late_ns"])  # type: ignore[arg-type]
    if waited >= _MOST * late and more.height:
        cause, length = more.row(0)
        most = f"{duration(length)} of it {_WORDS.get(cause, cause)}"
        return f"before, its GPU idles {duration(waited)} more than the others, {most}"
    kernel = _slower_kernel(runs, first)
    computed = total(runs.gpus.filter(is_it)["computation_ns"])
    computed -= total(runs.gpus.filter(~is_it)["computation_ns"]) / others
    if computed >= _MOST * late:
        return f"its kernels take {duration(computed)} longer than those of the others{kernel}"
    return f"before, its GPU idles {duration(waited)} more than the others" if waited > 0 else ""


_WORDS = {"host code": "in host code", "data loader": "in the data loader", "synchronisation": "in synchronisation"}


def _slower_kernel(runs: MergedDiagnosis, first: dict[str, object]) -> str:
    """The kernel that takes most of the difference."""
    rows = pl.concat(
        part.kernels.kernels.select(pl.lit(number, pl.UInt32).alias("part"), "place", "name", "total_ns")
        for number, part in enumerate(runs.partials)
    )
    is_it = _lane_of(first)
    others = max(1, runs.gpu_count - 1)
    sums = rows.group_by("name").agg(
        here=pl.col("total_ns").filter(is_it).sum(), there=pl.col("total_ns").filter(~is_it).sum() / others
    )
    most = sums.with_columns(more=pl.col("here") - pl.col("there")).sort("more", descending=True).head(1)
    if not most.height or most["more"][0] <= 0 or not most["there"][0]:
        return ""
    name = short_names(most["name"], 60)[most["name"][0]]
    times = most["here"][0] / most["there"][0]
    return f", {duration(most['more'][0])} of it {name} ({times:.2f} times the mean of the others)"


def _late_evidence(runs: MergedDiagnosis, ranks: Ranks, first: dict[str, object]) -> tuple[PlaceEvidence, ...]:
    """The meetings for which others waited longest."""
    is_it = _lane_of(first)
    top = ranks.meetings.filter(is_it).sort("late_ns", "arrival_ns", descending=[True, False]).head(5)
    return tuple(
        runs.evidence(
            row,
            what=f"{row['collective'] or kernel_title(row['name'] or '?')}, {_who(row)} last",
            start_ns=row["start_ns"] - row["late_ns"],
            end_ns=row["start_ns"],
            time_ns=row["late_ns"],
        )
        for row in top.iter_rows(named=True)
    )


def _unequal_work(runs: MergedDiagnosis, ranks: Ranks, late: Candidate | None) -> Candidate | None:
    """Computation of ranks that run the same kernels."""
    prints = {
        (number, place): hash(frozenset(names))
        for number, part in enumerate(runs.partials)
        for place, names in part.kernels.kernels.group_by("place").agg("name").iter_rows()
    }
    lanes = runs.gpus.select("part", "place", "rank", "pid", "computation_ns").rows(named=True)
    groups: dict[int, list[dict[str, object]]] = {}
    for lane in lanes:
        groups.setdefault(prints.get((lane["part"], lane["place"]), 0), []).append(lane)
    largest = max(groups.values(), key=len, default=[])
    if len(largest) < 2:
        return None
    times = [float(lane["computation_ns"]) for lane in largest]  # type: ignore[arg-type]
    most, mean = max(times), sum(times) / len(times)
    if not most or (most - mean) / most < (RULES["X3"].say or 0):
        return None
    slowest = largest[times.index(most)]
    return Candidate(
        rule="X3",
        value=(most - mean) / most,
        time_ns=most - mean,
        title="Ranks have unequal work",
        cause=f"{_who(slowest)} computes {duration(most)}, the mean of {counted(len(times), 'ranks')} with the same "
        "kernels "
        f"is {duration(mean)}",
        extra_ns=most - mean,
        within="" if late is None else "X2" if not late.within else late.within,
        case_count=len(times),
        evidence=tuple(
            PlaceEvidence(_who(lane), 1, int(lane["computation_ns"]), rank=lane["rank"])  # type: ignore[call-overload,arg-type]
            for lane in sorted(largest, key=lambda lane: -float(lane["computation_ns"]))[:5]  # type: ignore[arg-type]
        ),
    )


def _services(ranks: Ranks) -> pl.DataFrame:
    """Meetings with how long they took once all had arrived: `service_ns`."""
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
    rows = _services(ranks).with_columns(
        number=pl.int_range(pl.len()).over(keys),
        median=pl.col("service_ns").median().over(keys),
        calls=pl.len().over(keys),
    )
    slow = rows.filter(
        pl.col("number") > 0,
        pl.col("calls") >= 5,
        pl.col("service_ns") > _SLOW * pl.col("median"),
        pl.col("median") > 0,
    ).with_columns(more=pl.col("service_ns") - pl.col("median"))
    excess = float(slow["more"].sum())
    if runs.share(excess) < (RULES["X4"].say or 0) or not slow.height:
        return None
    return Candidate(
        rule="X4",
        value=runs.share(excess),
        time_ns=excess,
        title="Some collectives are far slower than their kind",
        cause=f"{slow.height} of {counted(rows.height, 'collectives')} take more than 3 times the median of their kind "
        "and "
        f"size after all ranks have arrived, {duration(excess)} more altogether",
        extra_ns=excess,
        within="X1",
        case_count=slow.height,
    )


def _low_bandwidth(runs: MergedDiagnosis, ranks: Ranks) -> Candidate | None:
    size = pl.max_horizontal("in_bytes", "out_bytes")
    count = pl.coalesce("group_size", "member_count")
    factor = pl.when(pl.col("kind") == "all-reduce").then(2.0).otherwise(1.0) * (count - 1) / count
    rows = (
        _services(ranks)
        .with_columns(moved=size * factor)
        .filter(size >= _LARGE_BYTES, pl.col("service_ns") > 0, pl.col("kind").is_not_null())
    )
    if rows.height < 5:
        return None
    rates = rows["moved"] / rows["service_ns"]
    best = float(rates.max() or 0)  # type: ignore[arg-type]
    mean = total(rows["moved"]) / total(rows["service_ns"])
    if not best or mean / best >= (RULES["X5"].say or 0):
        return None
    return Candidate(
        rule="X5",
        value=mean / best,
        time_ns=float(rows["service_ns"].sum()),
        title="Collectives stay below the best bandwidth of this run",
        cause=f"{counted(rows.height, 'collectives')} of 8 MiB or more move {mean:.0f} GB/s on average, "
        f"the best {best:.0f} GB/s",
        extra_ns=float(rows["service_ns"].sum()) * (1 - mean / best),
        within="X1",
        case_count=rows.height,
        confidence="low",
        confidence_reason="the bandwidth of the link is not recorded: the best collective stands for it",
    )
