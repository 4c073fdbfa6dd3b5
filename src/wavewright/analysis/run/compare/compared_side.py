"""One side of a comparison of runs: calls with the errors of their means, steps, times of GPUs, and their noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import fsum, sqrt
from typing import NamedTuple

import polars as pl

from wavewright.analysis.common.name_patterns import pattern_of
from wavewright.analysis.common.noise import LEAST_CHANGE, MEAN_TAIL, difference_bound, t_bound
from wavewright.analysis.run.compare.call_forest import CallForest, call_forest
from wavewright.analysis.run.compare.kernel_pairs import KernelUse
from wavewright.analysis.run.contents.batches import Batches, batches_of, means
from wavewright.analysis.run.contents.summary import GPU_DOMAINS, wall_of
from wavewright.analysis.run.contents.timed_events import EXTENTS
from wavewright.analysis.run.gpu_time.gpu_time import CLASSES, GPU_TIMES, gpu_times, mean_gpu_times
from wavewright.errors import UsageError
from wavewright.model.run import Run
from wavewright.model.schema import empty_frame

TIMES = (*CLASSES, "idle_ns")  #: Of a GPU; their sum is its time.
NORMAL_DEGREES = 10**6  #: Degrees of freedom of a sum over many kernels: so many that the t distribution is normal.
_MOST_WITHOUT_NOISE = 0.05  #: The total has no noise if calls of unknown noise take more than this share of its time.
_GRID = ("grid_x", "grid_y", "grid_z")
_GRIDS = {"name": pl.String, "dispatches": pl.Int64, "lanes": pl.Float64}


@dataclass(frozen=True)
class PartialComparison:
    """Contribution of one run to its side."""

    calls: Batches
    gpu_times: pl.DataFrame  #: See `GPU_TIMES`.
    grids: pl.DataFrame  #: `name` of kernels, their `dispatches` with a grid, and the sum of its `lanes`.
    forest: CallForest | None


def partial_compare(run: Run, *, has_trees: bool = True) -> PartialComparison:
    """Contribution of one run to its side; its call trees are left out where they are not compared."""
    lanes = reduce(lambda left, axis: left * axis, (pl.col(name).cast(pl.Float64) for name in _GRID))
    grids = [
        piece.with_columns(pl.col("name").cast(pl.String), lanes=lanes)
        .group_by("name")
        .agg(dispatches=pl.col("lanes").count().cast(pl.Int64), lanes=pl.col("lanes").sum())
        for piece in run.chunks("dispatches", ["name", *_GRID])
    ]
    return PartialComparison(batches_of(run), gpu_times(run), _grids(grids), call_forest(run) if has_trees else None)


def _grids(pieces: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Sums of `PartialComparison.grids`."""
    rows = pl.concat([pl.DataFrame(schema=_GRIDS), *pieces])
    return rows.group_by("name").agg(pl.col("dispatches", "lanes").sum()).sort("name")


class StepMean(NamedTuple):
    """The mean duration of steps."""

    mean_ns: float
    error_ns: float | None  #: Standard error; None = too few steps.
    degrees: int | None  #: Degrees of freedom of the error.


@dataclass(frozen=True)
class Side:
    """One side, with amounts per unit: per step of all processes where steps are marked, else of the whole run."""

    rows: pl.DataFrame  #: Of `means`, with `raw_calls` (all calls), and per unit `per_unit` (calls) and `time` (ns).
    steps: int  #: Of all processes; 1 = the run is the unit.
    step_mean: StepMean | None  #: None = the run is the unit.
    process_count: int
    wall_ns: int
    times: dict[str, float | int | None]  #: Of a GPU: see `mean_gpu_times`.
    grids: pl.DataFrame
    forests: tuple[CallForest, ...]

    @classmethod
    def of(cls, partials: Sequence[PartialComparison], label: str, step: str | None) -> Side:
        """The side that consists of these runs; `label` is its name in messages, `step` the marker of steps."""
        batches = [part.calls for part in partials]
        rows = means(batches)
        extents = pl.concat([empty_frame(EXTENTS), *(part.extents for part in batches)])
        times = mean_gpu_times(pl.concat([empty_frame(GPU_TIMES), *(part.gpu_times for part in partials)]), extents)
        steps, step_mean = 1, None
        if step is not None:
            marked = _step_batches(batches, rows, label, step)
            steps, *figures = means(marked).select("calls", "mean_ns", "error_ns", "degrees").row(0)
            step_mean = StepMean(*figures) if figures[0] else None
            # Times are the mean of GPUs over the run; each process has its part of the steps.
            processes = sum(part.sums["process"].n_unique() for part in marked)
            times |= {name: value * processes / steps for name in TIMES if (value := times[name])}
        per_step = {"per_unit": pl.col("calls") / steps, "time": pl.col("total_ns").fill_null(0) / steps}
        return cls(
            rows=rows.with_columns(raw_calls="calls", **per_step),
            steps=steps,
            step_mean=step_mean,
            process_count=sum(part.process_count for part in batches),
            wall_ns=wall_of(extents),
            times=times,
            grids=_grids([part.grids for part in partials]),
            forests=tuple(part.forest for part in partials if part.forest),
        )

    @property
    def on_gpu(self) -> pl.DataFrame:
        """Kernels and copies."""
        return self.rows.filter(pl.col("domain").is_in(GPU_DOMAINS)).sort("domain", "name")

    @property
    def gpu_ns(self) -> float:
        """The time of all kernels and copies, per unit."""
        return fsum(self.on_gpu["time"])

    @property
    def variance(self) -> float | None:
        """Variance of the GPU time, by the calls of this run; None = too much of it is in single calls."""
        rows = self.on_gpu
        unknown = fsum(rows.filter(pl.col("error_ns").is_null())["time"])
        if unknown > _MOST_WITHOUT_NOISE * self.gpu_ns:
            return None
        return fsum((calls * (error or 0.0)) ** 2 for calls, error in rows.select("per_unit", "error_ns").rows())


def total_noise(base: Side, side: Side, repeats: Sequence[Side]) -> float | None:
    """Difference that the GPU times of equal runs may have, as a share of that of the base; None = not known."""
    if not base.gpu_ns:
        return None
    base_variance, variance = base.variance, side.variance
    of_calls = None
    if base_variance is not None and variance is not None:
        of_calls = t_bound(MEAN_TAIL, NORMAL_DEGREES) * sqrt(base_variance + variance) / base.gpu_ns
    return _with_repeats(of_calls, [run.gpu_ns for run in (base, *repeats)])


def step_noise(base: Side, side: Side, repeats: Sequence[Side]) -> float | None:
    """Difference that the mean durations of equal steps may have, as a share of that of the base; None = not known."""
    if base.step_mean is None or side.step_mean is None:
        return None
    (mean, error, degrees), (_, other_error, other_degrees) = base.step_mean, side.step_mean
    of_calls = None
    if error is not None and degrees and other_error is not None and other_degrees:
        of_calls = difference_bound(MEAN_TAIL, (error, degrees), (other_error, other_degrees)) / mean
    return _with_repeats(of_calls, [run.step_mean.mean_ns for run in (base, *repeats) if run.step_mean])


def _with_repeats(noise: float | None, values: Sequence[float]) -> float | None:
    """The larger of the noise of calls and that of repeated runs (`values`), or without repeats of `LEAST_CHANGE`."""
    if len(values) < 2:
        return None if noise is None else max(noise, LEAST_CHANGE)
    mean = fsum(values) / len(values)
    deviation = sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return max(noise or 0.0, t_bound(MEAN_TAIL, len(values) - 1) * deviation / values[0])


def kernel_uses(side: Side) -> dict[str, KernelUse]:
    """The kernels of a side by name."""
    kernels = side.rows.filter(pl.col("domain") == "KERNEL").join(side.grids, on="name", how="left")
    mean = pl.when(pl.col("dispatches") > 0).then(pl.col("lanes") / pl.col("dispatches"))
    return {row[0]: KernelUse(*row) for row in kernels.select("name", "per_unit", "time", mean).rows()}


def _step_batches(batches: Sequence[Batches], rows: pl.DataFrame, label: str, step: str) -> list[Batches]:
    """The calls of the marker ranges that are steps, under one name."""
    pattern = pattern_of(step, "name a marker range")
    ranges = rows.filter(pl.col("domain") == "MARKER").select("name", "calls").rows()
    names = [name for name, _ in ranges if (pattern.search(name) if pattern else name == step)]
    if not names:
        what = f"{label} has no marker range {step!r}"
        named = ", ".join(repr(name) for name, _ in sorted(ranges, key=lambda row: (-row[1], row[0]))[:5])
        raise UsageError(what, advice=f"its marker ranges: {named}" if named else "it has no marker ranges at all")
    is_step = (pl.col("domain") == "MARKER") & pl.col("name").is_in(names)
    return [replace(part, sums=part.sums.filter(is_step).with_columns(name=pl.lit(step))) for part in batches]
