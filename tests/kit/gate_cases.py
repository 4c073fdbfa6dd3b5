"""Captures for tests of gates: quantities made of drawn durations, as `baseline` would measure them."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import polars as pl

from wavewright.model.baseline import Baseline, MeasuredCapture, Quantity
from wavewright.model.run import MemorySource, Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Durations = Sequence[NDArray[np.float64]]

HOSTILE = "::error::%0A]]>&<x a=\"'|`*\u202e\x00\x1b[2J\ufffe,:\n# h"  #: A name that means something in every format.


def measured(runs: Sequence[Durations], **facts: str) -> Baseline:
    """Runs of these durations (ns) per kernel."""
    return Baseline("run", tuple(_capture(run, **facts) for run in runs))


def _capture(run: Durations, **facts: str) -> MeasuredCapture:
    quantities, variance = [], 0.0
    for number, calls in enumerate(run):
        count = len(calls)
        error = float(calls.std(ddof=1)) / sqrt(count)
        variance += (count * error) ** 2
        total = float(calls.sum())
        quantities.append(Quantity("kernel", f"k{number}", "ns", count, total / count, error, count - 1, total=total))
    whole = Quantity(
        "gpu-time", "", "ns", sum(map(len, run)), sum(float(calls.sum()) for calls in run), sqrt(variance), 10**6
    )
    return MeasuredCapture("run", (whole, *quantities), **{"target": "gfx942", **facts})


def opened(run: Durations) -> Run:
    """The same as a run with dispatches, one after the other, kernels in turn."""
    rows, start = [], 0
    for call in range(max(map(len, run))):
        for number, calls in enumerate(run):
            if call < len(calls):
                end = start + round(float(calls[call]))
                rows.append({"process": 0, "name": f"k{number}", "agent": 0, "start_ns": start, "end_ns": end})
                start = end + 1000
    tables = {
        "dispatches": pl.DataFrame(rows),
        "processes": pl.DataFrame({"process": [0], "source": [0], "pid": [1], "guid": ["g"]}),
        "agents": pl.DataFrame({"agent": [0], "process": [0], "kind": ["GPU"], "target": ["gfx942"]}),
    }
    return Run([MemorySource("run.db", "ROCpd", "3", tables)])
