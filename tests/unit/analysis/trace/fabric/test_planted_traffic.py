"""Bytes of kernels whose sources tell every address, against counting them one by one."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.kit.planted_traffic import PLANTED, PlantedKernel
from wavewright.analysis.trace.fabric import TrafficOptions, fabric_traffic
from wavewright.facts.chiplets import xcd_count

if TYPE_CHECKING:
    from pathlib import Path

LINE = 128
CASES = [(kernel, target) for target in ("gfx942", "gfx950", "gfx90a") for kernel in PLANTED]


def _by_xcd(order: list[int], xcds: int) -> list[list[int]]:
    return [order[xcd::xcds] for xcd in range(xcds)]


@pytest.mark.some_cases(7)
@pytest.mark.parametrize(("kernel", "target"), CASES, ids=[f"{k.name}-{t}" for k, t in CASES])
def test_bytes_are_those_of_the_source(kernel: PlantedKernel, target: str, tmp_path: Path) -> None:
    xcds, count = xcd_count(target), kernel.workgroups
    shuffled = random.Random(kernel.size).sample(range(count), count)
    answer = fabric_traffic(kernel.trace(target, tmp_path), TrafficOptions(kernel.lanes, order=tuple(shuffled)))
    assert not answer.problem
    everyone = range(count)
    assert answer.unavoidable_bytes == LINE * kernel.units(LINE, everyone, is_store=False)
    assert int(answer.arrays["written_bytes"].sum()) == 4 * kernel.units(4, everyone, is_store=True)

    orders = {"today": list(everyone), "given": shuffled}
    if xcds > 1:
        fewer = count % xcds or xcds
        starts = [min(x, fewer) * -(-count // xcds) + max(0, x - fewer) * (count // xcds) for x in range(xcds + 1)]
        ranges = [list(range(a, b)) for a, b in pairwise(starts)]
        orders["contiguous range per XCD"] = [ranges[i % xcds][i // xcds] for i in everyone]
        blocks = count // (2 * xcds) * 2 * xcds
        orders["chunks of 2 per XCD"] = [
            i // (2 * xcds) * 2 * xcds + i % xcds * 2 + i // xcds % 2 if i < blocks else i for i in everyone
        ]
    for name, order in orders.items():
        row = answer.mappings.filter(pl.col("mapping") == name).row(0, named=True)
        truth = sum(kernel.units(LINE, iter(part), is_store=False) for part in _by_xcd(order, xcds))
        assert row["lines_count"] == truth, name
    if kernel.name == "divergent":
        assert answer.known_share == 0.5
        assert answer.reasons["reason"].str.contains("which lanes are active").all()
    elif kernel.name == "reduction":
        assert answer.reasons["reason"].to_list() == ["an atomic, which L2 executes"]
    else:
        assert answer.known_share == 1
        pieces = sum(kernel.units(64, iter(part), is_store=True) for part in _by_xcd(list(everyone), xcds))
        assert answer.write_bytes == 64 * pieces


def test_sizes_that_no_traced_wave_had(tmp_path: Path) -> None:
    gemm = PLANTED[2]
    other = PlantedKernel(gemm.name, 64, gemm.at, 16, 5, gemm.touches)
    answer = fabric_traffic(other.trace("gfx942", tmp_path), TrafficOptions(other.lanes))
    assert answer.problem.startswith("no wave goes the way that was traced")
    assert not answer.mappings.height


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    trace = PLANTED[0].trace("gfx942", tmp_path)
    assert "--grid" in fabric_traffic(trace).problem
    without = TrafficOptions(PLANTED[0].lanes.__class__((), (256, 1, 1), (12_800, 1, 1)))
    answer = fabric_traffic(trace, without)
    assert "which lanes are active" in answer.problem
    assert answer.known_share == 0
    assert answer.reasons.height
