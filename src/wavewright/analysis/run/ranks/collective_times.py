"""Collectives: their time and bandwidth, who waits in them, and what made the last rank late."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.run.collectives.apparent import apparent_collectives, link_peak
from wavewright.analysis.run.collectives.collectives import bus_factor
from wavewright.analysis.run.collectives.logged_calls import LOGGED, logged_calls
from wavewright.analysis.run.collectives.meetings import (
    MISMATCHES,
    ROWS,
    ClockOffsets,
    arrivals,
    clock_offsets,
    collective_rows,
    matched,
    waits_of_ranks,
)
from wavewright.analysis.run.collectives.records import (
    collective_records,
    logged_collectives,
    no_records,
    unequal_ranks,
)
from wavewright.analysis.run.gpu_time.process_time import KINDS, ProcessTime
from wavewright.analysis.run.ranks.stragglers import causes_of_ranks, stragglers
from wavewright.analysis.run.select.identities import PROCESS
from wavewright.base.words import counted
from wavewright.model.answer import Answer
from wavewright.model.run import Run

#: The most calls of one collective by one process that are matched: partial results of thousands of ranks stay small.
MOST_CALLS = 16_384
_DURATION = pl.col("end_ns") - pl.col("start_ns")


@dataclass(frozen=True, eq=False, repr=False)
class PartialCollectives:
    """The contribution of one run."""

    rows: pl.DataFrame  #: `collective_rows` with the time of each of `KINDS` that its process spent before the call.
    left_out: int  #: Calls beyond `MOST_CALLS`.
    link_bytes_per_second: float | None = None  #: Peak of the links of its GPUs; None = not known.
    records: pl.DataFrame = field(default_factory=no_records)  #: Calls in logs of RCCL and of the flight recorder.


@dataclass(frozen=True, eq=False)
class Collectives(Answer, package=__package__):
    """Collectives over ranks."""

    collectives: pl.DataFrame
    calls: pl.DataFrame
    alone: pl.DataFrame
    logged: pl.DataFrame
    unequal: pl.DataFrame
    arrivals: pl.DataFrame
    processes: pl.DataFrame
    stragglers: pl.DataFrame
    causes: pl.DataFrame
    caveats: tuple[Caveat, ...]


def partial_collectives(run: Run) -> PartialCollectives:
    """The contribution of one run."""
    rows = collective_rows(run)
    part = with_times(rows, ProcessTime(run)) if rows.height else PartialCollectives(pl.DataFrame(schema=_TIMED), 0)
    return replace(part, link_bytes_per_second=link_peak(run), records=collective_records(run))


def with_times(rows: pl.DataFrame, time: ProcessTime) -> PartialCollectives:
    """The rows of `collective_rows`, up to `MOST_CALLS` of each collective, with the columns of `_TIMED`."""
    number = pl.int_range(pl.len()).over("process", "agent", "name", "collective", "group")
    first_calls = rows.filter(number < MOST_CALLS)
    spans = time.spans.select("process", "is_launch_known", work_start_ns="start_ns")
    before = time.before(first_calls.select("process", time_ns="start_ns"))
    timed = first_calls.hstack(before).join(spans, on="process", how="left", maintain_order="left")
    return PartialCollectives(timed, rows.height - first_calls.height)


def combine_collectives(partials: Sequence[PartialCollectives]) -> Collectives:
    """The combined result of all runs."""
    records = pl.concat([part.records for part in partials] or [no_records()])
    meetings = Meetings.of(partials)
    call_values, notes = logged_calls(meetings.rows, records)
    answer = meetings.with_logged(call_values).answer()
    caveats = (*answer.caveats, *_missing_logs(records), *notes)
    return replace(answer, logged=logged_collectives(records), unequal=unequal_ranks(records), caveats=caveats)


def _missing_logs(records: pl.DataFrame) -> Iterator[Caveat]:
    groups = records.drop_nulls("group").group_by("group").agg(pl.col("rank").n_unique(), pl.col("group_size").max())
    short = groups.filter(pl.col("group_size") > pl.col("rank")).sort("rank", "group")
    if short.height:
        name, present, size = short.row(0)
        sentence = f"of {counted(short.height, 'groups')} not all ranks have a log: {present} of {size} of {name}"
        yield Caveat("logs_missing", "care", sentence, "give those of all ranks: the late may be one that is missing")


def collectives(run: Run) -> Collectives:
    """Collectives of a run: bandwidths, waits, late ranks."""
    return combine_collectives([partial_collectives(part) for part in run.parts])


_TIMED = ROWS.dtypes | dict.fromkeys(KINDS, pl.Int64) | {"is_launch_known": pl.Boolean, "work_start_ns": pl.Int64}
_KEY = ("kind", "collective", "group", "name", "size_bytes")


@dataclass(frozen=True, eq=False, repr=False)
class Meetings:
    """Matched collectives of all runs, and what follows from them."""

    rows: pl.DataFrame  #: All calls: the columns of `_TIMED`, and those that `matched` adds (`meeting`, `mismatch`).
    arrivals: pl.DataFrame  #: The calls that belong to a meeting, with the columns that `arrivals` adds.
    offsets: ClockOffsets
    left_out: int

    @classmethod
    def of(cls, partials: Sequence[PartialCollectives]) -> Meetings:
        """The matched collectives of all runs."""
        empty = pl.DataFrame(schema=_TIMED | {"part": pl.UInt32})
        parts = [part.rows.with_columns(part=pl.lit(n, pl.UInt32)) for n, part in enumerate(partials)]
        rows = matched(pl.concat([empty, *parts]))
        offsets = clock_offsets(rows)
        size = pl.when(pl.col("kind") == "all-gather").then("out_bytes").otherwise(pl.coalesce("in_bytes", "out_bytes"))
        peaks = [part.link_bytes_per_second for part in partials]
        peak = pl.col("part").replace_strict(range(len(peaks)), peaks, default=None, return_dtype=pl.Float64)
        rows = rows.with_columns(size_bytes=size, link_bytes_per_second=peak)
        arrived = arrivals(rows, offsets).with_columns(pl.col("size_bytes").max().over("meeting"))
        return cls(rows, arrived, offsets, sum(part.left_out for part in partials))

    def with_logged(self, logged: pl.DataFrame) -> Meetings:
        """The same meetings with the names and sizes of kernels that a log tells (`logged_calls`)."""
        if not logged.height:
            return self
        key = ["part", "process", "row"]

        def filled(rows: pl.DataFrame) -> pl.DataFrame:
            both = rows.join(logged, on=key, how="left", suffix="_logged", maintain_order="left")
            return both.with_columns(pl.coalesce(name, f"{name}_logged") for name in LOGGED).select(rows.columns)

        return replace(self, rows=filled(self.rows), arrivals=filled(self.arrivals))

    def answer(self) -> Collectives:
        """The tables of the result."""
        tables = Collectives.tables
        calls = self.calls()
        late = stragglers(self.arrivals)
        return Collectives(
            collectives=self._collectives(calls).select(tables["collectives"].names),
            calls=calls.select(tables["calls"].names),
            alone=apparent_collectives(self.rows).select(tables["alone"].names),
            logged=logged_collectives(no_records()),
            unequal=unequal_ranks(no_records()),
            arrivals=self.arrivals.sort("meeting", "rank", *PROCESS, nulls_last=True)
            .with_columns(duration_ns=_DURATION)
            .select(tables["arrivals"].names),
            processes=self.processes().select(tables["processes"].names),
            stragglers=late.select(tables["stragglers"].names),
            causes=causes_of_ranks(late).select(tables["causes"].names),
            caveats=tuple(self.caveats()),
        )

    def calls(self) -> pl.DataFrame:
        """One row per meeting, in the order of time."""
        is_last = pl.col("is_last")
        is_on_clock = pl.col("rule").first() != "duration"
        meetings = self.arrivals.group_by("meeting").agg(
            pl.col(*_KEY, "rule").first(),
            pl.col("group_size").max(),
            process_count=pl.len().cast(pl.Int64),
            start_ns=pl.coalesce(pl.when(is_on_clock).then(pl.col("arrival_ns").min()), pl.col("start_ns").first()),
            communication_ns=_DURATION.min(),
            wait_ns=pl.col("wait_ns").mean(),
            wait_max_ns=pl.col("wait_ns").max(),
            start_skew_ns=pl.col("lag_ns").max(),
            end_skew_ns=pl.col("left_ns").max() - pl.col("left_ns").min(),
            **{name: pl.col(name).filter(is_last).first() for name in PROCESS},
        )
        rate = pl.when(pl.col("communication_ns") > 0).then(pl.col("size_bytes") / pl.col("communication_ns") * 1e9)
        return (
            meetings.with_columns(algorithm_bytes_per_second=rate)
            .with_columns(bus_bytes_per_second=_bus())
            .sort("meeting")
        )

    def _collectives(self, calls: pl.DataFrame) -> pl.DataFrame:
        """One row per collective of a group and size; where none of its calls met, numbers of its unmatched calls."""
        keys = [*_KEY, "group_size"]
        sums = calls.group_by(keys).agg(
            pl.col("process_count").max(),
            pl.col("communication_ns").sum(),
            pl.col("wait_ns").sum(),
            calls=pl.len().cast(pl.Int64),
            communication_median_ns=pl.col("communication_ns").median(),
            start_skew_ns=pl.col("start_skew_ns").mean(),
            start_skew_max_ns=pl.col("start_skew_ns").max(),
            end_skew_ns=pl.col("end_skew_ns").mean(),
            rule=pl.col("rule").mode().sort().first(),
            known_wait_count=pl.col("wait_ns").count(),
        )
        unmatched = (
            self.rows.filter(pl.col("meeting").is_null())
            .group_by(keys)
            .agg(
                unmatched_count=pl.len().cast(pl.Int64),
                alone_process_count=pl.struct("part", "process").n_unique().cast(pl.Int64),
                alone_communication_ns=_DURATION.sum(),
                alone_communication_median_ns=_DURATION.median(),
            )
        )
        is_alone = pl.col("calls").is_null()
        total = pl.col("size_bytes") * pl.col("calls")
        rate = pl.when(pl.col("communication_ns") > 0).then(total / pl.col("communication_ns") * 1e9)
        return (
            sums.join(most_often_last(calls, keys), on=keys, how="left", nulls_equal=True)
            .join(unmatched, on=keys, how="full", nulls_equal=True, coalesce=True)
            .with_columns(
                calls=pl.when(is_alone).then("unmatched_count").otherwise("calls"),
                **{
                    name: pl.when(is_alone).then(f"alone_{name}").otherwise(name)
                    for name in ("process_count", "communication_ns", "communication_median_ns")
                },
            )
            .with_columns(
                pl.col("unmatched_count", "last_count").fill_null(0),
                wait_ns=pl.when(pl.col("known_wait_count") > 0).then("wait_ns"),
                algorithm_bytes_per_second=rate,
            )
            .with_columns(bus_bytes_per_second=_bus())
            .sort(-(pl.col("communication_ns") + pl.col("wait_ns").fill_null(0)), *keys, nulls_last=True)
        )

    def processes(self) -> pl.DataFrame:
        """One row per process: its calls, waits, clock."""
        by = ["part", "process"]
        rows = self.rows.group_by(by).agg(
            pl.col(PROCESS).first(),
            calls=pl.len().cast(pl.Int64),
            matched_count=pl.col("meeting").count().cast(pl.Int64),
            total_ns=_DURATION.sum(),
        )
        lasts = self.arrivals.group_by(by).agg(last_count=pl.col("is_last").sum().cast(pl.Int64))
        clocks = self.offsets.table.select(*by, "offset_ns", "residual_ns", "drift_ns")
        for columns in (waits_of_ranks(self.arrivals, by), lasts, clocks):
            rows = rows.join(columns, on=by, how="left")
        wait = pl.when(pl.col("matched_count") > 0).then(pl.col("wait_ns").fill_null(0))
        rows = rows.with_columns(wait_ns=wait, last_count=pl.col("last_count").fill_null(0))
        return rows.sort("rank", *PROCESS, *by, nulls_last=True)

    def caveats(self) -> Iterator[Caveat]:
        """Reasons against the numbers."""
        counts = dict(self.rows.drop_nulls("mismatch").group_by("mismatch").len().sort("mismatch").rows())
        for reason, count in counts.items():
            mismatch = MISMATCHES[reason]
            sentence = f"{counted(count, 'calls')} {mismatch['sentence']}"
            yield Caveat(f"collectives_{reason.replace(' ', '_')}", "care", sentence, mismatch["advice"])
        missing = self.arrivals.filter(pl.col("group_size") > pl.len().over("meeting"))
        if missing.height:
            size, present = missing.select(pl.col("group_size").max(), pl.len().over("meeting").max()).row(0)
            what = f"groups have up to {size} ranks, at most {present} of them were recorded: others may be later, and "
            yield Caveat("ranks_missing", "care", f"{what}communication times shorter", "give the files of all ranks")
        if self.left_out:
            what = f"{counted(self.left_out, 'calls')} beyond the first {MOST_CALLS:,} of a collective were left out"
            yield Caveat("collectives_left_out", "note", what, "choose a window with --time")
        clocks = self.offsets.table.unique("clock", keep="first", maintain_order=True)
        for row in clocks.filter(~pl.col("is_steady")).iter_rows(named=True):
            if row["offset_ns"] is None:
                what = f"no collective aligns the clock of {row['clock']} with the others"
            else:
                what = (
                    f"the clock of {row['clock']} jumps or drifts: ends lie {row['residual_ns']:,} ns from the fit, "
                    f"the offset moves by {row['drift_ns']:,} ns"
                )
            yield Caveat("clocks", "care", what, "the rank with the shortest call counts as last there")


def most_often_last(calls: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """By `keys` the process that arrived last at most calls, and at how many: `last_count`."""
    counts = calls.filter(pl.col("rule") != "unknown").group_by(*keys, *PROCESS).agg(last_count=pl.len().cast(pl.Int64))
    most_first = counts.sort(-pl.col("last_count"), "rank", *PROCESS, nulls_last=True)
    return most_first.unique(keys, keep="first", maintain_order=True)


def _bus() -> pl.Expr:
    """Bus bandwidth, with the ranks that met where the size of the group was not recorded."""
    count = pl.coalesce("group_size", "process_count")
    factor = pl.when(pl.col("kind").is_not_null() & (count > 1)).then(bus_factor(count))
    return pl.col("algorithm_bytes_per_second") * factor
