"""Orders of waves against counters of a GEMM on MI300X, published rates of large GEMMs on MI355X, and identities.

Counters: the public capture of facts/gpus/chiplets.toml, means of 150 dispatches of 2,048 workgroups; instructions of a
wave (80 loads, 16 stores, a barrier per step) are counted, too. Rates: HipKittens (arXiv 2511.08083), table 4.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from wavewright import _core
from wavewright.analysis.trace.fabric.alike import Alike
from wavewright.analysis.trace.fabric.orders import ORDERS, Machine, MemoryWork, _simulated, interval, work_of
from wavewright.analysis.trace.fabric.workgroups import Accesses
from wavewright.facts.gpus.chiplets import caches_of

M, N, K, BATCHES = 128, 512, 128, 128
A, B, C = 1 << 40, 2 << 40, 3 << 40
COUNTED_FABRIC_READS, COUNTED_HIT_RATE = 411_195, 0.7559
CACHES = caches_of("gfx942")
assert CACHES is not None
MI300X = Machine(CACHES, 8, 38, 8)


def _kind(rows: list[tuple[int, int, int, int, Any]], moves: Any, numbers: Any) -> Alike:
    """Workgroups whose waves access `rows`: array, place, position, barriers before, addresses of the lanes."""
    columns = [np.array([row[at] for row in rows]) for at in range(4)]
    count, nothing = len(rows), np.zeros(len(rows), np.int64)
    accesses = Accesses(
        columns[0], columns[1], columns[2], columns[3], np.ones(count, bool), np.full(count, 2**64 - 1, np.uint64),
        np.stack([row[4] for row in rows]), nothing, nothing, (), 0, is_as_traced=True,
    )  # fmt: skip
    return Alike(numbers, accesses, columns[0], moves)


@pytest.fixture(scope="module")
def gemm() -> MemoryWork:
    """64 x 64 tiles of four waves: per step of 8 a load of A by 8 bytes and four of B by 2 bytes, then a barrier."""
    lane = np.arange(64)
    row, column = lane // 32, lane % 32
    rows = []
    for wave in range(4):
        down, right = 32 * (wave // 2), 32 * (wave % 2)
        position = 0
        for k in range(0, K, 8):
            position += 20
            rows.append((0, wave, position, k // 8, A + 2 * ((column + down) * K + 4 * row + k)))
            for part in range(4):
                position += 2
                rows.append((1, wave, position, k // 8, B + 2 * ((4 * row + part + k) * N + column + right)))
            position += 8
        for part in range(16):
            position += 4
            at = 4 * row + down + part % 4 + 8 * (part // 4)
            rows.append((2, wave, position, K // 8, C + 2 * (at * N + column + right)))
    numbers = np.arange(N // 64 * (M // 64) * BATCHES)
    x, y, z = numbers % 8, numbers // 8 % 2, numbers // 16
    moves = [y * 64 * K + z * M * K, x * 64 + z * K * N, x * 64 + y * 64 * N + z * M * N]
    work = work_of([_kind(rows, 2 * np.stack(moves), numbers)], np.array([0, 0, 1]), np.array([8, 2, 2]), CACHES, 2048)
    assert work is not None
    return work


def _all_xcds(work: MemoryWork, order: str, machine: Machine = MI300X) -> dict[str, int]:
    return {name: 8 * value for name, value in _simulated(work, machine, np.arange(2048), ORDERS[order]).items()}  # type: ignore[operator]


def test_fabric_reads_of_the_gemm_are_counted_ones(gemm: MemoryWork) -> None:
    found = _all_xcds(gemm, "queues")
    assert found["read_misses"] == pytest.approx(COUNTED_FABRIC_READS, rel=0.01)
    assert found["read_misses"] + found["write_misses"] == pytest.approx(541_696, rel=0.005)
    assert found["writes"] == 262_144
    assert found["evictions"] == found["read_misses"] + found["write_misses"] - 8 * 32_768  # L2 was full at the end


def test_the_interval_holds_the_counters(gemm: MemoryWork) -> None:
    found = interval(gemm, MI300X, np.arange(2048))
    assert found is not None
    low, high = (393_216 * (1 + share) for share in found.refetched_share)
    assert low < COUNTED_FABRIC_READS < high < 1.1 * COUNTED_FABRIC_READS
    assert found.hit_rate[0] < COUNTED_HIT_RATE < found.hit_rate[1]
    assert found.hit_rate == pytest.approx((0.65, 0.80), abs=0.01)


@pytest.mark.parametrize(
    ("mebibytes", "is_copy", "counted_reads", "counted_rate"), [(8, True, 65_775, 0.335), (16, False, 0, 0.5082)]
)
def test_a_copy_and_a_fill(mebibytes: int, is_copy: bool, counted_reads: int, counted_rate: float) -> None:
    """Counted on the same MI300X; the fill reads nothing, and each line is stored in two pieces."""
    count = mebibytes << 9  # workgroups of 2 KiB
    lane, rows = np.arange(64), []
    for wave in range(4):
        rows += [(0, wave, 4, 0, A + 8 * (64 * wave + lane))] if is_copy else []
        rows += [(1, wave, 8, 0, B + 8 * (64 * wave + lane))]
    moves = np.stack([2_048 * np.arange(count)] * 2)
    work = work_of([_kind(rows, moves, np.arange(count))], np.array([0, 1]), np.array([8, 8]), CACHES, count)
    assert work is not None
    found = _simulated(work, MI300X, np.arange(count), ORDERS["queues"])
    assert 8 * found["reads"] == 8 * found["read_misses"] == (65_536 if is_copy else 0)
    assert 8 * found["reads"] == pytest.approx(counted_reads, rel=0.005)
    assert 8 * found["writes"] == count * 2_048 // 64
    misses = found["read_misses"] + found["write_misses"]
    assert 1 - misses / (found["reads"] + found["writes"]) == pytest.approx(counted_rate, abs=0.01)


@pytest.mark.slow
def test_other_caches_are_rejected_by_the_counters(gemm: MemoryWork) -> None:
    """Lines of 64 bytes, four XCDs and no L1 give other misses or requests: the counters can tell."""
    small = replace(MI300X, caches=replace_fact(l2_bytes=2 << 20))
    assert _all_xcds(gemm, "queues", small)["read_misses"] > 1.5 * COUNTED_FABRIC_READS
    fewer = _simulated(gemm, replace(MI300X, xcds=4), np.arange(2048), ORDERS["queues"])
    assert 4 * fewer["read_misses"] != pytest.approx(COUNTED_FABRIC_READS, rel=0.05)
    without_l1 = _all_xcds(gemm, "queues", replace(MI300X, caches=replace_fact(l1_bytes=None)))
    assert without_l1["reads"] > 3 * 1_950_956


def replace_fact(**changed: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(CACHES, **changed)


def test_sets_bound_what_limited_caches_read(gemm: MemoryWork) -> None:
    unlimited = _simulated(gemm, MI300X, np.arange(2048), ORDERS["lockstep"], is_limited=False)
    assert 8 * unlimited["read_misses"] == 393_216
    assert unlimited["evictions"] == 0
    for order in ORDERS.values():
        assert _simulated(gemm, MI300X, np.arange(2048), order)["read_misses"] >= unlimited["read_misses"]


#: Edge of the matrices, rows of a group of workgroups, chunk per XCD, published hit rates of L2 and Infinity Cache (%).
PUBLISHED = [
    (9216, 0, 0, 55, 95), (9216, 7, 216, 79, 24), (9216, 5, 25, 75, 93), (14592, 0, 0, 36, 76), (14592, 8, 64, 78, 55)
]  # fmt: skip


def _large_gemm(edge: int, rows: int, chunk: int, drift: float) -> tuple[float, float]:
    """Hit rates of L2 and of the Infinity Cache: 192 x 256 tiles, 64 columns of A and B per step, one block each."""
    down, right, steps = edge // 192, edge // 256, edge // 64
    total = down * right
    number = np.arange(total)
    if chunk:
        full = total // (8 * chunk) * 8 * chunk
        at = number // 8
        number = np.where(number < full, at // chunk * 8 * chunk + number % 8 * chunk + at % chunk, number)
    row, column = number // right, number % right
    if rows:
        group = number // (rows * right)
        tall = np.minimum(down - group * rows, rows)
        row, column = group * rows + number % (rows * right) % tall, number % (rows * right) // tall
    per_row = 4 * steps  # blocks lie far apart, because each is told by its first line
    far = 1 << 32
    step = np.repeat(np.arange(steps), 2)
    is_b = np.tile([0, 1], steps)
    columns = {
        "kind": np.zeros(2 * steps), "gap": 1 - is_b, "move": is_b, "first_block": np.arange(2 * steps),
        "block_count": np.ones(2 * steps), "line_count": np.where(is_b, 256, 192), "first_step": [0],
        "end_step": [2 * steps], "first_wave": [0], "end_wave": [1], "kind_of_workgroup": np.zeros(total),
    }  # fmt: skip
    work: dict[str, Any] = {name: pl.Series(np.asarray(each, np.uint32)) for name, each in columns.items()}
    work["line"] = pl.Series(step + is_b * far)
    work["first_move"] = pl.Series(2 * np.arange(total), dtype=pl.UInt64)
    work["moves"] = pl.Series(np.stack([row * per_row, column * per_row]).T.ravel())
    machine = {"xcds": 8, "simulated_xcds": 8, "cus": 32, "residents": 1, "l2_sets": 2048, "l2_ways": 16}
    machine["last_level_lines"] = (256 << 20) // 128
    found = _core.simulate_order(work, machine, {"depth": 0, "drift": drift, "seed": 1})
    assert found["workgroups"] == total
    hits = 1 - found["read_misses"] / found["reads"]
    return 100 * hits, 100 * (1 - found["last_level_misses"] / found["read_misses"])


@pytest.mark.slow
def test_published_rates_of_large_gemms() -> None:
    """Four of five without drift; row-major 9216 loses its reuse when workgroups drift apart by 12 steps."""
    lockstep = [_large_gemm(*case[:3], 0.0) for case in PUBLISHED]
    off = [abs(found[0] - case[3]) for found, case in zip(lockstep, PUBLISHED, strict=True)]
    assert sorted(off)[3] < 5 < off[0]
    assert all(abs(found[1] - case[4]) < 6 for found, case in zip(lockstep, PUBLISHED, strict=True))
    drifting = [_large_gemm(*case[:3], 12.0) for case in PUBLISHED]
    off = [abs(found[0] - case[3]) for found, case in zip(drifting, PUBLISHED, strict=True)]
    assert max(off[1:]) < 5
    assert off[0] < 7
    assert drifting[0][0] < lockstep[0][0] - 10
