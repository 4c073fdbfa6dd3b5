"""Folders of rocKE's benchmark tool: counters of one repeat, durations of all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.readers.counters.test_counters import long_row, write
from wavewright.cluster.measurements import kind_at, measured
from wavewright.errors import DamagedError, WavewrightError
from wavewright.readers.counters import open_counters

TIMES_MS = (0.10, 0.11, 0.12)


def record(wall_ms: float, busy: int) -> dict[str, Any]:
    return {
        "schema": "rocke.bench.measurement/v1",
        "run": {"run_id": "r", "arch": "gfx950", "timestamp": "t", "gpu_name": "MI355X", "rocm_version": "7.1"},
        "kernel": {"kernel_name": "gemm", "op": "gemm", "shape": {"N": 512, "M": 256}, "grid": [64], "block": [256]},
        "wall": {"ms_median": wall_ms, "tflops": None},
        "counters": {"busy_cycles": busy, "note": "x"},
    }


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Three repeats; the profiler failed in the first."""
    samples = []
    for number, wall_ms in enumerate(TIMES_MS):
        place = f"samples/{number:04d}"
        write(
            tmp_path / place / "raw" / "prof" / "pmc_1" / "1_counter_collection.csv",
            long_row(1, "TCC_HIT_sum", 10 * (number + 1)),
        )
        (tmp_path / place / "measurement.json").write_text(json.dumps(record(wall_ms, 1000 + number)))
        status = "complete" if number else "failed"
        samples.append({"sample_index": number, "status": "complete", "raw_dir": f"{place}/raw"})
        samples[-1] |= {"measurement": f"{place}/measurement.json", "profile_capture": {"status": status}}
    manifest = {"schema": "rocke.bench.artifacts/v1", "status": "complete", "samples": samples, "files": []}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return tmp_path


def changed(bundle: Path, **changes: Any) -> Path:
    manifest = json.loads((bundle / "manifest.json").read_text())
    (bundle / "manifest.json").write_text(json.dumps(manifest | changes))
    return bundle


def test_counters_are_those_of_the_first_repeat_that_has_some(bundle: Path) -> None:
    counters = open_counters(bundle)
    assert counters.values["value"].to_list() == [20.0]
    assert counters.losses.select("kind", "count").rows() == [("bundle_repeats", 1)]


def test_durations_are_those_of_unprofiled_runs(bundle: Path) -> None:
    (capture,) = measured([str(bundle)], "counters").captures
    assert (capture.target, capture.product, capture.damages) == ("gfx950", "MI355X", ())
    kernel, metric = capture.quantities
    assert (kernel.subject, kernel.name, kernel.count) == ("kernel", "gemm, gemm, M 256, N 512", 3)
    assert kernel.mean == pytest.approx(110_000)
    assert kernel.error == pytest.approx(10_000 / 3**0.5)
    assert (metric.name, metric.mean) == ("busy_cycles of gemm, gemm, M 256, N 512", 1001.0)


def test_a_bundle_without_counters_has_its_durations(bundle: Path) -> None:
    for table in bundle.rglob("*.csv"):
        table.unlink()
    assert kind_at(str(bundle)) == "counters"
    assert measured([str(bundle)], "counters").captures[0].quantities[0].count == 3


def test_an_unfinished_bundle_says_so(bundle: Path) -> None:
    changed(bundle, status="running")
    assert "bundle_unfinished" in open_counters(bundle).losses["kind"].to_list()
    assert measured([str(bundle)], "counters").captures[0].damages == ("the bundle is running",)


@pytest.mark.parametrize("place", ["../../etc", "/etc", "samples/none", "nul\0"])
def test_places_outside_are_refused(bundle: Path, place: str) -> None:
    sample = {"status": "complete", "raw_dir": place, "measurement": place, "profile_capture": {"status": "complete"}}
    changed(bundle, samples=[sample])
    with pytest.raises(DamagedError, match="manifest names"):
        open_counters(bundle)
    with pytest.raises(DamagedError, match="manifest names"):
        measured([str(bundle)], "counters")


@pytest.mark.parametrize(
    "content", ["", "{", "[" * 100_000, '{"schema": 7}', '{"schema": "rocke.bench.measurement/v9"}']
)
def test_damaged_records_are_told(bundle: Path, content: str) -> None:
    (bundle / "samples" / "0001" / "measurement.json").write_text(content)
    with pytest.raises(WavewrightError):
        measured([str(bundle)], "counters")
