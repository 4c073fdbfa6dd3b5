"""Waves that passed a barrier together."""

from __future__ import annotations

import polars as pl

from wavewright.model.answer import once_per_trace
from wavewright.model.executions import MESSAGE
from wavewright.model.trace import ThreadTrace

#: Waves of one workgroup leave a barrier within a few cycles: 0 to 8 in every capture looked at.
_RELEASE_JITTER_CYCLES = 16
_HAS_WORKGROUP_IDS = 12  #: From this generation on, waves carry the id of their workgroup.


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
    of_arrival = pl.when(is_arrival.shift(1)).then(pl.col("stall_cycles").shift(1)).otherwise(0)
    issued = pl.col("time_cycles") + pl.col("stall_cycles")
    signalled = pl.when(same_wave & pl.col("is_signal").shift(1)).then(issued.shift(1))
    return (
        executed.lazy()
        .with_columns(is_signal=is_signal, stall=pl.col("stall_cycles").cast(pl.Int64) + of_arrival)
        .with_columns(signalled=signalled)
        .filter(~pl.col("is_signal"))
        .join(
            trace.waves.lazy().select("wave", "se", "cu", "simd", "slot", group_id="workgroup"),
            on="wave",
            maintain_order="left",
        )
        .select(
            pl.col("position").cast(pl.UInt64),
            "row",
            "wave",
            "se",
            "cu",
            "simd",
            "slot",
            "group_id",
            "stall",
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
