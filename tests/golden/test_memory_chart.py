"""The memory chart of real captures shows the figures that are known of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wavewright.analysis.counters.choice import CounterChoice
from wavewright.analysis.counters.memory_chart import MemoryChart, memory_chart
from wavewright.readers.counters import open_counters


def value_of(chart: MemoryChart, block: str, label: str) -> Any:
    return chart.values.filter((chart.values["block"] == block) & (chart.values["label"] == label))["value"][0]


def test_hit_rates_of_the_gemm_and_of_fill_buffer(shared: Path) -> None:
    counters = open_counters(shared / "data" / "pmc-mi300x-bmm")
    for name, rate in (("batched_matrix", 75.59), ("fillBuffer", 50.82)):
        chart = memory_chart(counters, choice=CounterChoice(kernels=(name,)))
        assert value_of(chart, "l2", "hit rate") == pytest.approx(rate, abs=0.005)


def test_scalar_wires_and_latencies_of_the_reference(shared: Path) -> None:
    counters = open_counters(shared / "golden" / "compute" / "inputs" / "synthetic" / "gfx942")
    ours, theirs = (memory_chart(counters, amd=amd) for amd in (False, True))
    for chart in (ours, theirs):  # T10: the reference looks them up under wrong names
        wires = chart.wires.filter((chart.wires["source"] == "scalar_l1") & (chart.wires["target"] == "l2"))
        assert wires.filter(wires["kind"] != "traffic")["value"].null_count() == 0
    ratio = value_of(theirs, "scalar_l1", "latency") / value_of(ours, "scalar_l1", "latency")
    assert ratio > 50  # T9: times 100


def test_one_accumulator_of_many_levels_gives_no_occupancy(shared: Path) -> None:
    chart = memory_chart(open_counters(shared / "data" / "pmc-mi300x-bmm"))
    assert value_of(chart, "waves", "waves per CU") is None
    assert value_of(chart, "waves", "wave life") > 10_000
