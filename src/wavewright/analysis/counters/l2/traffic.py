"""L2 metrics per kernel, run and pass: formulas in the notation of metrics, the best one that a pass allows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.facts.counters.l2_traffic import TrafficFormula, traffic_formulas
from wavewright.facts.metrics.names import is_ratio
from wavewright.model.counters import CounterSet


@dataclass(frozen=True)
class Measurement:
    """One metric of one kernel in one run."""

    run: int
    kernel_name: str
    metric: str
    value: float  #: Of a ratio, the ratio of sums; of an amount, the mean per dispatch.
    dispatch_count: int
    duration_ns_mean: float | None  #: Of these dispatches; None = no usable timestamps.
    formula: str
    same_pass: bool  #: Whether all counters come from the same pass over the dispatches.
    is_lower_bound: bool = False
    is_upper_bound: bool = False
    file: str = ""  #: Of the pass, or of the first of several passes.


_READS = "TCC_EA0_RDREQ"
#: Reads of 128 bytes, on gfx94x only: where it is 0 in a whole capture although there were reads, it did not count.
_BUBBLE = "TCC_BUBBLE"


def measure(captures: Sequence[CounterSet], target: str = "") -> list[Measurement]:
    """Every metric of every kernel in every capture that measured it; each capture is a run.

    `target` is the GPU where the captures do not name it. A metric is computed from dispatches that have all counters
    of its formula in the same pass; where no pass has them, from the passes of the same run joined by dispatch.
    Counters of different runs are never combined.
    """
    measurements: list[Measurement] = []
    for run, counters in enumerate(captures):
        passes = _passes(counters)
        files = dict(counters.passes.select("pass", "file").iter_rows())
        is_joined = dict(counters.passes.select("pass", "is_joined").iter_rows())
        for kernel in counters.dispatches["kernel_name"].unique(maintain_order=True):
            own_passes = {
                number: part
                for number, frame in passes.items()
                if (part := frame.filter(frame["kernel_name"] == kernel)).height
            }
            for formula, number, rows in _chosen(own_passes, counters.system.target or target):
                value, duration_ns = _value(formula, rows)
                if value is None:
                    continue
                measurement = Measurement(
                    run=run,
                    kernel_name=kernel,
                    metric=formula.metric,
                    value=value,
                    dispatch_count=rows.height,
                    duration_ns_mean=duration_ns,
                    formula=formula.label or formula.formula,
                    same_pass=number is not None and not is_joined[number],
                    is_lower_bound=formula.is_lower_bound,
                    is_upper_bound=formula.is_upper_bound,
                    file=files[number if number is not None else min(own_passes)],
                )
                measurements.append(measurement)
    return measurements


def _chosen(passes: dict[int, pl.DataFrame], target: str) -> Iterator[tuple[TrafficFormula, int | None, pl.DataFrame]]:
    """Of each metric the best formula, with its pass and rows: each pass that has it, else None = all passes joined."""
    joined: pl.DataFrame | None = None
    done: set[str] = set()
    for formula in traffic_formulas():
        if formula.metric in done or not target.startswith(formula.targets):
            continue
        needs = set(formula.counters)
        complete_frames = {
            number: rows
            for number, frame in passes.items()
            if needs <= set(frame.columns) and (rows := frame.drop_nulls(formula.counters)).height
        }
        if not complete_frames and len(passes) > 1:
            joined = _joined(passes) if joined is None else joined
            rows = joined.drop_nulls(formula.counters) if needs <= set(joined.columns) else joined.clear()
            if rows.height:
                done.add(formula.metric)
                yield formula, None, rows
        for number, rows in complete_frames.items():
            done.add(formula.metric)
            yield formula, number, rows


def _value(formula: TrafficFormula, rows: pl.DataFrame) -> tuple[float | None, float | None]:
    """The value of a formula (None = its counters cannot be right), and the mean duration where all are known, ns."""
    expression = formula.expression
    mean = rows["duration_ns"].mean()
    duration = mean if isinstance(mean, float) and rows["duration_ns"].null_count() == 0 else None
    is_weighted = duration and any(is_ratio(name) for name in expression.counters)  # sums of ratios mean nothing
    weights = rows["duration_ns"] / duration if is_weighted else 1.0
    value = float(expression.evaluate({name: float((rows[name] * weights).sum()) for name in expression.counters}))
    value = value if expression.degree(frozenset()) == 0 else value / rows.height
    is_share = formula.metric.endswith(("_rate", "_share"))
    if math.isnan(value) or value < 0 or (is_share and value > 1):  # 0 requests, or counters that do not add up
        return None, duration
    return value, duration


def _passes(counters: CounterSet) -> dict[int, pl.DataFrame]:
    """Pass -> `dispatch`, the counters that formulas need and it measured, `kernel_name` and `duration_ns`."""
    about = counters.dispatches.select("dispatch", "kernel_name", duration_ns=pl.col("end_ns") - pl.col("start_ns"))
    frames = {}
    needed = sorted({name for formula in traffic_formulas() for name in formula.counters})
    totals = {name: _total(counters, name) for name in (_BUBBLE, _READS)}
    left_out = {_BUBBLE} if totals[_READS] > totals[_BUBBLE] == 0 else set()
    for number, frame in sorted(counters.measured.items()):
        present = [name for name in needed if name in frame.columns and name not in left_out]
        names = [name for name in present if frame[name].null_count() < frame.height]
        if names:
            frames[number] = frame.select("dispatch", *names).join(about, on="dispatch", maintain_order="left")
    return frames


def _total(counters: CounterSet, name: str) -> float:
    return sum(float(frame[name].sum()) for frame in counters.measured.values() if name in frame.columns)


def _joined(passes: dict[int, pl.DataFrame]) -> pl.DataFrame:
    """Passes over the same dispatches as one row per dispatch; of a counter that two have, the first."""
    about = ["dispatch", "kernel_name", "duration_ns"]
    joined = pl.concat([frame.select(about) for frame in passes.values()]).unique("dispatch", maintain_order=True)
    for frame in passes.values():
        new = [name for name in frame.columns if name not in joined.columns]
        joined = joined.join(frame.select("dispatch", *new), on="dispatch", how="left", maintain_order="left")
    return joined


def short_path(file: str) -> str:
    """The end of a path, enough to tell files apart.

    >>> short_path("/data/run/pass_1/out_counter_collection.csv")
    'pass_1/out_counter_collection.csv'
    """
    return "/".join(file.split("/")[-2:])
