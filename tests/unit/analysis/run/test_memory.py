from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from synth import Workload, write_rocpd
from synth.rpd import write_rpd
from tests.kit.made_runs import source as made_source
from wavewright.analysis.run.calls.call_sites import UNKNOWN, call_sites
from wavewright.analysis.run.memory.counter_points import allocated_bytes
from wavewright.analysis.run.memory.memory import combine_memory, memory, partial_memory
from wavewright.errors import UsageError
from wavewright.model.run import MemorySource, Run
from wavewright.model.run_tables import RUN
from wavewright.model.schema import frame_of
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path

PROCESS = {"process": 0, "source": 0, "guid": "g", "pid": 7}
GPUS = [{"agent": number, "process": 0, "kind": "GPU", "type_index": number} for number in range(2)]


def run_of(**tables: list[dict[str, Any]]) -> Run:
    tables = {"processes": [PROCESS], "agents": GPUS, **tables}
    frames = {name: frame_of(RUN[name], rows) for name, rows in tables.items()}
    return Run([MemorySource("made", "ROCpd", "3", frames)])


def taken(time: int, address: int | None, size: int | None, agent: int | None = 0, **more: Any) -> dict[str, Any]:
    row = {"process": 0, "thread": 0, "agent": agent, "type": "ALLOC", "level": "REAL", "start_ns": time - 1}
    return row | {"end_ns": time, "address": address, "size_bytes": size} | more


def given(time: int, address: int | None, **more: Any) -> dict[str, Any]:
    return taken(time, address, 0, None, type="FREE") | more


def region(name: str, start: int, end: int, domain: str = "OPERATOR") -> dict[str, Any]:
    return {"process": 0, "thread": 0, "name": name, "domain": domain, "start_ns": start, "end_ns": end}


def test_peak_with_what_is_alive_and_what_is_not_freed() -> None:
    run = run_of(
        allocations=[taken(100, 1, 10), taken(200, 2, 30), given(300, 1), taken(400, 3, 5), given(500, 2)],
        regions=[
            region("step", 0, 1000, "MARKER"),
            region("aten::mm", 50, 150),
            region("aten::cat", 150, 250),
            region("hipMalloc", 399, 400, "HIP"),
        ],
    )
    answer = memory(run, bins=10)
    (place,) = answer.places.to_dicts()
    assert (place["gpu"], place["pool"], place["allocation_count"], place["release_count"]) == (0, "HIP", 3, 2)
    assert (place["peak_bytes"], place["peak_ns"], place["end_bytes"]) == (40, 200, 5)
    assert (place["unfreed_count"], place["unfreed_bytes"], place["allocated_bytes"], place["call_ns"]) == (1, 5, 45, 5)
    assert answer.sites.select("site", "peak_count", "peak_bytes", "unfreed_bytes").rows() == [
        ("step > aten::cat", 1, 30, 0),
        ("step > aten::mm", 1, 10, 0),
        ("step", 0, 0, 5),
    ]
    assert answer.curve["live_bytes"].to_list() == [0, 10, 40, 40, 35, 35, 5, 5, 5, 5]
    assert not answer.covers_end


def test_releases_of_what_was_there_before() -> None:
    answer = memory(run_of(allocations=[given(10, 9), taken(20, 1, 8), taken(30, 1, 4), taken(40, None, 2)]))
    rows = answer.places.sort("gpu", nulls_last=True).to_dicts()
    assert [row["earlier_count"] for row in rows] == [0, 1]  # a release does not say where
    assert rows[0]["reused_count"] == 1  # the second allocation at 1 ends the first
    assert (rows[0]["peak_bytes"], rows[0]["end_bytes"], rows[0]["unfreed_count"]) == (8, 6, 2)


def test_the_allocator_says_what_is_in_use() -> None:
    def said(total: int, size: int) -> dict[str, Any]:
        return {"level": "FRAMEWORK", "properties": f'{{"Total Allocated": {total}, "Bytes": {size}}}', "agent": 0}

    rows = [taken(10, 1, 8, **said(108, 8)), given(20, 5, **said(58, -50)), given(30, 1, **said(50, -8))]
    (place,) = memory(run_of(allocations=rows)).places.to_dicts()
    assert (place["pool"], place["before_bytes"], place["peak_bytes"], place["end_bytes"]) == (
        "FRAMEWORK",
        100,
        108,
        50,
    )
    assert (place["peak_before_bytes"], place["earlier_count"]) == (100, 1)


def test_calls_with_arguments_where_nothing_else_was_recorded() -> None:
    calls = [
        region("hipMalloc", 0, 5, "HIP") | {"function": "hipMalloc", "event": 1},
        region("hipFree", 10, 15, "HIP") | {"function": "hipFree", "event": 2},
        region("hipMalloc", 20, 25, "HIP") | {"function": "hipMalloc", "event_properties": '{"bytes":7,"ptr":"0x20"}'},
        region("hipMalloc", 30, 35, "HIP") | {"function": "hipMalloc", "event": 3},
    ]
    arguments = [
        (1, "ptr", "0x10", ""),
        (1, "size", "0x100", ""),
        (2, "ptr", "0x10", "void*"),
        (3, "ptr", "1", "void**"),
        (3, "size", "64", "size_t"),
    ]
    rows = [
        {"process": 0, "event": event, "name": name, "value": value, "type": kind}
        for event, name, value, kind in arguments
    ]
    run = run_of(agents=GPUS[:1], regions=calls, arguments=rows)
    (place,) = memory(run).places.to_dicts()
    assert (place["gpu"], place["allocation_count"], place["release_count"]) == (0, 2, 1)
    assert (place["peak_bytes"], place["end_bytes"]) == (256, 7)
    with_table = run_of(agents=GPUS[:1], regions=calls, arguments=rows, allocations=[taken(3, 1, 1)])
    assert memory(with_table).places["allocation_count"].to_list() == [1]


def test_scratch_and_reserved_addresses_are_left_out() -> None:
    rows = [taken(1, 1, 8, level="SCRATCH"), taken(2, 2, 8, level="VIRTUAL")]
    assert memory(run_of(allocations=rows)).places.height == 0
    assert memory(run_of()).curve.height == 0
    with pytest.raises(UsageError):
        memory(run_of(), bins=0)


def test_impossible_values() -> None:
    worst = (1 << 63) - 1
    rows = [taken(worst, worst, worst), taken(-5, -1, -1), taken(1, 1, None), given(0, worst)]
    rows.append(taken(9, 1, 3) | {"end_ns": None})
    answer = memory(run_of(allocations=rows))
    assert set(answer.places["peak_bytes"].to_list()) == {0}
    assert answer.places["allocation_count"].sum() == 3


def brute_force(rows: list[dict[str, Any]]) -> dict[int | None, tuple[int, int, int, int, int]]:
    """Peak, its row, end, unfreed bytes and bytes alive at the peak per GPU, one event after the other."""
    alive: dict[int, tuple[int | None, int]] = {}
    live: dict[int | None, int] = {}
    peaks: dict[int | None, tuple[int, int]] = {}
    for number, row in enumerate(rows):
        before = alive.pop(row["address"], None)
        if before:
            live[before[0]] -= before[1]
        if row["type"] == "ALLOC":
            alive[row["address"]] = (row["agent"], row["size_bytes"])
            live[row["agent"]] = live.get(row["agent"], 0) + row["size_bytes"]
        for gpu, count in live.items():
            if count > peaks.get(gpu, (0, 0))[0]:
                peaks[gpu] = (count, number)
    unfreed = {gpu: sum(size for owner, size in alive.values() if owner == gpu) for gpu in live}
    return {
        gpu: (peaks.get(gpu, (0, 0))[0], rows[peaks[gpu][1]]["end_ns"], live[gpu], unfreed[gpu], 0) for gpu in peaks
    }


@pytest.mark.first_case
@pytest.mark.parametrize("seed", range(30))
def test_equal_to_following_every_event(seed: int) -> None:
    chance = random.Random(seed)
    rows, time = [], 1
    for _ in range(chance.randrange(1, 120)):
        time += chance.randrange(3)  # several at one time
        address = chance.randrange(12)
        is_taken = chance.random() < 0.6
        rows.append(
            taken(time, address, chance.randrange(1, 100), chance.randrange(2)) if is_taken else given(time, address)
        )
    answer = memory(run_of(allocations=rows), bins=chance.randrange(1, 40))
    expected = brute_force(rows)
    zero = min(row["start_ns"] for row in rows)
    for place in answer.places.filter(pl.col("gpu").is_not_null()).iter_rows(named=True):
        peak, time_ns, end, unfreed, _ = expected[place["gpu"]]
        assert (place["peak_bytes"], place["peak_ns"] + zero) == (peak, time_ns)
        assert (place["end_bytes"], place["unfreed_bytes"]) == (end, unfreed)
        assert place["peak_before_bytes"] == 0
        curve = answer.curve.filter(pl.col("gpu") == place["gpu"])["live_bytes"]
        assert curve.max() == peak
        assert curve[-1] >= end
    assert answer.sites["peak_bytes"].sum() == sum(values[0] for values in expected.values())
    assert answer.sites["unfreed_bytes"].sum() == sum(values[3] for values in expected.values())


@pytest.mark.slow
def test_many_runs_are_the_sum_of_each(tmp_path: Path) -> None:
    write_rocpd(tmp_path / "a.db", Workload(dispatches=300, ranks=2, seed=3))
    write_rpd(tmp_path / "b.rpd", Workload(dispatches=100, ranks=1, seed=4))
    runs = [open_run(tmp_path / name) for name in ("a.db", "b.rpd")]
    together = memory(open_run(tmp_path / "a.db", tmp_path / "b.rpd"))
    apart = combine_memory([partial_memory(run) for run in runs])
    assert together.places.equals(apart.places, null_equal=True)
    assert together.sites.equals(apart.sites, null_equal=True)
    rows = runs[0].allocations.filter(pl.col("level").cast(pl.String) != "SCRATCH")
    ours = apart.places.filter(pl.col("run") != str(tmp_path / "b.rpd"))
    assert ours["allocated_bytes"].sum() == rows.filter(pl.col("type").cast(pl.String) == "ALLOC")["size_bytes"].sum()
    assert apart.sites["allocated_bytes"].sum() == apart.places["allocated_bytes"].sum()
    assert apart.sites["unfreed_bytes"].sum() == apart.places["unfreed_bytes"].sum()


def test_the_curves_of_the_page_are_the_same() -> None:
    rows = [taken(100, 1, 10), taken(200, 2, 30), taken(300, 1, 7), given(400, 2), taken(500, 3, 5, 1)]
    points = allocated_bytes(run_of(allocations=rows)).select("agent", "time_ns", "value").rows()
    assert points == [(0, 100, 10.0), (0, 200, 40.0), (0, 300, 37.0), (0, 400, 7.0), (1, 500, 5.0)]


def test_sites_of_overlapping_regions() -> None:
    run = run_of(regions=[region("a", 0, 10), region("b", 5, 20), region("c", 30, 40, "HIP")])
    moments = pl.DataFrame(
        {"thread": [0, 0, 0, 0, 9, None], "time_ns": [7, 15, 25, 35, 7, 7]},
        schema={"thread": pl.UInt32, "time_ns": pl.Int64},
    )
    assert call_sites(run, moments).to_list() == ["a > b", "b", UNKNOWN, "c", UNKNOWN, UNKNOWN]


def test_marker_at_the_peak_is_of_the_same_process() -> None:
    """That of another rank began later, and is open then, too."""
    processes = [{"process": rank, "source": 0, "node": 0, "pid": 7, "rank": rank} for rank in (0, 1)]
    markers = [
        {"process": process, "thread": process, "domain": "MARKER", "name": name, "start_ns": begin, "end_ns": 300}
        for process, name, begin in ((0, "own", 0), (1, "of another", 50))
    ]
    taken = {"agent": 1, "type": "ALLOC", "level": "REAL", "start_ns": 90, "end_ns": 100, "address": 1}
    made = made_source(processes=processes, regions=markers, allocations=[taken | {"size_bytes": 100}])
    assert memory(Run([made])).places.select("rank", "peak_bytes", "peak_marker").rows() == [(0, 100, "own")]
