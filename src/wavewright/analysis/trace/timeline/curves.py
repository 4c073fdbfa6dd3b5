"""Curves over time as exact step functions: resident waves, states, counters, the shader clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from wavewright.analysis.common.step_functions import StepCurve
from wavewright.analysis.trace.clocks import clock_curves
from wavewright.analysis.trace.derived_counters import DerivedValues, indices
from wavewright.analysis.trace.derived_counters.sampled_counters import counter_names, gpu_curve
from wavewright.analysis.trace.waves.resident import residency_changes
from wavewright.base.bounds import ENGINE, bounded
from wavewright.base.toml import packaged
from wavewright.errors import UsageError
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import STATES
from wavewright.model.trace import ThreadTrace

#: Name of curves -> unit.
CURVES: dict[str, str] = packaged("curves.toml", __package__)["units"]


@dataclass(frozen=True)
class Series:
    """One curve of several."""

    label: str
    keys: Mapping[str, int | str | None]  #: What it is of: `se`, `cu`, `kernel`, `state` or `counter` -> its value.


def curve_engines(trace: ThreadTrace, name: str) -> list[int]:
    """The shader engines that curves of a name can be restricted to."""
    tables = {"wave_states": trace.waves, "sampled_counters": trace.sampled_counters, "clock": trace.realtime}
    return list(tables.get(_checked(name), trace.occupancy)["se"].unique().sort())


@bounded(se=ENGINE)
def curve_series(trace: ThreadTrace, name: str, *, se: int | None = None) -> tuple[Series, ...]:
    """The curves of a name in their order, without computing them; `se`: those of one shader engine."""
    _checked(name)
    if name == "sampled_counters":
        has_samples = trace.sampled_counters.height if se is None else se in curve_engines(trace, name)
        names = counter_names(trace) if has_samples else []
        return tuple(Series(name.removeprefix("SQ_"), {"counter": name}) for name in names)
    if name == "wave_states":
        present = trace.states["state"].unique().sort().to_list() if trace.waves.height else []
        return tuple(Series(STATES.get(state, f"state {state}"), {"state": state}) for state in present)
    if name == "clock":
        engines = [number for number in curve_engines(trace, name) if se in (None, number)]
        return tuple(Series(f"SE {number}", {"se": number}) for number in engines)
    events = trace.occupancy if se is None else trace.occupancy.filter(pl.col("se") == se)
    if name == "dispatches":
        name_by_kernel = dict(trace.kernels.select("kernel", "demangled").iter_rows())
        kernels = events["kernel"].unique().sort(nulls_last=True).to_list()
        return tuple(Series(name_by_kernel.get(kernel) or "not known", {"kernel": kernel}) for kernel in kernels)
    column, word = ("se", "SE") if se is None else ("cu", "CU")
    return tuple(Series(f"{word} {number}", {column: number}) for number in events[column].unique().sort())


@bounded(se=ENGINE)
@once_per_trace
def curve_steps(trace: ThreadTrace, name: str, *, se: int | None = None) -> tuple[StepCurve, ...]:
    """The curves of a name but `wave_states`, in the order of `curve_series`, on the aligned clock."""
    series = curve_series(trace, name, se=se)
    if name == "sampled_counters":
        return tuple(StepCurve.of_values(gpu_curve(trace, number, se=se)) for number in range(len(series)))
    if name == "clock":
        pairs = clock_curves(trace).select("se", "time_cycles", value="mhz")
        return tuple(
            StepCurve.of_values(pairs.filter(pl.col("se") == entry.keys["se"]), before=float("nan")) for entry in series
        )
    changes = residency_changes(trace)
    of_engine = changes if se is None else changes.filter(pl.col("se") == se)
    curves = []
    for entry in series:
        ((column, value),) = entry.keys.items()
        curves.append(StepCurve.of_changes(of_engine.filter(pl.col(column).eq_missing(pl.lit(value)))))
    return tuple(curves)


def derived_steps(evaluated: DerivedValues) -> Iterator[tuple[Series, StepCurve]]:
    """Derived counters over time, one curve per index of the other axes.

    A number holds for all steps. A counter whose steps are not those of the samples has no curve.
    """
    raw = evaluated.raw
    for definition in evaluated.definitions:
        tensor = evaluated.values[definition.name]
        if tensor.shape[3] not in (1, raw.sample_count):
            continue
        times = raw.start_cycles + raw.step_cycles * np.arange(raw.sample_count + 1, dtype=np.int64)
        for place in indices(tensor.shape):
            line = np.broadcast_to(tensor[place].astype(np.float64), (raw.sample_count,))
            values = np.append(np.where(np.isfinite(line), line, np.nan), np.nan)
            which = [f"{axis} {at}" for axis, at, size in zip(("XCC", "SE", "CU"), place, tensor.shape[:3], strict=True)
                     if size > 1]  # fmt: skip
            keys = {"counter": definition.name}
            yield Series(" ".join([definition.name, *which]), keys), StepCurve(times, values, float("nan"))


def _checked(name: str) -> str:
    if name not in CURVES:
        raise UsageError(f"no curves {name[:40]!r}", advice=f"one of {', '.join(CURVES)}")
    return name
