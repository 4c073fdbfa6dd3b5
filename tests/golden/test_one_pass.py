"""Ratios of cycles take both sides from one pass: compared with the files of that pass, read by the csv module."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.readers.counters import open_counters

if TYPE_CHECKING:
    from pathlib import Path


def sums(file: Path) -> dict[str, float]:
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    numeric = [name for name in rows[0] if name.isupper() or name.startswith(("SQ_", "GRBM_"))]
    return {name: sum(float(row[name]) for row in rows) for name in numeric}


def average(folder: Path, name: str, *, amd: bool = False) -> float:
    rows = counter_panels(open_counters(folder), panels=["7.2", "3.1"], amd=amd).rows
    found: float = rows.filter(rows["name"] == name)["average"][-1]
    return found


@pytest.mark.parametrize(("name", "dies", "waves"), [("MI200", 1, 1842.0), ("MI300X_A1", 8, 2558.7)])
def test_occupancy_divides_by_the_cycles_of_its_own_pass(shared: Path, name: str, dies: int, waves: float) -> None:
    folder = shared / "data" / "pmc-rocprofcompute-vcopy" / name
    own = sums(folder / "SQ_LEVEL_WAVES.csv")
    expected = own["SQ_ACCUM_PREV_HIRES"] / (own["GRBM_GUI_ACTIVE"] / dies)
    assert expected == pytest.approx(waves, abs=0.5)
    assert average(folder, "Wavefront Occupancy") == pytest.approx(expected)
    # What the accumulator adds up is the life of waves, which the same pass counts in quads.
    assert own["SQ_ACCUM_PREV_HIRES"] == pytest.approx(4 * own["SQ_WAVE_CYCLES"], rel=0.02)


def test_amds_rules_keep_the_cycles_of_the_joined_table(shared: Path) -> None:
    folder = shared / "data" / "pmc-rocprofcompute-vcopy" / "MI300X_A1"
    own, joined = sums(folder / "SQ_LEVEL_WAVES.csv"), sums(folder / "pmc_perf.csv")
    mixed = own["SQ_ACCUM_PREV_HIRES"] / (joined["GRBM_GUI_ACTIVE"] / 8)
    assert average(folder, "Wavefront Occupancy", amd=True) == pytest.approx(mixed, rel=0.02)  # a mean of ratios


def test_passes_of_different_length_are_a_caveat(shared: Path) -> None:
    folder = shared / "data" / "pmc-rocprofcompute-vcopy" / "MI300X_A1"
    joined, level = (sums(folder / f"{name}.csv")["GRBM_GUI_ACTIVE"] for name in ("pmc_perf", "SQ_IFETCH_LEVEL"))
    sentence = f"GRBM_GUI_ACTIVE differs by {1 - level / joined:.0%} between pmc_perf and SQ_IFETCH_LEVEL"
    assert any(sentence in caveat for caveat in counter_panels(open_counters(folder)).caveats)
