"""Meetings: which calls of ranks are the same collective, and the offsets of clocks that follow from their ends.

Input are rows of `collective_rows`, one per kernel of a collective. `matched` finds the meetings, `clock_offsets` the
offsets, and `arrivals` who came last to each meeting and how long the others waited.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.collectives.collectives import (
    CALL_TABLE,
    KINDS_WITH_UNEQUAL_SIZES,
    POINT_TO_POINT,
    SYNCHRONIZING,
    collective_calls,
    described,
)
from wavewright.analysis.run.measures.intervals import FARTHEST_NS, covered, intervals
from wavewright.analysis.run.select.identities import processes_of
from wavewright.facts.loader import packaged
from wavewright.model.run import Run
from wavewright.model.schema import empty_frame, packaged_spec

ROWS = packaged_spec(__package__, "rows")
_MEMBER = ("part", "process", "agent")  #: What takes part in a meeting: a GPU of a process of a run.
#: Why a row belongs to no meeting -> `sentence` and `advice` of its caveat.
MISMATCHES = packaged("mismatches.toml", __package__)
#: Calls on one clock are not the same collective if one of them starts later than this after another has ended.
_APART_NS = 100_000
_EXTRA_CALLS_MAX = 256  #: Ranks are matched by time only if one has at most this many more calls than the other.
#: Clocks count as aligned if residual and drift are at most this: ends of one collective differ by microseconds.
ALIGNED_NS = 100_000
#: Identity of a clock: the host where its name is recorded, else the recording.
_CLOCK = pl.coalesce(pl.when(pl.col("host") != "").then("host"), "run", pl.lit(""))
_NAME = ("name", "collective", "group")
_IDENTITY = (*_NAME, "in_key", "out_key")
_IS_NUMBERED = pl.col("group").is_not_null() & pl.col("sequence").is_not_null()
#: All ranks end a synchronizing collective together; collectives of unknown kind are taken for such.
_ENDS_TOGETHER = pl.col("kind").is_null() | pl.col("kind").is_in(SYNCHRONIZING)
#: Columns whose values calls of one collective have in common, and the rows that are matched by them.
_KEYS = ((("group", "sequence", "kind"), _IS_NUMBERED), (_IDENTITY, ~_IS_NUMBERED))


def collective_rows(run: Run) -> pl.DataFrame:
    """One row per dispatch of a collective: the columns of `ROWS`, sorted by process and time.

    Dispatches without possible times, or of no process, are left out.
    """
    pieces, first = [empty_frame(CALL_TABLE).with_row_index("row")], 0
    for piece in run.chunks("dispatches", CALL_TABLE.names):
        pieces.append(collective_calls(piece.with_row_index("row", offset=first)))
        first += piece.height
    is_possible = pl.col("start_ns").is_between(-FARTHEST_NS, FARTHEST_NS) & pl.col("process").is_not_null()
    calls = pl.concat(pieces).filter(is_possible)
    rows = described(run, calls).join(processes_of(run), on="process", how="left", maintain_order="left")
    return rows.select(ROWS.casts).sort("process", "start_ns", "end_ns", "row", nulls_last=True)


def matched(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of all runs (with `part`, the number of the run) with `meeting` and `mismatch`.

    Rows with the same number in `meeting` are one collective on its ranks; null = it has no certain partner, and
    `mismatch` says why, as a key of `MISMATCHES`. A collective is known by its group and sequence number where both
    are recorded, else as the n-th call of the same collective, group and size, else as the n-th call of the kernel.
    """
    order = ["rank", "host", "run", "pid", *_MEMBER, "start_ns", "end_ns", "row"]
    rows = rows.with_columns(pl.col("part").cast(pl.UInt32)).sort(*order, nulls_last=True).with_row_index("place")
    has_one_size = ~pl.col("kind").is_in(KINDS_WITH_UNEQUAL_SIZES)
    sizes = {f"{way}_key": pl.when(has_one_size).then(f"{way}_bytes") for way in ("in", "out")}
    rows = rows.with_columns(member=pl.struct(_MEMBER).rank("dense"), **sizes)
    is_pair = (pl.col("kind") == POINT_TO_POINT) & pl.col("collective").is_not_null()
    reason = pl.when(_is_double(rows)).then(pl.lit("twice")).when(is_pair).then(pl.lit("point to point"))
    rows = rows.with_columns(mismatch=reason)
    open_rows = rows.filter(pl.col("mismatch").is_null())
    chosen = [_numbered(open_rows.filter(applies), keys) for keys, applies in _KEYS]
    chosen.extend(_by_time(open_rows.join(pl.concat(chosen), on="place", how="anti", maintain_order="left")))
    keyed = _checked(rows.join(_united(chosen), on="place", how="left", maintain_order="left"))
    is_on_others = pl.len().over(_NAME) > pl.len().over("member", *_NAME)
    why = pl.when(is_on_others).then(pl.lit("counts")).otherwise(pl.lit("alone"))
    mismatch = pl.when(pl.col("meeting").is_null()).then(pl.coalesce("mismatch", why))
    return keyed.with_columns(mismatch=mismatch).drop("place", "member", "in_key", "out_key")


def _is_double(rows: pl.DataFrame) -> pl.Expr:
    """True for rows of a process whose rank (without ranks: pid) an earlier process has: it was given twice."""
    process, has_rank = pl.struct("part", "process"), pl.col("rank").is_not_null()
    is_second_of_rank = process != process.first().over("host", "rank")
    is_second_of_pid = process != process.first().over("rank", "host", "pid", "run")
    return (has_rank & is_second_of_rank) | (~has_rank & pl.col("run").is_not_null() & is_second_of_pid)


def _numbered(rows: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """`place`, `key`, `number` of the n-th calls with equal `keys`, where all members of the group have as many."""
    calls = rows.group_by(*keys, "member").agg(calls=pl.len())
    groups = calls.group_by(keys).agg(members=pl.len(), is_even=pl.col("calls").n_unique() == 1)
    sizes = rows.filter(pl.col("group").is_not_null()).group_by("group").agg(all_members=pl.col("member").n_unique())
    # With a sequence number some members are enough: it tells which of the calls of the others they belong to.
    needed = pl.col("members") if "sequence" in keys else pl.coalesce("all_members", "members")
    even = groups.join(sizes, on="group", how="left").filter("is_even", pl.col("members") > 1)
    accepted = even.filter(pl.col("members") == needed).select(keys)
    accepted = accepted.sort(keys, nulls_last=True).with_row_index("key")
    together = rows.join(accepted, on=keys, nulls_equal=True, maintain_order="left")
    # Numbered by their ends, because all ranks end a collective together: where several run at the same time, ranks may
    # start them in another order.
    number = pl.col("end_ns").rank("ordinal").over("key", "member").cast(pl.Int64) - 1
    return together.select("place", "key", number=number)


def _by_time(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """`place`, `key`, `number` of collectives that ranks call differently often, on one clock.

    They are matched by time, where there is only one way in which all calls of the rank with fewest overlap the others.
    """
    for key, (_, group) in enumerate(rows.filter(~_IS_NUMBERED).group_by(_IDENTITY, maintain_order=True)):
        members = group.partition_by("member", maintain_order=True)
        if len(members) < 2 or group.select(_CLOCK.n_unique()).item() != 1:
            continue
        fewest = min(members, key=lambda member: member.height)
        shifted = [_fitting(fewest, member) for member in members]
        fitting = [calls for calls in shifted if calls is not None]
        if len(fitting) > 1:
            key_and_number = {"key": pl.lit(key, pl.UInt32), "number": pl.int_range(pl.len())}
            yield pl.concat(calls.select("place", **key_and_number) for calls in fitting)


def _fitting(fewest: pl.DataFrame, member: pl.DataFrame) -> pl.DataFrame | None:
    """Consecutive calls of a member that overlap those of `fewest` one by one; None = none do, or in several ways."""
    count, extra_count = fewest.height, member.height - fewest.height
    if extra_count > _EXTRA_CALLS_MAX:
        return None
    fitting = []
    for shift in range(extra_count + 1):
        calls = member.slice(shift, count)
        latest = pl.select(pl.max_horizontal(calls["start_ns"], fewest["start_ns"])).to_series()
        earliest = pl.select(pl.min_horizontal(calls["end_ns"], fewest["end_ns"])).to_series()
        if (latest <= earliest).all():
            fitting.append(calls)
    return fitting[0] if len(fitting) == 1 else None


def _united(chosen: list[pl.DataFrame]) -> pl.DataFrame:
    """`place` with `meeting`, one number per collective: for each place in `chosen`, key and number there."""
    key, number = pl.col("key").cast(pl.UInt32), pl.col("number").cast(pl.Int64)
    numbered = ((frame, pl.lit(index, pl.Int32)) for index, frame in enumerate(chosen))
    calls = pl.concat(frame.select("place", key, number, frame=index) for frame, index in numbered)
    return calls.select("place", meeting=pl.struct("frame", "key", "number").rank("dense").cast(pl.UInt32) - 1)


def _checked(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with impossible meetings undone: apart in time on one clock, or of more ranks than the group has."""
    is_crowd = (pl.len() > pl.col("group_size").max()).over("meeting")
    apart = (pl.col("start_ns").max() - pl.col("end_ns").min() > _APART_NS) & (_CLOCK.n_unique() == 1)
    is_apart = apart.over("meeting") & pl.col("kind").is_in(SYNCHRONIZING)
    is_met = pl.col("meeting").is_not_null()
    crowd = pl.when(is_met & is_crowd.fill_null(value=False)).then(pl.lit("crowd"))
    reason = crowd.when(is_met & is_apart.fill_null(value=False)).then(pl.lit("apart"))
    rows = rows.with_columns(mismatch=pl.coalesce("mismatch", reason))
    rows = rows.with_columns(meeting=pl.when(pl.col("mismatch").is_null()).then("meeting"))
    first = pl.col("start_ns").first().over("meeting")  # of the lowest rank: one clock as far as possible
    numbers = pl.struct(first, "meeting").rank("dense").cast(pl.UInt32) - 1
    renumbered = rows.filter(pl.col("meeting").is_not_null()).select("place", numbers.alias("meeting"))
    return rows.drop("meeting").join(renumbered, on="place", how="left", maintain_order="left")


@dataclass(frozen=True, eq=False, repr=False)
class ClockOffsets:
    """Offsets of the clocks of processes from that of the reference."""

    #: `part`, `process`, `clock` (host or recording), `offset_ns` (added to its times gives those of the reference;
    #: null = no meeting tells), `residual_ns` (median distance of ends from the fit), `drift_ns` (offset of the last
    #: third of the meetings minus that of the first), `meeting_count`, `is_steady` (residual and drift are small).
    table: pl.DataFrame
    reference: str | None  #: The clock with offset 0; None = no collective.

    @property
    def is_one_clock(self) -> bool:
        """True if all processes share a clock."""
        return self.table["clock"].n_unique() <= 1


def clock_offsets(rows: pl.DataFrame) -> ClockOffsets:
    """Offsets of clocks from the ends of meetings: no rank ends one before the last rank has started it.

    The offset of a clock is the median over its meetings of the difference of ends to clocks that are fitted already;
    the clock of most meetings is the reference. Only synchronizing collectives count, which all ranks end together.
    """
    rows = rows.with_columns(clock=_CLOCK)
    met = rows.filter(pl.col("meeting").is_not_null() & _ENDS_TOGETHER)
    ends = met.group_by("clock", "meeting").agg(_middle(pl.col("end_ns")))
    counts = rows.join(ends.group_by("clock").len(), on="clock", how="left").select("clock", pl.col("len").fill_null(0))
    clocks = counts.unique().sort("len", "clock", descending=[True, False])["clock"].to_list()
    fitted = _fits(ends, clocks[:1])
    processes = rows.select("part", "process", "clock").unique().sort("part", "process")
    table = processes.join(fitted, on="clock", how="left", maintain_order="left")
    table = table.with_columns(pl.col("meeting_count").fill_null(0), pl.col("is_steady").fill_null(value=False))
    return ClockOffsets(table, clocks[0] if clocks else None)


def _middle(values: pl.Expr) -> pl.Expr:
    """The median, the lower of two, as an integer: times since 1970 do not fit into a double."""
    return values.sort().get((values.len() - 1) // 2)


_FIT = packaged_spec(__package__, "clock_fits")


def _fits(ends: pl.DataFrame, first: list[str]) -> pl.DataFrame:
    """One row (columns: `_FIT`) per clock that shares meetings with the first one, directly or through others."""
    count = ends.filter(pl.col("clock").is_in(first)).height
    fitted = pl.DataFrame([(clock, 0, 0, 0, count, True) for clock in first], schema=_FIT.dtypes, orient="row")
    while True:
        aligned = ends.join(fitted.select("clock", "offset_ns"), on="clock")
        common = aligned.group_by("meeting").agg(reference_ns=_middle(pl.col("end_ns") + pl.col("offset_ns")))
        others = ends.join(fitted, on="clock", how="anti").join(common, on="meeting").sort("clock", "end_ns")
        if not others.height:
            return fitted
        difference = pl.col("reference_ns") - pl.col("end_ns")
        third = (pl.len() // 3).clip(lower_bound=1)
        offset = pl.col("difference_ns")
        drift = _middle(offset.tail(third)) - _middle(offset.head(third))
        new = (
            others.with_columns(difference_ns=difference)
            .group_by("clock", maintain_order=True)
            .agg(
                offset_ns=_middle(offset),
                residual_ns=_middle((offset - _middle(offset)).abs()),
                drift_ns=drift,
                meeting_count=pl.len().cast(pl.Int64),
            )
            .with_columns(is_steady=(pl.col("residual_ns") <= ALIGNED_NS) & (pl.col("drift_ns").abs() <= ALIGNED_NS))
        )
        fitted = pl.concat([fitted, new.select(_FIT.names)])


#: How the last rank of a meeting is known: by start times on one clock, or on clocks that were aligned; else by the
#: shortest call, where all ranks end together; else not at all.
RULES = ("start", "aligned", "duration", "unknown")


def arrivals(rows: pl.DataFrame, offsets: ClockOffsets) -> pl.DataFrame:
    """The rows of meetings with `rule` (of `RULES`), `arrival_ns`, `left_ns`, `lag_ns`, `wait_ns` and `is_last`.

    `arrival_ns` can be compared within a meeting only. `lag_ns` is the latest arrival minus that of the row, `wait_ns`
    the part of it that the call of the row lasts: who leaves a broadcast early waits no longer. Both are null where
    the rule is unknown; `left_ns` (the end on a common clock) is null where there is none.
    """
    clocks = offsets.table.select("part", "process", "clock", "offset_ns", "is_steady")
    met = rows.filter(pl.col("meeting").is_not_null())
    met = met.join(clocks, on=["part", "process"], how="left", maintain_order="left")
    is_one = pl.col("clock").n_unique().over("meeting") == 1
    is_aligned = pl.col("is_steady").all().over("meeting")
    rule = pl.when(is_one).then(0).when(is_aligned).then(1).when(_ENDS_TOGETHER).then(2).otherwise(3)
    met = met.with_columns(rule=rule.replace_strict(dict(enumerate(RULES)), return_dtype=pl.String))
    duration = pl.col("end_ns") - pl.col("start_ns")
    shift = pl.when(is_one).then(0).otherwise("offset_ns")
    has_clock = pl.col("rule").is_in(RULES[:2])
    arrival = pl.when(has_clock).then(pl.col("start_ns") + shift).when(pl.col("rule") == "duration").then(-duration)
    met = met.with_columns(arrival_ns=arrival, left_ns=pl.when(has_clock).then(pl.col("end_ns") + shift))
    met = met.with_columns(lag_ns=pl.col("arrival_ns").max().over("meeting") - pl.col("arrival_ns"))
    is_last = (pl.col("lag_ns") == 0) & ((pl.col("lag_ns") == 0).cum_sum().over("meeting") == 1)
    wait = pl.when(pl.col("lag_ns").is_not_null()).then(pl.min_horizontal("lag_ns", duration).clip(0))
    met = met.with_columns(wait_ns=wait, is_last=is_last.fill_null(value=False))
    return met.drop("clock", "offset_ns", "is_steady")


def waits_of_ranks(calls: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The time that each rank waits for later ones, of `arrivals`: columns `by` and `wait_ns`.

    Two collectives in which a GPU waits at the same time count once: no rank waits longer than it communicates.
    """
    gpus = list(dict.fromkeys([*by, "agent"]))
    waits = calls.filter(pl.col("wait_ns") > 0).with_columns(end_ns=pl.col("start_ns") + pl.col("wait_ns"))
    once = covered(intervals(waits.select(*gpus, "start_ns", "end_ns"), gpus), gpus)
    return once.group_by(by, maintain_order=True).agg(wait_ns=pl.col("covered_ns").sum())
