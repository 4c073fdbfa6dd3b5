"""Counters of a trace as 32-bit tensors with the axes XCC, SE, CU and TIME."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
import polars as pl

from wavewright.analysis.trace.derived_counters.sampled_counters import counter_names, samples, sampling_step
from wavewright.base.bounds import ENGINE, bounded
from wavewright.errors import UsageError
from wavewright.model.trace import ThreadTrace
from wavewright.model.traced_span import clock_mhz, realtime_hz

Tensor = npt.NDArray[np.float32]

MAX_ELEMENTS = 1 << 24  #: Values of one tensor at most: 64 MiB.
_MAX_PAIRS = 1 << 16  #: Realtime pairs of an engine that RCLOCK has at most.


@dataclass(frozen=True)
class RawTensors:
    """The named tensors, and the clock of the samples."""

    values: Mapping[str, Tensor]
    counters: tuple[str, ...]  #: Full names of the counters.
    start_cycles: int  #: Aligned time of the first sample.
    step_cycles: int
    sample_count: int


@bounded(se=ENGINE)
def raw_tensors(trace: ThreadTrace, names: Sequence[str] = (), *, se: int | None = None) -> RawTensors:
    """Tensors of all counters, also without their prefix SQ_, the clocks, and the constants of the language.

    A sample goes to the step of time it lies in; what several samples of a CU count in one step is added. With `se` the
    other engines have counted nothing; the axes stay as they are. Raises `UsageError` when a tensor would be too large
    to be true.
    """
    counters = counter_names(trace, names)
    step = sampling_step(trace) or 1
    parts = [samples(trace, number) for number in range(len(counters))]
    times = [part["time_cycles"].to_numpy() for part in parts if part.height]
    first = min((int(moments.min()) for moments in times), default=0)
    last = max((int(moments.max()) for moments in times), default=0)
    start, count = first // step * step, last // step - first // step + 1
    shape = (1, _size(parts, "se"), _size(parts, "cu"), count)
    _check(shape, trace)
    values: dict[str, Tensor] = {}
    for name, all_engines in zip(counters, parts, strict=True):
        part = all_engines if se is None else all_engines.filter(all_engines["se"] == se)
        tensor = np.zeros(shape, dtype=np.float64)
        at = np.minimum((part["time_cycles"].to_numpy() - start + step // 4) // step, count - 1)
        places = (np.zeros(part.height, dtype=np.int64), part["se"].to_numpy(), part["cu"].to_numpy(), at)
        np.add.at(tensor, places, part["value"].to_numpy())
        values[name] = values[name.removeprefix("SQ_")] = tensor.astype(np.float32)
    ramp = start + step * np.arange(count, dtype=np.float64)
    values["SCLOCK"] = ramp.astype(np.float32).reshape(1, 1, 1, count)
    values["RCLOCK"] = _realtime(trace)
    sizes = dict(zip(("NUM_XCC", "NUM_SE", "NUM_CU", "NUM_SAMPLES"), shape, strict=True))
    # Numbers, because clocks that run for hours do not fit into 32-bit tensors; one sample does not tell the step.
    clocks = {
        "RCLOCK_MHZ": realtime_hz(trace) / 1e6,
        "SCLOCK_MHZ": clock_mhz(trace) or np.nan,
        "STEP_CYCLES": step if count > 1 else np.nan,
    }
    for name, number in (sizes | clocks).items():
        values[name] = np.full((1, 1, 1, 1), number, dtype=np.float32)
    return RawTensors(values, tuple(counters), start, step, count)


def _size(parts: Sequence[pl.DataFrame], column: str) -> int:
    """Length of an axis: one more than the largest number on it."""
    return 1 + max((int(part[column].max()) for part in parts if part.height), default=0)  # type: ignore[arg-type]


def _check(shape: tuple[int, ...], trace: ThreadTrace) -> None:
    if prod(shape) > MAX_ELEMENTS:
        _, engines, cus, count = shape
        what = f"{engines:,} shader engines x {cus:,} CUs x {count:,} samples are too many for derived counters"
        advice = f"choose engines with --se; at most {MAX_ELEMENTS:,} values"
        raise UsageError(what, where=trace.source.path, advice=advice)


def _realtime(trace: ThreadTrace) -> Tensor:
    """(1, SE, 2, points): shader clock, and wall clock since the first pair; short lists repeat their last pair."""
    pairs = trace.realtime.drop_nulls().sort("se", "shader_clock_cycles")
    engines = {se: part.head(_MAX_PAIRS) for (se,), part in pairs.partition_by("se", as_dict=True).items()}
    points = max((part.height for part in engines.values()), default=1)
    tensor = np.zeros((1, 1 + max(engines, default=0), 2, points), dtype=np.float32)
    if tensor.size > MAX_ELEMENTS:
        return np.zeros((1, 1, 2, 1), dtype=np.float32)
    origin = min(pairs["realtime_ticks"].to_list(), default=0)
    for se, part in engines.items():
        for place, column, zero in ((0, "shader_clock_cycles", 0), (1, "realtime_ticks", origin)):
            values = [float(value - zero) for value in part[column].to_list()]
            tensor[0, se, place, :] = values + values[-1:] * (points - len(values))
    return tensor
