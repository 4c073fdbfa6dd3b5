"""Spread of the cost of a piece of code from wave to wave, and so the certainty of its mean."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from wavewright import _core
from wavewright.analysis.common.noise import MEAN_TAIL, t_bound
from wavewright.model.trace import ThreadTrace

_WAVES_PER_BATCH = 4  #: Fewest waves of a batch, where there are enough waves for batches (`batches`).
_MOST_BATCHES = 32
_FEWEST_BATCHES = 4  #: Batches from which on the spread between them counts.
_SUMS = ("hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total")  #: Of `batch_costs`.
_SQUARES = ("hit_squares", "cost_squares", "cost_products")  #: Sums of squares, and of cost times hits.


def traced_waves(trace: ThreadTrace) -> pl.DataFrame:
    """The waves that have instructions; the others ran where no instructions were traced, and tell no costs."""
    ran = trace.instructions.select(pl.col("wave").unique())
    return trace.waves.join(ran, on="wave", how="semi", maintain_order="left")


def batches(trace: ThreadTrace) -> pl.DataFrame:
    """The traced waves in batches of neighbours: `wave`, `start_cycles`, `batch`.

    Waves of a workgroup depend on each other. They are put in order of shader engine, CU and start, and cut into at
    most 32 batches of at least four; fewer than 16 waves are a batch each.
    """
    waves = traced_waves(trace).select("wave", "se", "cu", "start_cycles", "simd", "slot")
    ordered = waves.sort("se", "cu", "start_cycles", "simd", "slot", "wave")
    per_batch = 1 if ordered.height < _FEWEST_BATCHES * _WAVES_PER_BATCH else _WAVES_PER_BATCH
    count = max(1, min(_MOST_BATCHES, ordered.height // per_batch))
    number = pl.int_range(pl.len(), dtype=pl.UInt64) * count // max(ordered.height, 1)
    return ordered.select("wave", "start_cycles", batch=number.cast(pl.UInt32))


def units_of_rows(unit_of_row: Sequence[int]) -> pl.DataFrame:
    """`row` and `unit` of the code rows that belong to a unit (-1 = to none)."""
    schema = {"row": pl.Int32, "unit": pl.Int32}
    units = pl.DataFrame({"row": range(len(unit_of_row)), "unit": unit_of_row}, schema=schema)
    return units.filter(pl.col("unit") >= 0)


def batch_costs(trace: ThreadTrace, unit_of_row: Sequence[int]) -> pl.DataFrame:
    """Per `batch` and `unit`: `wave_count` that ran it, `_SUMS` and `_SQUARES` of what each wave spent (cycles)."""
    waves, ran = batches(trace), trace.instructions
    present = sorted({unit for unit in unit_of_row if unit >= 0})
    dense = {unit: number for number, unit in enumerate(present)} | {-1: -1}
    executions = (ran["wave"], ran["time_cycles"], ran["stall_cycles"], ran["duration_cycles"], ran["row"])
    batch_of_waves = (waves["wave"], waves["start_cycles"], waves["batch"])
    dense_units = pl.Series([dense[unit] for unit in unit_of_row], dtype=pl.Int32)
    moments = _core.unit_moments(*executions, ran["category"], *batch_of_waves, dense_units)
    costs = pl.DataFrame(moments).rename({"group": "batch"})
    return costs.with_columns(unit=pl.Series(present, dtype=pl.Int32).gather(costs["unit"]))


def unit_costs(trace: ThreadTrace, costs: pl.DataFrame) -> pl.DataFrame:
    """Per unit: totals, and 95 % bounds of the mean cost per wave and per execution (`*_noise`, null = one wave only).

    The cost is latency + idle. The bound is the larger of two: Student's t times the standard error over waves, and
    the same over batches of neighbouring waves where there are at least four. Of the cost per execution it is that
    of the ratio of two means (delta method).
    """
    batched = batches(trace)
    count = batched.height
    sizes = batched.group_by("batch", maintain_order=True).agg(wave_count=pl.len())
    totals = costs.group_by("unit", maintain_order=True).agg(
        pl.col("wave_count").sum().alias("ran_wave_count"), *(pl.col(name).sum() for name in (*_SUMS, *_SQUARES))
    )
    cost, hits, rate = pl.col("cost_cycles_total"), pl.col("hit_count"), pl.col("rate")
    totals = totals.with_columns(cost_cycles_total=pl.col("latency_cycles_total") + pl.col("idle_cycles_total"))
    totals = totals.with_columns(rate=cost / hits)
    squares = pl.col("cost_squares") - cost * cost / count
    residual = pl.col("cost_squares") - 2 * rate * pl.col("cost_products") + rate * rate * pl.col("hit_squares")
    totals = totals.with_columns(wave_noise=_bound(squares, count), rate_noise=_bound(residual, count) * count / hits)
    if sizes.height >= _FEWEST_BATCHES:
        totals = totals.join(_between_batches(costs, totals, sizes, count), on="unit", how="left").with_columns(
            wave_noise=pl.max_horizontal("wave_noise", "batch_noise"),
            rate_noise=pl.max_horizontal("rate_noise", "batch_rate_noise"),
        )
    names = ("unit", "ran_wave_count", *_SUMS, "cost_cycles_total", "rate", "wave_noise", "rate_noise")
    return totals.select(names).sort("unit")


def bound(squares: float, count: int) -> float | None:
    """95 % bound of a mean of `count` values from the sum of the squares of their deviations; None = one value only."""
    return t_bound(MEAN_TAIL, count - 1) * (max(squares, 0.0) / (count - 1) / count) ** 0.5 if count > 1 else None


def _bound(squares: pl.Expr, count: int) -> pl.Expr:
    """`bound` for a column."""
    if count < 2:
        return pl.lit(None, pl.Float64)
    return t_bound(MEAN_TAIL, count - 1) * (squares.clip(lower_bound=0.0) / (count - 1) / count).sqrt()


def _between_batches(costs: pl.DataFrame, totals: pl.DataFrame, sizes: pl.DataFrame, count: int) -> pl.DataFrame:
    """Bounds from the means of batches; a batch that never ran a unit spent nothing on it."""
    batch_count = sizes.height
    mean = (pl.col("latency_cycles_total") + pl.col("idle_cycles_total")) / pl.col("wave_count_batch")
    deviation = mean - pl.col("rate") * pl.col("hit_count") / pl.col("wave_count_batch")
    per_batch = (
        costs.select("batch", "unit", "latency_cycles_total", "idle_cycles_total", "hit_count")
        .join(sizes.rename({"wave_count": "wave_count_batch"}), on="batch")
        .join(totals.select("unit", "rate"), on="unit")
        .select("unit", mean=mean, deviation=deviation)
    )
    names = ("mean", "deviation")
    sums = per_batch.group_by("unit", maintain_order=True).agg(
        *(pl.col(name).sum() for name in names),
        *((pl.col(name) ** 2).sum().alias(f"{name}_squares") for name in names),
    )
    squares = {name: pl.col(f"{name}_squares") - pl.col(name) ** 2 / batch_count for name in names}
    return sums.join(totals.select("unit", "hit_count"), on="unit").select(
        "unit",
        batch_noise=_bound(squares["mean"], batch_count),
        batch_rate_noise=_bound(squares["deviation"], batch_count) * count / pl.col("hit_count"),
    )
