from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from synth import Workload, write_rocpd
from synth.rocprof_sys import Poll, add_samples
from wavewright.analysis.run.kernels.slow_dispatches import (
    combine_slow_dispatches,
    partial_slow_dispatches,
    slow_dispatches,
)
from wavewright.model.run import MemorySource, Run
from wavewright.model.run_tables import RUN
from wavewright.model.schema import frame_of
from wavewright.readers.run.inputs import open_run

if TYPE_CHECKING:
    from pathlib import Path

PROCESS = {"process": 0, "source": 0, "guid": "g", "pid": 7}
GPU = {"agent": 0, "process": 0, "kind": "GPU", "type_index": 0}


def run_of(dispatches: list[dict[str, Any]], monitors: list[dict[str, Any]]) -> Run:
    tables = {"processes": [PROCESS], "agents": [GPU], "dispatches": dispatches, "monitors": monitors}
    return Run([MemorySource("made", "RPD", "", {name: frame_of(RUN[name], rows) for name, rows in tables.items()})])


def call(start: int, length: int, name: str = "gemm") -> dict[str, Any]:
    return {"process": 0, "agent": 0, "name": name, "start_ns": start, "end_ns": start + length}


def sample(number: int, value: float | None, name: str = "sclk") -> dict[str, Any]:
    return {
        "process": 0,
        "agent": 0,
        "name": name,
        "start_ns": number * 100,
        "end_ns": number * 100 + 100,
        "value": value,
    }


def throttled(count: int = 40, low: float = 1200.0) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A call in each of `count` samples, every fourth of them slow, at another clock."""
    is_slow = [number % 4 == 0 for number in range(count)]
    calls = [call(number * 100 + 10, 60 if slow else 40) for number, slow in enumerate(is_slow)]
    return calls, [sample(number, low if slow else 2100.0) for number, slow in enumerate(is_slow)]


def test_slow_calls_at_a_lower_clock() -> None:
    answer = slow_dispatches(run_of(*throttled()))
    (kernel,) = answer.kernels.to_dicts()
    assert (kernel["quantity"], kernel["call_count"], kernel["slow_count"]) == ("clock", 40, 10)
    assert (kernel["median_ns"], kernel["excess_ns"]) == (40.0, 200)
    assert (kernel["slow_value"], kernel["other_value"]) == (1200.0, 2100.0)
    assert (kernel["relation"], kernel["coincides"]) == ("lower", True)
    (gpu,) = answer.gpus.to_dicts()
    assert (gpu["sample_count"], gpu["sampled_ns"], gpu["highest_value"]) == (40, 10 * 60 + 30 * 40, 2100.0)
    assert gpu["mean_value"] == pytest.approx((600 * 1200 + 1200 * 2100) / 1800)
    assert answer.slowed_gpus.height == 1


def test_slow_calls_at_the_same_clock() -> None:
    answer = slow_dispatches(run_of(*throttled(low=2090.0)))
    assert answer.kernels.select("relation", "coincides").rows() == [("equal", False)]
    assert answer.slowed_gpus.height == 0


def test_hotter_is_higher() -> None:
    calls, _ = throttled()
    heat = [sample(number, 95.0 if number % 4 == 0 else 70.0, "device_temp") for number in range(40)]
    power = [sample(number, 500.0, "device_power") for number in range(40)]
    rows = slow_dispatches(run_of(calls, heat + power)).kernels.select("quantity", "relation", "coincides").rows()
    assert sorted(rows) == [("power", "equal", False), ("temperature", "higher", True)]


def test_too_few_samples_say_nothing() -> None:
    answer = slow_dispatches(run_of(*throttled(19)))
    assert answer.gpus["is_enough"].to_list() == [False]
    assert answer.kernels.height == answer.slowed_gpus.height == 0


def test_samples_of_an_idle_gpu_do_not_count() -> None:
    calls, samples = throttled()
    answer = slow_dispatches(run_of(calls, samples + [sample(number, 100.0) for number in range(40, 90)]))
    assert answer.gpus.select("sample_count", "lowest_value").rows() == [(40, 1200.0)]


def test_two_slow_calls_are_too_few() -> None:
    calls = [call(number * 100 + 10, 80 if number < 2 else 40) for number in range(40)]
    answer = slow_dispatches(run_of(calls, [sample(number, 900.0 if number < 2 else 2000.0) for number in range(40)]))
    assert answer.kernels.select("slow_count", "relation", "coincides").rows() == [(2, None, None)]


def test_impossible_values() -> None:
    worst = (1 << 63) - 1
    calls = [call(5, -9), call(-worst, 3), {"process": 0, "agent": 0, "name": None, "start_ns": None, "end_ns": worst}]
    samples = [sample(1, None), sample(2, float("nan")), sample(3, float("inf")), sample(4, -1.0)]
    samples += [sample(5, 7.0) | {"end_ns": None}, sample(6, 7.0) | {"agent": None}, sample(7, 7.0, "fan")]
    answer = slow_dispatches(run_of(calls, samples))
    assert answer.gpus.height == answer.kernels.height == 0


def test_what_rocprof_sys_samples(tmp_path: Path) -> None:
    write_rocpd(tmp_path / "a.db", Workload(dispatches=400, gpus=1))
    work = open_run(tmp_path / "a.db").dispatches
    first, last = int(work["start_ns"].min()), int(work["end_ns"].max())  # type: ignore[arg-type]
    step = (last - first) // 50
    polls = [Poll(first + number * step, 2, {"device_clock_gfx": 2100.0 - number}) for number in range(50)]
    add_samples(tmp_path / "a.db", polls)
    run = open_run(tmp_path / "a.db")
    answer = slow_dispatches(run)
    assert answer.gpus.select("monitor", "is_enough").rows() == [("device_clock_gfx", True)]
    again = combine_slow_dispatches([partial_slow_dispatches(run)])
    assert again.kernels.equals(answer.kernels, null_equal=True)
    assert not answer.kernels.filter(pl.col("coincides").fill_null(value=False)).height
