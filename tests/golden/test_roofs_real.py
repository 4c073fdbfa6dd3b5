"""Bytes and roofs of known kernels against hand-computed numbers: shapes and durations from their reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wavewright
from wavewright.analysis.trace.diagnose import Diagnosis, diagnose
from wavewright.model.trace import ThreadTrace
from wavewright.readers.counters import open_counters
from wavewright.words.trace.diagnose import context_line, verdict

#: Kernel -> bytes that it reads and writes at least once.
DISTINCT = {
    "vec_add": 40_000 * 3_072,  # two loads and a store of 16 bytes per lane, of 40,000 waves
    "rmsnorm": 2 * 1_024 * 8_192 * 2 + 8_192 * 2,  # rows in and out, and one gamma for all of them
    "softmax": 2 * 32_768 * 8_192 * 2,
    "layernorm": 2 * 256 * 8_192 * 2 + 2 * 8_192 * 2,  # gamma and beta
}


def diagnosed(path: Path, **options: Any) -> Diagnosis:
    trace = wavewright.open(path, **({"dispatch": options.pop("dispatch")} if "dispatch" in options else {}))
    assert isinstance(trace, ThreadTrace)
    return diagnose(trace, **options)


@pytest.mark.parametrize("name", [pytest.param("softmax", marks=pytest.mark.slow), "vec_add", "rmsnorm", "layernorm"])
def test_bytes_are_those_that_the_kernel_touches(shared: Path, name: str) -> None:
    answer = diagnosed(shared / "data" / "uiout-mi350x-flydsl" / name)
    moved = answer.traffic
    assert moved is not None
    assert (moved.evidence, moved.level) == ("distinct bytes", "HBM")
    assert moved.bytes_total is not None
    low, high = moved.bytes_total
    assert low == pytest.approx(DISTINCT[name], rel=0.002)
    assert high == pytest.approx(DISTINCT[name], rel=0.002)


@pytest.mark.slow
def test_a_stream_is_near_the_roof_and_a_normalisation_is_not(shared: Path) -> None:
    """True rates: 83 and 54 % of the data sheet, by medians of other runs, which lie inside of the intervals."""
    data = shared / "data" / "uiout-mi350x-flydsl"
    for name, true_rate, is_roof in (("vec_add", 6.66e12, True), ("rmsnorm", 4.3e12, False)):
        answer = diagnosed(data / name)
        (roof,) = (roof for roof in answer.roofs if roof.name == "memory bandwidth")
        assert roof.amount <= true_rate <= roof.amount_max
        assert roof.peak == pytest.approx(6.66e12, rel=0.01)
        assert roof.is_limit == is_roof
        assert (answer.findings[0].name == "memory bandwidth") == is_roof
        assert "nothing to win" not in verdict(answer)


@pytest.mark.slow
@pytest.mark.some_cases(1)
@pytest.mark.parametrize(
    "place",
    ["data/uiout-mi350x-flydsl/preshuffle_gemm", "golden/gfx1200/profile_gemm_run_0", "data/att-mi300x-bmm/c08/raw"],
)
def test_tiles_that_workgroups_share_are_no_roof(shared: Path, place: str) -> None:
    """How often a tile is read from memory is a matter of caches: lanes request of L1, and no level is blamed."""
    answer = diagnosed(shared / place)
    assert answer.traffic is not None
    assert (answer.traffic.evidence, answer.traffic.level) == ("requests", "L1")
    assert not [roof for roof in answer.roofs if roof.name == "memory bandwidth"]
    assert "of L1; " in context_line(answer)
    assert "HBM" not in context_line(answer)


@pytest.mark.slow
def test_counters_replace_what_is_inferred(shared: Path) -> None:
    """The counted dispatches take 29 us, the traced one 76: their rate is told, and bounds no gain of this one."""
    counters = open_counters(shared / "data" / "pmc-mi300x-bmm")
    answer = diagnosed(shared / "data" / "att-mi300x-bmm" / "c03" / "raw", dispatch=3, counters=counters)
    (roof,) = (roof for roof in answer.roofs if roof.name == "memory bandwidth")
    assert roof.evidence == "counters"
    assert roof.sheet_peak is not None
    assert roof.amount / roof.sheet_peak == pytest.approx(0.449, abs=0.001)
    assert not roof.bounds_gains
    assert not roof.is_limit
    assert "45 % of the data sheet (counters of dispatches that took another time)" in context_line(answer)
