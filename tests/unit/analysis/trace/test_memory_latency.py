from __future__ import annotations

from itertools import pairwise
from random import Random
from statistics import mean, stdev
from typing import Any

import polars as pl
import pytest

from tests.kit.small_traces import CATEGORY, frame, small_trace
from tests.kit.together import together
from wavewright.analysis.trace.memory_latency import memory_latency
from wavewright.model.trace import ThreadTrace, TraceSource

LOAD, WAIT = "global_load_dword v0, v[0:1], off", "s_waitcnt vmcnt(0)"


def rows_of(trace: ThreadTrace) -> dict[int, dict[str, Any]]:
    return {row["row"]: row for row in memory_latency(trace).by_row.iter_rows(named=True)}


def test_exact_latencies_where_a_wait_stalled() -> None:
    steps = []
    for number, latency in enumerate((400, 500, 900)):
        begin = 2000 * number
        steps += [(0, "VMEM", begin, 0, 4), (1, "IMMED", begin + 100, latency - 100, latency - 100)]
    (row,) = rows_of(small_trace([LOAD, WAIT], steps)).values()
    assert (row["sample_count"], row["tight_count"], row["is_bound"], row["kind"]) == (3, 3, False, "vector load")
    assert row["latency_cycles_mean"] == pytest.approx(600)
    assert row["latency_cycles_sd"] == pytest.approx(stdev([400, 500, 900]))
    found = [row[f"latency_cycles_{name}"] for name in ("min", "p50", "p95", "max")]
    assert found == [400, 500, 900, 900]
    assert sum(row["distribution"]) == 3


def test_bounds_where_no_wait_tells() -> None:
    steps = [(0, "VMEM", 0, 0, 4), (2, "VMEM", 10, 0, 4), (1, "IMMED", 100, 200, 200)]
    rows = rows_of(small_trace([LOAD, WAIT, LOAD], steps))
    assert (rows[0]["is_bound"], rows[0]["latency_cycles_mean"], rows[0]["latency_cycles_sd"]) == (True, 300, None)
    assert (rows[2]["is_bound"], rows[2]["latency_cycles_mean"]) == (False, 290)


def test_tight_samples_are_not_mixed_with_bounds() -> None:
    steps = [(0, "VMEM", 0, 0, 4), (1, "IMMED", 100, 200, 200), (0, "VMEM", 1000, 0, 4), (1, "IMMED", 9000, 4, 4)]
    (row,) = rows_of(small_trace([LOAD, WAIT], steps)).values()
    assert (row["sample_count"], row["tight_count"]) == (2, 1)
    assert row["latency_cycles_max"] == 300
    assert row["bound_cycles_mean"] == (300 + 8000) / 2


def test_only_rows_asked_for() -> None:
    steps = [(0, "VMEM", 0, 0, 4), (2, "VMEM", 10, 0, 4), (1, "IMMED", 100, 200, 200)]
    trace = small_trace([LOAD, WAIT, LOAD], steps)
    assert memory_latency(trace, rows=pl.Series([2])).by_row["row"].to_list() == [2]
    assert memory_latency(trace).counter_interval_cycles == 0


def test_columns_are_declared() -> None:
    for trace in (ThreadTrace({}, TraceSource(path="nothing")), counted(Random(0), interval=0)[0]):
        answer = memory_latency(trace)
        for field, spec in answer.tables.items():
            assert getattr(answer, field).columns == [column.name for column in spec.columns]


def counted(random: Random, *, interval: int) -> tuple[ThreadTrace, list[tuple[int, int]]]:
    """Waves on four SIMDs that issue memory operations, and samples of a level counter; also the samples."""
    steps = []
    for wave in range(4):
        time = random.randrange(50)
        for _ in range(60):
            row = random.randrange(3)
            stall = random.choice((0, 4, 20))
            steps.append((row, ("VMEM", "FLAT", "LDS")[row], time, stall, stall + 4, wave))
            time += stall + random.choice((4, 30, 200))
    trace = small_trace([LOAD, "flat_load_dword v0, v[0:1]", "ds_read_b32 v0, v1"], steps)
    times = sorted(random.sample(range(0, 9000, 20), 150))
    samples = [(time, random.randrange(12)) for time in times]
    columns: dict[str, list[int]] = {"time_cycles": times, "value2": [level for _, level in samples]}
    columns |= {name: [0] * len(times) for name in ("se", "bank", "value0", "value1", "value3")}
    others = frame("sampled_counters", columns | {"cu": [5] * len(times), "value2": [99] * len(times)})
    names = {"bank": [0, 0], "position": [0, 2], "name": ["SQ_WAVES", "SQ_INST_LEVEL_VMEM:0xf"]}
    trace.tables |= {
        "sampled_counters": pl.concat([frame("sampled_counters", columns | {"cu": [1] * len(times)}), others]),
        "counter_names": frame("counter_names", names),
        "shader_engines": trace.shader_engines.with_columns(counter_interval_cycles=pl.lit(interval, dtype=pl.UInt64)),
    }
    return trace, samples


def walk(trace: ThreadTrace, samples: list[tuple[int, int]], interval: int) -> dict[int, list[float]]:
    """The rule step by step: issues one by one, at each the samples since the last."""
    simds = dict(trace.waves.select("wave", "simd").iter_rows())
    issues = sorted(
        (step["time_cycles"] + step["stall_cycles"] + simds[step["wave"]], place, step["row"])
        for place, step in enumerate(trace.instructions.iter_rows(named=True))
        if step["category"] in (CATEGORY["VMEM"], CATEGORY["FLAT"])
    )
    gaps = [(a + interval, 0) for (a, _), (b, _) in pairwise(samples) if b - a > interval]
    filled = sorted([*samples, *gaps], key=lambda sample: sample[0])
    filled.append((filled[-1][0] + interval, 0))
    latencies: dict[int, list[float]] = {}
    done = at = 0
    for number, (issue, _, _) in enumerate(issues):
        while at < len(filled) and filled[at][0] < issue:
            time, level = filled[at]
            while done < number - level:
                begun, _, row = issues[done]
                taken = time - begun
                latencies.setdefault(row, []).append(taken - interval / 2 if taken > interval else taken / 2)
                done += 1
            at += 1
    return latencies


@pytest.mark.slow
@together("seed", range(8))
@together("interval", [0, 36, 100])
def test_latencies_from_counters(seed: int, interval: int) -> None:
    trace, samples = counted(Random(seed), interval=interval)
    answer = memory_latency(trace)
    used = interval or 40
    assert answer.counter_interval_cycles == used
    expected = walk(trace, samples, used)
    assert expected
    found = {row["row"]: row for row in answer.from_counters.iter_rows(named=True)}
    assert set(found) == set(expected)
    for row, latencies in expected.items():
        count = len(latencies)
        spread = stdev(latencies) if count > 1 else 0.0
        error = (spread**2 + used**2 / 3) ** 0.5 / ((count - 1.5) ** 0.5 if count > 1 else 0.1)
        assert found[row]["sample_count"] == count
        assert found[row]["latency_cycles_mean"] == pytest.approx(mean(latencies))
        assert found[row]["latency_cycles_sd"] == pytest.approx(spread)
        assert found[row]["error_cycles"] == pytest.approx(error)
        assert found[row]["counter"] == "SQ_INST_LEVEL_VMEM"
