"""Runs that the page is tested with: made by us, and real ones where `../shared` stands beside the clone."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from synth import Workload, write_rocpd_ranks, write_rpd
from tests.conftest import SHARED


@cache
def _scratch() -> Path:
    return Path(mkdtemp(prefix="wavewright-e2e-"))


@cache
def made_ranks(*, is_slow: bool = False, hostile: bool = False) -> Path:
    """A run of four ranks on two nodes, whose clocks lie far apart, as ROCpd databases."""
    folder = _scratch() / f"ranks-{is_slow}-{hostile}"
    workload = Workload(
        dispatches=1200, ranks=4, nodes=2, imbalance=0.1, clock_offset_ns=1_700_000_000_000_000_000, seed=3,
        slow=(("flash", 1.3),) if is_slow else (), hostile_names=hostile, argument_share=0.5,
    )  # fmt: skip
    write_rocpd_ranks(folder, workload)
    return folder


@cache
def made_rpd() -> Path:
    """One process as RPD writes it."""
    path = _scratch() / "made.rpd"
    write_rpd(path, Workload(dispatches=300, seed=5))
    return path


def real_run(path: str) -> Path:
    """A recorded run of the shared data; the test is skipped without it."""
    found = SHARED / "data" / path
    if not found.exists():
        pytest.skip(f"no {path} in ../shared")
    return found
