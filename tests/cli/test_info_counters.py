"""`wavewright info` about captures of hardware counters, and what other verbs say to them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from synth.counter_capture import CounterCapture, write_counter_csv, write_counters

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def test_a_workload(run: Run, tmp_path: Path) -> None:
    folder = write_counters(tmp_path / "w", CounterCapture("gfx942")).folder
    done = run("info", folder)
    assert done.returncode == 0
    assert "8 dispatches of 3 kernels" in done.stdout
    for words in (
        "gfx942",
        "pmc_perf",
        "SQ_LEVEL_WAVES",
        "TCC",
        "System Speed-of-Light",
        f"wavewright counters {folder}",
    ):
        assert words in done.stdout
    answer = json.loads(run("info", folder, "--json").stdout)
    assert answer["target"] == "gfx942"
    assert {row["name"] for row in answer["passes"]["rows"]} >= {"pmc_perf", "SQ_LEVEL_WAVES"}
    sol = next(row for row in answer["panels"]["rows"] if row["word"] == "sol")
    assert sol["measured_count"] == sol["metric_count"] > 20
    assert answer["losses"] == []


def test_a_part_of_the_counters(run: Run, tmp_path: Path) -> None:
    folder = write_counter_csv(tmp_path / "r", passes=[["TCC_HIT", "TCC_MISS", "SQ_WAVES"]]).folder
    answer = json.loads(run("info", folder, "--json").stdout)
    l2 = next(row for row in answer["panels"]["rows"] if row["word"] == "l2")
    assert 0 < l2["measured_count"] < l2["metric_count"]
    assert "TCC_" in l2["missing_counters"]
    assert answer["assumed"]["memory_gb_per_second"].startswith("facts of")
    plan = next(step for step in answer["next"] if "--plan" in step).split(" prints ")[0].split()[1:]
    assert run(*plan).returncode == 0


def test_an_unknown_gpu_has_no_panels(run: Run, tmp_path: Path) -> None:
    folder = write_counters(tmp_path / "w").folder
    about = folder / "sysinfo.csv"
    about.write_text(about.read_text().replace("gfx942", "gfx9999").replace("MI300X", "XYZ"))
    answer = json.loads(run("info", folder, "--json").stdout)
    assert (answer["target"], answer["panels"]["row_count"]) == ("gfx9999", 0)
    assert answer["blocks"]["row_count"] > 5


def test_a_capture_that_does_not_name_its_gpu(run: Run, tmp_path: Path) -> None:
    folder = write_counter_csv(tmp_path / "r").folder
    for file in folder.rglob("*agent_info.csv"):
        file.unlink()
    done = run("info", folder)
    assert "--target" in done.stdout


@pytest.mark.parametrize("verb", ["hotspots", "stalls", "waits", "busy"])
def test_other_verbs_name_the_one_that_fits(verb: str, run: Run, tmp_path: Path) -> None:
    folder = write_counters(tmp_path / "w").folder
    done = run(verb, folder)
    assert done.returncode == 3
    assert f"wavewright counters {folder}" in done.stderr


@pytest.mark.parametrize("width", [80, 120, 200])
def test_lines_fit(width: int, run: Run, tmp_path: Path) -> None:
    folder = write_counters(tmp_path / "w").folder
    done = run("info", folder, environment={"COLUMNS": str(width)})
    tables = [line for line in done.stdout.splitlines() if str(folder) not in line]
    assert max(map(len, tables)) <= width
