"""A run whose GPUs were sampled while it ran, as rocprof-sys writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from synth import Workload, write_rocpd
from synth.rocprof_sys import Poll, add_samples
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path

_GPU = 2  #: Number of the first GPU among the agents.


def write_sampled(path: Path, polls: int = 20) -> None:
    """A ROCpd database with power and temperature of two GPUs; the first sample comes after the first event."""
    write_rocpd(path, Workload(dispatches=200, seed=7))
    times = open_run(path).dispatches
    start, end = int(times["start_ns"].min()), int(times["end_ns"].max())  # type: ignore[arg-type]
    add_samples(
        path,
        [
            Poll(
                start + (end - start) * number // polls,
                gpu,
                {"device_power": 300.0 + number, "device_temp": 60},
            )
            for number in range(1, polls)
            for gpu in (_GPU, _GPU + 1)
        ],
    )
