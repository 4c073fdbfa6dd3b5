"""Measurements of runs, for a baseline: kernels, copies, markers and steps with the errors of their means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import polars as pl

from wavewright.analysis.common.gate.check import JudgedFinding
from wavewright.analysis.run.compare.compared_side import (
    NORMAL_DEGREES,
    TIMES,
    PartialComparison,
    Side,
    partial_compare,
)
from wavewright.analysis.run.compare.kernel_pairs import KernelUse, pairs_of
from wavewright.analysis.run.contents.timed_events import Events
from wavewright.analysis.run.diagnose import combine_diagnosis
from wavewright.analysis.run.diagnose.partial import PartialDiagnosis
from wavewright.analysis.run.measures.statistics import PackedDurations, Statistics, merged_packed, statistics_of
from wavewright.errors import UsageError
from wavewright.facts.gpus import facts
from wavewright.model.baseline import Baseline, MeasuredCapture, Quantity
from wavewright.model.run import Run

#: Domain of events that a baseline measures -> subject of their quantities.
_SUBJECTS = {"KERNEL": "kernel", "COPY": "copy", "MARKER": "marker"}
_TABLES = ("dispatches", "copies", "regions")  #: Tables that have events of these domains.
_KEYS = ("domain", "name")


@dataclass(frozen=True)
class PartialBaseline:
    """Contribution of one file to a capture."""

    compared: PartialComparison
    durations: PackedDurations
    gpus: frozenset[tuple[str, str]]  #: Target and product of its GPUs.
    software: frozenset[tuple[str, str]]  #: Format and version of what recorded it.


def partial_baseline(run: Run) -> PartialBaseline:
    """Contribution of one file to a capture."""
    events = Events(run, "process")
    pieces = (
        piece.filter(pl.col("domain").cast(pl.String).is_in([*_SUBJECTS])).select(*_KEYS, "start_ns", "end_ns")
        for table in _TABLES
        for piece in events.pieces(table)
    )
    agents = run.read("agents", ["kind", "target", "product"]).filter(pl.col("kind") == "GPU")
    sources = run.read("sources", ["format", "version"])
    return PartialBaseline(
        partial_compare(run, has_trees=False),
        statistics_of(pieces, _KEYS).packed(),
        frozenset((target or "", product or "") for target, product in agents.select("target", "product").rows()),
        frozenset((name or "", version or "") for name, version in sources.rows()),
    )


def _target_of(product: str) -> str:
    """The target of a product, where a file has its name only; the product itself where nothing is known about it."""
    try:
        return facts.of(product).target
    except UsageError:
        return product


def combine_baseline(
    partials: Sequence[PartialBaseline], label: str, *, step: str | None = None, damages: Sequence[str] = ()
) -> MeasuredCapture:
    """The measurements of a capture from those of the files of its ranks.

    Raises `UsageError` when no marker range has the name `step`.
    """
    side = Side.of([part.compared for part in partials], label, step)
    medians = _medians(merged_packed([part.durations for part in partials], _KEYS))
    gpus = frozenset().union(*(part.gpus for part in partials))
    software = frozenset().union(*(part.software for part in partials))
    return MeasuredCapture(
        label=label,
        quantities=(*_totals(side), *_durations(side, medians)),
        target="+".join(sorted({target or _target_of(product) for target, product in gpus} - {""})),
        product="+".join(sorted({product for _, product in gpus if product})),
        software={name: version for name, version in sorted(software) if name},
        step_count=side.steps,
        damages=tuple(damages),
    )


def renamed_kernels(baseline: Baseline, current: Baseline) -> dict[str, str]:
    """Kernels that only the baseline has, with those that only the captures have and that resemble them."""
    before, after = _kernel_uses(baseline), _kernel_uses(current)
    gone, new = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
    return dict(pairs_of([before[name] for name in gone], [after[name] for name in new]))


def _kernel_uses(measured: Baseline) -> dict[str, KernelUse]:
    """The kernels of all captures by name; of several captures with a kernel, the last one counts."""
    return {
        kernel.name: KernelUse(kernel.name, kernel.count / capture.step_count, kernel.total or 0.0, kernel.lanes)
        for capture in measured.captures
        for kernel in capture.quantities
        if kernel.subject == "kernel"
    }


def _totals(side: Side) -> list[Quantity]:
    """GPU time, wall time and busy share of a run or a step, and the mean duration of steps."""
    variance = side.variance
    calls = int(side.on_gpu["calls"].sum())
    error, degrees = (None, None) if variance is None or not calls else (sqrt(variance), NORMAL_DEGREES)
    quantities = [Quantity("gpu-time", "", "ns", count=calls, mean=side.gpu_ns, error=error, degrees=degrees)]
    quantities.append(Quantity("wall", "", "ns", count=1, mean=float(side.wall_ns)))
    times = [side.times.get(name) for name in TIMES]
    spent = sum(time for time in times if time is not None)
    if side.times.get("gpu_count") and spent:
        quantities.append(Quantity("busy", "", "share", count=1, mean=1 - (side.times["idle_ns"] or 0) / spent))
    if side.step_mean is not None:
        quantities.append(Quantity("step", "", "ns", side.steps, *side.step_mean))
    return quantities


def _durations(side: Side, medians: pl.DataFrame) -> list[Quantity]:
    """Durations of each kernel, copy and marker."""
    rows = side.rows.filter(pl.col("domain").is_in([*_SUBJECTS]) & pl.col("mean_ns").is_not_null())
    lanes = pl.when(pl.col("dispatches") > 0).then(pl.col("lanes") / pl.col("dispatches"))
    grids = side.grids.select("name", mean_lanes=lanes, domain=pl.lit("KERNEL"))
    rows = rows.join(grids, on=_KEYS, how="left").join(medians, on=_KEYS, how="left").sort(*_KEYS)
    figures = {"count": "calls", "mean": "mean_ns", "error": "error_ns", "total": "time", "lanes": "mean_lanes"}
    subject = pl.col("domain").replace_strict(_SUBJECTS)
    quantities = rows.select("name", "degrees", "median", "deviation", subject=subject, **figures)
    return [Quantity(unit="ns", **row) for row in quantities.iter_rows(named=True)]


def _medians(statistics: Statistics) -> pl.DataFrame:
    """Per domain and name: the `median` of durations, and the median distance from it, `deviation`, in ns."""
    keys = statistics.sums.select("group", pl.col(*_KEYS).cast(pl.String).fill_null(""))
    median = _weighted_median(statistics.values, "value").rename({"middle": "median"})
    distance = (pl.col("value") - pl.col("median")).abs()
    distances = statistics.values.join(median, on="group").with_columns(distance=distance)
    deviation = _weighted_median(distances, "distance").rename({"middle": "deviation"})
    both = keys.join(median, on="group", how="left").join(deviation, on="group", how="left")
    return both.select(*_KEYS, pl.col("median", "deviation").cast(pl.Float64))


def _weighted_median(values: pl.DataFrame, column: str) -> pl.DataFrame:
    """Per `group` the `middle` of values that occurred `count` times."""
    ordered = values.sort("group", column)
    passed = pl.col("count").cum_sum().over("group") * 2
    return (
        ordered.filter(passed >= pl.col("count").sum().over("group"))
        .group_by("group", maintain_order=True)
        .agg(middle=pl.col(column).first())
    )


def run_findings(partials: Sequence[PartialDiagnosis]) -> tuple[JudgedFinding, ...]:
    """The findings of the diagnosis of a run, with what each can gain at most."""
    findings = combine_diagnosis(partials).findings
    return tuple(JudgedFinding(finding.name, finding.verdict, finding.gain_share_max or 0.0) for finding in findings)
