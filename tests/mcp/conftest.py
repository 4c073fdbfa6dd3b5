from __future__ import annotations

from pathlib import Path

import pytest

from synth.counter_capture import CounterCapture, write_counters
from synth.kernel_work import KernelWork
from synth.planted import plant, write_decoded
from synth.runs import write_rocpd
from tests.kit.planted_runs import simulated
from tests.mcp.planted_lines import with_lines

COPY = KernelWork("void copy<float>(float*)", dispatch_count=6, l2_hit_rate=0.3, channel_imbalance=0.2)
GEMM = KernelWork("gemm", dispatch_count=3, matrix=64, duration_ns=90_000, l2_hit_rate=0.8)


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a trace and its twin, a run, and a counter capture."""
    folder = tmp_path_factory.mktemp("captures")
    pair = plant("load latency", "gfx942", "small")
    for name, execution in (("slow", pair.planted), ("fast", pair.twin)):
        with_lines(execution, write_decoded(execution, folder / "traces" / name))
    run, twin = simulated("straggler", 1, 2)
    write_rocpd(run, folder / "run")
    write_rocpd(twin, folder / "twin")
    write_counters(folder / "counters", CounterCapture("gfx942", kernels=(COPY, GEMM)))
    return folder


@pytest.fixture(scope="session")
def trace(root: Path) -> str:
    """The path of the trace, as a client names it."""
    (path,) = (root / "traces" / "slow").glob("ui_output_*")
    return str(path.relative_to(root))
