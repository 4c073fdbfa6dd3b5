"""Counter captures that the page is tested with: made by us, and real ones where `../shared` is beside the clone."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from synth.counter_capture import CounterCapture, write_counter_csv, write_counters
from synth.kernel_work import KernelWork
from tests.conftest import SHARED
from tests.e2e.inputs import HOSTILE

KERNELS = (
    KernelWork("tile_gemm(_Float16*)", 4, duration_ns=90_000, matrix=160, lds=40, l2_hit_rate=0.8),
    KernelWork("axpy(float*, float)", 3, duration_ns=30_000, fma_f32=16, valu=24, l1_hit_rate=0.2),
    KernelWork(
        "gather<int>(int const*)", 5, duration_ns=12_000, coalescing=0.25, l2_hit_rate=0.4, channel_imbalance=0.2
    ),
)


@cache
def _scratch() -> Path:
    return Path(mkdtemp(prefix="wavewright-e2e-"))


@cache
def made_capture(target: str = "gfx942", *, slower: float = 1.0) -> Path:
    """Three kernels, 12 dispatches, every counter of the panels; `slower` stretches the first kernel."""
    first = replace(KERNELS[0], duration_ns=round(KERNELS[0].duration_ns * slower))
    folder = _scratch() / f"{target}-{slower}"
    write_counters(folder, CounterCapture(target, (first, *KERNELS[1:])))
    return folder


@cache
def few_counters() -> Path:
    """Two passes of rocprofv3 with five counters: most metrics cannot be computed."""
    folder = _scratch() / "few"
    write_counter_csv(folder, CounterCapture("gfx942", KERNELS))
    return folder


@cache
def hostile_capture() -> Path:
    """Kernels whose names look like HTML, are as long as a page, or are nothing at all."""
    names = (HOSTILE, "</script><script>alert(1)</script>", "k" * 3000, "\u202egnp.exe", " ")
    folder = _scratch() / "hostile"
    write_counters(
        folder, CounterCapture("gfx90a", tuple(KernelWork(name, 2, fma_f32=4 + n) for n, name in enumerate(names)))
    )
    return folder


@cache
def single_dispatch() -> Path:
    """One kernel that ran once, without values per channel."""
    folder = _scratch() / "single"
    write_counters(folder, CounterCapture("gfx950", (KernelWork("once", 1),), with_channels=False))
    return folder


def real_capture(path: str) -> Path:
    """A counter capture of the shared data; the test is skipped without it."""
    found = SHARED / "data" / path
    if not found.exists():
        pytest.skip(f"no {path} in ../shared")
    return found
