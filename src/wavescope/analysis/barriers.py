"""Barriers: who arrives last, and what do the others lose?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from wavescope.model.answer import Answer
from wavescope.model.schema import TableSpec, table_spec

if TYPE_CHECKING:
    import polars as pl

    from wavescope.model import ThreadTrace

__all__ = ["Barriers", "barriers"]

_RELEASE_JITTER_CYCLES = 16
"""Waves of one workgroup leave a barrier within a few cycles: 0 to 8 in every capture looked at."""
_MESSAGE = 11
"""`instructions.category` of the arrival that raw gfx9 traces record before the wait of the same `s_barrier`."""
_HAS_WORKGROUP_IDS = 12
"""From this generation on, waves carry the id of their workgroup."""


@dataclass(frozen=True)
class Barriers(Answer):
    """Every barrier of the code with its meetings.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> barriers(ThreadTrace({}, TraceSource(path="nothing"))).rows.height
    0
    """

    definition: ClassVar[str] = (
        "A wave arrives when it first tries to issue the barrier (where a signal or an arrival record stands "
        "before the wait: when that was issued) and leaves at time + duration of the barrier (of the wait). Waves of a "
        "CU that leave the same barrier within "
        "16 cycles of each other, every time, are one workgroup; from gfx12 on the workgroup id must agree too. Each "
        "time a workgroup passes a barrier is a meeting. spread = last arrival - first arrival; lost = sum over waves "
        "of (last arrival - own arrival); late = last arrival - second to last, what a meeting would gain if its last "
        "wave were as early as the one before. Only traced waves count: on RDNA those of one SIMD."
    )
    tables: ClassVar[dict[str, TableSpec]] = {
        "rows": table_spec(
            "rows",
            "one barrier instruction that was executed, most cycles lost first",
            """
            row                   Int32    -       | code.row
            text                  String   -       | disassembly
            file                  String   -       | source file
            line                  UInt32   -       | source line
            execution_count       Int64    -       | executions
            stall_cycles_total    Int64    cycles  | stall of the executions
            meeting_count         Int64    -       | times that a workgroup of two or more traced waves passed it
            waves_per_meeting     Float64  -       | mean number of traced waves
            spread_cycles_mean    Float64  cycles  | mean of last - first arrival
            spread_cycles_max     Int64    cycles  | largest of them
            lost_cycles_total     Int64    cycles  | cycles that waves waited for the last one
            late_cycles_total     Int64    cycles  | cycles by which the last wave was later than the one before
            last_simd             UInt8    -       | SIMD whose wave was last most often
            last_simd_share       Float64  -       | in this share of the meetings
            last_slot             UInt8    -       | wave slot whose wave was last most often
            last_slot_share       Float64  -       | in this share of the meetings
            """,
        ),
        "last_waves": table_spec(
            "last_waves",
            "one place whose waves were last at one barrier",
            """
            row                Int32    -       | code.row
            simd               UInt8    -       | SIMD
            slot               UInt8    -       | wave slot in the SIMD
            last_count         Int64    -       | meetings in which its wave was last
            last_share         Float64  -       | of the meetings of this barrier
            late_cycles_total  Int64    cycles  | cycles by which it was later than the wave before
            """,
        ),
    }

    workgroup_count: int
    """Groups of two or more traced waves that met."""
    waves_per_workgroup: float
    """Mean number of traced waves of these."""
    alone_wave_count: int
    """Waves that passed barriers but met no other traced wave."""
    stall_cycles_total: int
    lost_cycles_total: int
    wave_cycles_total: int
    """Cycles of all traced waves, to measure the loss against."""
    rows: pl.DataFrame
    last_waves: pl.DataFrame

    @property
    def lost_share(self) -> float:
        """Lost cycles of all wave cycles."""
        return self.lost_cycles_total / self.wave_cycles_total if self.wave_cycles_total else 0.0


def barriers(trace: ThreadTrace, *, rows: pl.Series | None = None) -> Barriers:
    """Meetings at barriers, at all of them or only those among `rows`.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> barriers(ThreadTrace({}, TraceSource(path="nothing"))).lost_share
    0.0
    """
    import polars as pl

    passed = _grouped(_passages(trace), by_id=trace.gfxip >= _HAS_WORKGROUP_IDS)
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
        wave_cycles_total=int((trace.waves["end_cycles"] - trace.waves["begin_cycles"]).sum()),
        rows=table,
        last_waves=_last_waves(meetings),
    )


def _mean(values: pl.Series) -> float:
    return float(values.sum()) / values.len() if values.len() else 0.0


def _passages(trace: ThreadTrace) -> pl.DataFrame:
    """Every execution of a barrier: row, wave and its place, arrival, release and stall."""
    import polars as pl

    kinds = ("barrier", "barrier_wait", "barrier_signal")
    code = trace.code.lazy().filter(pl.col("class").is_in(kinds)).select("row", kind="class")
    executed = trace.instructions.lazy().join(code, on="row", maintain_order="left").collect(engine="streaming")
    same_wave = pl.col("wave") == pl.col("wave").shift(1)
    same_row = (pl.col("wave") == pl.col("wave").shift(-1)) & (pl.col("row") == pl.col("row").shift(-1))
    is_message = (pl.col("category") == _MESSAGE) & same_row & (pl.col("category").shift(-1) != _MESSAGE)
    is_signal = (pl.col("kind") == "barrier_signal") | is_message.fill_null(value=False)
    issued = pl.col("time_cycles") + pl.col("stall_cycles")
    signalled = pl.when(same_wave & pl.col("is_signal").shift(1)).then(issued.shift(1))
    return (
        executed.lazy()
        .with_columns(is_signal=is_signal)
        .with_columns(signalled=signalled)
        .filter(~pl.col("is_signal"))
        .join(
            trace.waves.lazy().select("wave", "se", "cu", "simd", "slot", group_id="workgroup"),
            on="wave",
            maintain_order="left",
        )
        .select(
            "row",
            "wave",
            "se",
            "cu",
            "simd",
            "slot",
            "group_id",
            arrival=pl.coalesce("signalled", "time_cycles"),
            release=pl.col("time_cycles") + pl.col("duration_cycles"),
            stall=pl.col("stall_cycles").cast(pl.Int64),
        )
        .collect()
    )


def _grouped(passages: pl.DataFrame, *, by_id: bool) -> pl.DataFrame:
    """With `meeting` (executions of one barrier that end together) and `workgroup` (waves that always meet)."""
    import polars as pl

    place = ["se", "cu", "row", *(["group_id"] if by_id else [])]
    ordered = passages.sort(*place, "release", "wave")
    moved_on = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift(1)) for name in place)
    gap = pl.col("release") - pl.col("release").shift(1) > _RELEASE_JITTER_CYCLES
    ordered = ordered.with_columns(release_number=(moved_on | gap).fill_null(value=True).cum_sum())
    shared = ordered.group_by("wave").agg(workgroup=pl.col("release_number").sort().implode().hash().first())
    return ordered.join(shared, on="wave", maintain_order="left").with_columns(
        meeting=pl.struct("release_number", "workgroup").rank("dense")
    )


def _meetings(passed: pl.DataFrame) -> pl.DataFrame:
    """One row per meeting of two or more waves: who was last, and by how much."""
    import polars as pl

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
            lost=(pl.col("arrival").max() - pl.col("arrival")).sum(),
        )
        .filter(pl.col("wave_count") > 1)
        .with_columns(spread=pl.col("last") - pl.col("first"), late=pl.col("last") - pl.col("before_last"))
    )


def _rows(trace: ThreadTrace, passed: pl.DataFrame, meetings: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

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
        .join(trace.code.select("row", "text", "file", "line"), on="row", how="left")
        .sort("lost_cycles_total", "stall_cycles_total", "row", descending=[True, True, False])
        .select(column.name for column in Barriers.tables["rows"].columns)
    )


def _last_waves(meetings: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return (
        meetings.group_by("row", "simd", "slot")
        .agg(last_count=pl.len().cast(pl.Int64), late_cycles_total=pl.col("late").sum())
        .with_columns(last_share=pl.col("last_count") / pl.col("last_count").sum().over("row"))
        .sort("row", "last_count", "simd", "slot", descending=[False, True, False, False])
        .select(column.name for column in Barriers.tables["last_waves"].columns)
    )
