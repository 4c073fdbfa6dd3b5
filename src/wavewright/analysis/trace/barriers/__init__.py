"""Barriers: which wave arrives last, and how many cycles do the others lose?"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright import _core
from wavewright.analysis.trace.selection import at_rows
from wavewright.model.answer import Answer, once_per_trace
from wavewright.model.executions import MESSAGE
from wavewright.model.trace import ThreadTrace

#: Executions that end at most so far apart are one meeting: in every capture, waves of a workgroup left within 8.
_RELEASE_JITTER_CYCLES = 16
_PLACE = ("se", "cu", "simd", "slot")  #: Columns that say where a wave ran.
_HAS_WORKGROUP_IDS = 12  #: From this `gfxip` on, waves carry the id of their workgroup.
#: A row is a cause when the last waves spent at least so many cycles more there than the others, on average.
_NOTICEABLE_CYCLES = 1.0
_OTHER, _LAST, _ALONE = 0, 1, 2  #: Roles of a wave in a meeting, as `_core.late_causes` takes them.


@once_per_trace
def passages(trace: ThreadTrace) -> pl.DataFrame:
    """One row per executed barrier.

    Columns: `position` (index in instructions), `row`, `wave`, `se`, `cu`, `simd`, `slot`, `group_id`
    (waves.workgroup), `arrival`, `release` and `stall` (cycles), `workgroup` (the same for waves that always leave
    together) and `meeting` (the same for the executions of one barrier by one workgroup that end together).
    """
    return _grouped(_executions(trace), by_id=trace.gfxip >= _HAS_WORKGROUP_IDS)


def _executions(trace: ThreadTrace) -> pl.DataFrame:
    """Every execution of a barrier: its position, row, wave and its place, arrival, release and stall."""
    kinds = ("barrier", "barrier_wait", "barrier_signal")
    code = trace.code.filter(pl.col("class").is_in(kinds)).select("row", kind="class")
    positions = trace.instructions["row"].is_in(code["row"].implode()).arg_true()
    executed = (
        trace.instructions[positions]
        .with_columns(positions.alias("position"))
        .join(code, on="row", maintain_order="left")
    )
    same_wave = pl.col("wave") == pl.col("wave").shift(1)
    same_row = (pl.col("wave") == pl.col("wave").shift(-1)) & (pl.col("row") == pl.col("row").shift(-1))
    is_message = (pl.col("category") == MESSAGE) & same_row & (pl.col("category").shift(-1) != MESSAGE)
    is_arrival = is_message.fill_null(value=False)  # the first of two records of one execution, which can stall, too
    is_signal = (pl.col("kind") == "barrier_signal") | is_arrival
    arrival_stall = pl.when(is_arrival.shift(1)).then(pl.col("stall_cycles").shift(1)).otherwise(0)
    issued = pl.col("time_cycles") + pl.col("stall_cycles")
    signalled = pl.when(same_wave & pl.col("is_signal").shift(1)).then(issued.shift(1))
    return (
        executed.lazy()
        .with_columns(is_signal=is_signal, stall=pl.col("stall_cycles").cast(pl.Int64) + arrival_stall)
        .with_columns(signalled=signalled)
        .filter(~pl.col("is_signal"))
        .join(trace.waves.lazy().select("wave", *_PLACE, group_id="workgroup"), on="wave", maintain_order="left")
        .select(
            pl.col("position").cast(pl.UInt64),
            *("row", "wave", *_PLACE, "group_id", "stall"),
            arrival=pl.coalesce("signalled", "time_cycles"),
            release=pl.col("time_cycles") + pl.col("duration_cycles"),
        )
        .collect()
    )


def _grouped(executions: pl.DataFrame, *, by_id: bool) -> pl.DataFrame:
    """With `meeting` (executions of one barrier that end together) and `workgroup` (waves that always meet)."""
    place = ["se", "cu", "row", *(["group_id"] if by_id else [])]
    ordered = executions.sort(*place, "release", "wave")
    moved_on = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift(1)) for name in place)
    gap = pl.col("release") - pl.col("release").shift(1) > _RELEASE_JITTER_CYCLES
    ordered = ordered.with_columns(release_number=(moved_on | gap).fill_null(value=True).cum_sum())
    shared = ordered.group_by("wave").agg(workgroup=pl.col("release_number").sort().implode().hash().first())
    return ordered.join(shared, on="wave", maintain_order="left").with_columns(
        meeting=pl.struct("release_number", "workgroup").rank("dense")
    )


@dataclass(frozen=True)
class Barriers(Answer, package=__package__):
    """Every barrier of the code with its meetings."""

    workgroup_count: int  #: Groups of two or more traced waves that met.
    waves_per_workgroup: float  #: Mean number of traced waves of these.
    alone_wave_count: int  #: Waves that passed barriers but met no other traced wave.
    stall_cycles_total: int
    lost_cycles_total: int
    wave_cycles_total: int  #: Cycles of all traced waves, to measure the loss against.
    rows: pl.DataFrame
    last_waves: pl.DataFrame
    causes: pl.DataFrame

    @property
    def lost_share(self) -> float:
        """Lost cycles of all wave cycles."""
        return self.lost_cycles_total / self.wave_cycles_total if self.wave_cycles_total else 0.0


def barriers(trace: ThreadTrace, *, rows: pl.Series | None = None) -> Barriers:
    """Meetings at all barriers, or only at barriers among `rows`."""
    groups = passages(trace).group_by("workgroup").agg(wave_count=pl.col("wave").n_unique())
    met_groups = groups.filter(pl.col("wave_count") > 1)
    passed = at_rows(passages(trace), rows)
    meetings = _meetings(passed)
    table = _rows(trace, passed, meetings)
    return Barriers(
        workgroup_count=met_groups.height,
        waves_per_workgroup=float(met_groups["wave_count"].sum()) / max(met_groups.height, 1),
        alone_wave_count=groups.height - met_groups.height,
        stall_cycles_total=int(table["stall_cycles_total"].sum()),
        lost_cycles_total=int(table["lost_cycles_total"].sum()),
        wave_cycles_total=int((trace.waves["end_cycles"] - trace.waves["start_cycles"]).sum()),
        rows=table,
        last_waves=_last_waves(meetings),
        causes=_causes(trace, passed, meetings),
    )


def _meetings(passed: pl.DataFrame) -> pl.DataFrame:
    """One row per meeting of two or more waves: who was last, and by how much."""
    return (
        passed.sort("arrival", "wave")
        .group_by("meeting", maintain_order=True)
        .agg(
            pl.col("row").first(),
            wave_count=pl.len().cast(pl.Int64),
            first=pl.col("arrival").first(),
            before_last=pl.col("arrival").get(-2, null_on_oob=True),
            last=pl.col("arrival").last(),
            simd=pl.col("simd").last(),
            slot=pl.col("slot").last(),
            position=pl.col("position").last(),
            lost=(pl.col("arrival").max() - pl.col("arrival")).sum(),
        )
        .filter(pl.col("wave_count") > 1)
        .with_columns(spread=pl.col("last") - pl.col("first"), late=pl.col("last") - pl.col("before_last"))
    )


def _rows(trace: ThreadTrace, passed: pl.DataFrame, meetings: pl.DataFrame) -> pl.DataFrame:
    executions = passed.group_by("row").agg(
        execution_count=pl.len().cast(pl.Int64), stall_cycles_total=pl.col("stall").sum()
    )
    meeting_totals = meetings.group_by("row").agg(
        meeting_count=pl.len().cast(pl.Int64),
        waves_per_meeting=pl.col("wave_count").mean(),
        spread_cycles_mean=pl.col("spread").mean(),
        spread_cycles_max=pl.col("spread").max(),
        lost_cycles_total=pl.col("lost").sum(),
        late_cycles_total=pl.col("late").sum(),
        **{f"last_{place}": pl.col(place).mode().min() for place in ("simd", "slot")},
        **{f"last_{place}_share": pl.col(place).unique_counts().max() / pl.len() for place in ("simd", "slot")},
    )
    counts = ("meeting_count", "lost_cycles_total", "late_cycles_total")
    return (
        executions.join(meeting_totals, on="row", how="left")
        .with_columns(pl.col(name).fill_null(0) for name in counts)
        .join(trace.code.select("row", "address", "text", "file", "line"), on="row", how="left")
        .sort("lost_cycles_total", "stall_cycles_total", "row", descending=[True, True, False])
        .select(Barriers.tables["rows"].names)
    )


def _last_waves(meetings: pl.DataFrame) -> pl.DataFrame:
    return (
        meetings.group_by("row", "simd", "slot")
        .agg(last_count=pl.len().cast(pl.Int64), late_cycles_total=pl.col("late").sum())
        .with_columns(last_share=pl.col("last_count") / pl.col("last_count").sum().over("row"))
        .sort("row", "last_count", "simd", "slot", descending=[False, True, False, False])
        .select(Barriers.tables["last_waves"].names)
    )


def _causes(trace: ThreadTrace, passed: pl.DataFrame, meetings: pl.DataFrame) -> pl.DataFrame:
    """Rows on which the wave that arrives last spends more cycles before a barrier than the others do."""
    executions = passed.join(meetings.select("meeting", last="position"), on="meeting", how="left").sort("position")
    is_alone, is_last = pl.col("last").is_null(), pl.col("position") == pl.col("last")
    role_of_wave = pl.when(is_alone).then(_ALONE).when(is_last).then(_LAST).otherwise(_OTHER).cast(pl.UInt8)
    executions = executions.with_columns(role=role_of_wave)
    ran = trace.instructions
    columns = (ran["wave"], ran["time_cycles"], ran["stall_cycles"], ran["duration_cycles"], ran["row"])
    roles = (executions["position"], executions["row"].cast(pl.UInt32), executions["role"])
    causes = _core.late_causes(*columns, *roles, trace.code.height)
    role = pl.col("role")
    counts = executions.group_by("row").agg(lasts=(role == _LAST).sum(), others=(role == _OTHER).sum())
    last, other = pl.col("last_cycles_total") / pl.col("lasts"), pl.col("other_cycles_total") / pl.col("others")
    return (
        pl.DataFrame(causes)
        .rename({"row": "cause_row"})
        .with_columns(row=pl.col("barrier").cast(pl.Int32))
        .filter(pl.col("row") != pl.col("cause_row"))
        .join(counts, on="row")
        .with_columns(last_cycles_mean=last, other_cycles_mean=other)
        .with_columns(excess_cycles_mean=pl.col("last_cycles_mean") - pl.col("other_cycles_mean"))
        .filter(pl.col("excess_cycles_mean") >= _NOTICEABLE_CYCLES)
        .join(trace.code.select("address", "text", "file", "line", cause_row="row"), on="cause_row", how="left")
        .sort("row", "excess_cycles_mean", "cause_row", descending=[False, True, False])
        .select(Barriers.tables["causes"].names)
    )
