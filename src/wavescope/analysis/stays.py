"""When did which wave slot hold a wave? Every stay on any CU of a traced shader engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.model.answer import once_per_trace

if TYPE_CHECKING:
    import polars as pl

    from wavescope.model import ThreadTrace

__all__ = ["stays"]


@once_per_trace
def stays(trace: ThreadTrace) -> pl.DataFrame:
    """One row per start of a wave in the occupancy events, with the end that followed in its slot.

    Columns: `se`, `cu`, `simd`, `slot`, `kernel`, `begin_cycles`, `end_cycles` (null = the next event of the slot is
    another start, or there is none), `on_target` (whether the CU is one whose waves were traced). Sorted by slot and
    time. At equal times an end counts before a start.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> stays(ThreadTrace({}, TraceSource(path="nothing"))).columns[:2]
    ['se', 'cu']
    """
    import polars as pl

    place = ["se", "cu", "simd", "slot"]
    targets = trace.waves.lazy().select("se", "cu", on_target=pl.lit(value=True)).unique()
    ordered = trace.occupancy.lazy().sort(*place, "time_cycles", "start", maintain_order=True)
    same_slot = pl.all_horizontal(pl.col(name).shift(-1) == pl.col(name) for name in place)
    is_ended = same_slot & ~pl.col("start").shift(-1)
    return (
        ordered.with_columns(end_cycles=pl.when(is_ended).then(pl.col("time_cycles").shift(-1)))
        .filter("start")
        .join(targets, on=["se", "cu"], how="left", maintain_order="left")
        .select(
            *place,
            "kernel",
            pl.col("time_cycles").alias("begin_cycles"),
            "end_cycles",
            pl.col("on_target").fill_null(value=False),
        )
        .collect()
    )
