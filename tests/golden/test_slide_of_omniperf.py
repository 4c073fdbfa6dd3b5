"""AMD's slide of Omniperf's speed of light (110 CUs): its names find the metrics of today, its peaks are ours."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.in_process import call
from wavewright.errors import UsageError
from wavewright.facts.metrics.catalog import catalog, entries_for

#: Name on the slide -> peak; None = the slide has none.
SLIDE: dict[str, float | None] = {
    "VALU FLOPs": 23936,
    "VALU IOPs": 23936,
    "MFMA FLOPs (F16)": 191488,
    "MFMA FLOPs (F32)": 47872,
    "MFMA FLOPs (F64)": 47872,
    "MFMA IOPs (Int8)": 191488,
    "Active CUs": 110,
    "SALU Util - %": 100,
    "VALU Util - %": 100,
    "MFMA Util - %": 100,
    "VALU Active Threads/Wave": 64,
    "LDS BW": 23936,
    "LDS Bank Conflict": 32,
    "Instr Cache Hit Rate": 100,
    "Instr Cache BW": 6093,
    "Const Cache Hit Rate": 100,
    "Const Cache BW": 6093,
    "L1 Cache Hit Rate": 100,
    "L1 Cache BW": 11968,
    "L2 Cache Hit Rate": 100,
    "L2-EA Read BW": 1638,
    "L2-EA Write BW": 1638,
    "L2-EA Read Latency": None,
    "L2-EA Write Latency": None,
    "Wave Occupancy": 3520,
    "Instr Fetch Latency": None,
}


def test_peaks_of_110_cus_are_those_of_the_slide(shared: Path, tmp_path: Path) -> None:
    folder = tmp_path / "MI200"
    shutil.copytree(shared / "data/pmc-rocprofcompute-vcopy/MI200", folder, copy_function=shutil.copyfile)
    table = (folder / "sysinfo.csv").read_text()
    (folder / "sysinfo.csv").write_text(table.replace(",8192,104,4,8,", ",8192,110,4,8,"))
    done = call("counters", folder, "--panel", "sol", "--json")
    answer = json.loads(done.stdout)
    peaks = {each["name"]: each["peak"] for each in answer["rows"]["rows"]}
    entries = catalog(["gfx90a"])
    for name, peak in SLIDE.items():
        ours = peaks[entries_for(entries, name)[0].name]
        assert ours == (None if peak is None else pytest.approx(peak, abs=0.5)), name


def test_names_that_are_elsewhere_or_gone() -> None:
    entries = catalog(["gfx90a"])
    names = ("TD Busy", "TC2TD Stall", "IPC - Issue")
    assert [entries_for(entries, name)[0].ids["gfx90a"] for name in names] == ["15.4.0", "15.4.1", "11.2.1"]
    with pytest.raises(UsageError, match="no longer a metric"):
        entries_for(entries, "Instr Fetch BW")
