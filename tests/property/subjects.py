"""One small thing of every kind that can be opened, for sweeps over all questions, verbs and analyses."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from synth import Scenario, compiled, synthesize, write_capture
from synth.counter_capture import CounterCapture, write_counters
from synth.kernel_work import KernelWork
from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from wavewright.base.bounds import Bounds
from wavewright.model.counters import CounterSet
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace
from wavewright.readers.opening import open as open_path

EDGES = (-(1 << 64), -(1 << 63), -1, 0, 1, 1 << 16, 1 << 31, 1 << 32, 1 << 53, (1 << 63) - 1, 1 << 63, 1 << 64)


@cache
def written(folder: str) -> dict[str, Path]:
    """The paths of a trace, a run and a counter capture, made below a folder."""
    paths = {kind: Path(folder) / kind for kind in ("trace", "run", "counters")}
    scenario = Scenario(
        kernels=(compiled("tiled_gemm", "gfx942"),), shader_engines=2, workgroups=2, waves_per_simd=2, loop_trips=2,
        other_waves=4, realtime_pairs=2, seed=3,
    )  # fmt: skip
    write_capture(synthesize(scenario), paths["trace"])
    write_rocpd_ranks(paths["run"], Workload(dispatches=20, ranks=2, seed=3))
    write_counters(paths["counters"], CounterCapture("gfx90a", (KernelWork("copy", 3),), with_channels=False))
    return paths


@cache
def opened(folder: str) -> dict[str, ThreadTrace | Run | CounterSet]:
    """The same, open."""
    return {kind: open_path(path) for kind, path in written(folder).items()}


def around(bounds: Bounds) -> Iterable[float]:
    """Bounds, what lies just outside of them, and numbers at which machines stumble."""
    low, high = bounds
    return dict.fromkeys((low, high, low - 1, high + 1, *EDGES))
