"""Barriers: who arrives last, and what do the others lose?"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright import _core
from wavewright.analysis.trace.barriers.meetings import passages
from wavewright.model.answer import Answer
from wavewright.model.trace import ThreadTrace

_NOTICEABLE_CYCLES = 1.0  #: A row is a cause when the last waves spent that many more cycles there, on average.


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
    passed = passages(trace)
    groups = passed.group_by("workgroup").agg(wave_count=pl.col("wave").n_unique())
    met = groups.filter(pl.col("wave_count") > 1)
    if rows is not None:
        passed = passed.filter(pl.col("row").is_in(rows.implode()))
    meetings = _meetings(passed)
    table = _rows(trace, passed, meetings)
    return Barriers(
        workgroup_count=met.height,
        waves_per_workgroup=_mean(met["wave_count"]),
        alone_wave_count=groups.height - met.height,
        stall_cycles_total=int(table["stall_cycles_total"].sum()),
        lost_cycles_total=int(table["lost_cycles_total"].sum()),
        wave_cycles_total=int((trace.waves["end_cycles"] - trace.waves["start_cycles"]).sum()),
        rows=table,
        last_waves=_last_waves(meetings),
        causes=_causes(trace, passed, meetings),
    )


def _mean(values: pl.Series) -> float:
    return float(values.sum()) / values.len() if values.len() else 0.0


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
    met = meetings.group_by("row").agg(
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
        executions.join(met, on="row", how="left")
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
    met = passed.join(meetings.select("meeting", last="position"), on="meeting", how="left").sort("position")
    role = pl.when(pl.col("last").is_null()).then(2).when(pl.col("position") == pl.col("last")).then(1).otherwise(0)
    met = met.with_columns(role=role.cast(pl.UInt8))
    executed = trace.instructions
    causes = _core.late_causes(
        executed["wave"],
        executed["time_cycles"],
        executed["stall_cycles"],
        executed["duration_cycles"],
        executed["row"],
        met["position"],
        met["row"].cast(pl.UInt32),
        met["role"],
        trace.code.height,
    )
    counts = met.group_by("row").agg(lasts=(pl.col("role") == 1).sum(), others=(pl.col("role") == 0).sum())
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
        .join(
            trace.code.select("row", "address", "text", "file", "line"), left_on="cause_row", right_on="row", how="left"
        )
        .sort("row", "excess_cycles_mean", "cause_row", descending=[False, True, False])
        .select(Barriers.tables["causes"].names)
    )
