"""Bytes of kernels whose sources tell every address, against counting them one by one."""

from __future__ import annotations

import random
import time
from collections import OrderedDict
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl
import pytest
from msgspec import structs

from tests.kit.planted_traffic import PLANTED, PlantedKernel, Touch
from wavewright.analysis.trace import fabric
from wavewright.analysis.trace.fabric import TrafficOptions, fabric_traffic
from wavewright.analysis.trace.fabric.mappings import mappings
from wavewright.facts.gpus.chiplets import caches_of, xcd_count

if TYPE_CHECKING:
    from pathlib import Path

LINE = 128
CASES = [(kernel, target) for target in ("gfx942", "gfx950", "gfx90a") for kernel in PLANTED]


def _by_xcd(order: list[int], xcds: int) -> list[list[int]]:
    return [order[xcd::xcds] for xcd in range(xcds)]


@pytest.mark.some_cases(2)
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


class _SmallCaches:
    """L2 caches that drop the line that was not used for longest, and an Infinity Cache behind all of them."""

    def __init__(self, xcds: int, lines: int, infinity_lines: int) -> None:
        self.l2: list[OrderedDict[tuple[str, int], None]] = [OrderedDict() for _ in range(xcds)]
        self.infinity: OrderedDict[tuple[str, int], None] = OrderedDict()
        self.lines, self.infinity_lines = lines, infinity_lines
        self.fabric = self.hbm = 0

    def touch(self, xcd: int, line: tuple[str, int], *, is_store: bool) -> None:
        if not self._is_kept(self.l2[xcd], line, self.lines) and not is_store:
            self.fabric += 1
            self.hbm += not self._is_kept(self.infinity, line, self.infinity_lines)

    def _is_kept(self, cache: OrderedDict[tuple[str, int], None], line: tuple[str, int], most: int) -> bool:
        found = line in cache
        cache[line] = None
        cache.move_to_end(line)
        if len(cache) > most:
            cache.popitem(last=False)
        return found


def _brute_force(kernel: PlantedKernel, order: list[int], xcds: int, drift: int, caches: _SmallCaches) -> None:
    """The workgroups run together, an access each in turn; each starts up to `drift` turns later."""
    generator = random.Random(drift)
    running = []
    for place, block in enumerate(order):
        late: list[Touch | None] = [None] * generator.randint(0, drift)
        running.append((place % xcds, [*late, *kernel.touches(block, kernel.size)]))
    for step in range(max(len(touches) for _, touches in running)):
        for xcd, touches in generator.sample(running, len(running)):
            for array, width, places, is_store in filter(None, touches[step : step + 1]):
                for line in sorted(set((places * width // LINE).tolist())):
                    caches.touch(xcd, (array, line), is_store=is_store)


@pytest.mark.some_cases(2)
@pytest.mark.parametrize(("kernel", "target"), CASES, ids=[f"{k.name}-{t}" for k, t in CASES])
def test_what_small_caches_read_is_inside_the_interval(
    kernel: PlantedKernel, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Caches so small that lines are lost: between those that are read once and the most of the orders of waves."""
    usual = caches_of(target)
    assert usual is not None
    lines, infinity_lines = 64, 256
    facts = {"l2_bytes": lines * LINE, "l1_bytes": None, "infinity_cache_bytes": infinity_lines * LINE}
    monkeypatch.setattr(fabric, "caches_of", lambda _: structs.replace(usual, **facts))
    answer = fabric_traffic(kernel.trace(target, tmp_path), TrafficOptions(kernel.lanes))
    xcds = xcd_count(target)
    rows = answer.mappings.drop_nulls("most_bytes").to_dicts()
    if kernel.name in ("divergent", "reduction"):  # what they store is not known, so that nothing is simulated of it
        rows = []
    for row in rows:
        order = {mapping.name: mapping.order.tolist() for mapping in mappings(answer.counts, xcds)}[row["mapping"]]
        for drift in (0, 2, 4):
            small = _SmallCaches(xcds, lines, infinity_lines)
            _brute_force(kernel, order, xcds, drift, small)
            assert row["read_bytes"] <= LINE * small.fabric, (row["mapping"], drift)
            assert LINE * small.fabric <= 1.02 * row["most_bytes"], (row["mapping"], drift)
            if row["mapping"] == "today":
                low, high = answer.hbm_read_bytes
                assert answer.unavoidable_bytes <= low <= LINE * small.hbm <= 1.02 * high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size", "workgroups", "trips"),
    [("vector_add", 25_600_000, 100_000, 0), ("tiled_gemm", 5_056, 99_856, 315)],
)
def test_a_grid_of_100_000_workgroups(name: str, size: int, workgroups: int, trips: int, tmp_path: Path) -> None:
    """Sets of lines are exact; of orders of waves a part of the workgroups is simulated, and the answer says so."""
    usual = next(each for each in PLANTED if each.name == name)
    kernel = PlantedKernel(name, size, usual.at, workgroups, trips, usual.touches)
    trace = kernel.trace("gfx942", tmp_path)
    begin = time.process_time()
    answer = fabric_traffic(trace, TrafficOptions(kernel.lanes))
    assert time.process_time() - begin < 10
    assert not answer.problem
    assert answer.unavoidable_bytes == 2 * 4 * (size if name == "vector_add" else size * size)
    assert answer.simulated_count == (workgroups if name == "vector_add" else answer.simulated_count)
    assert 0 < answer.simulated_count <= workgroups
