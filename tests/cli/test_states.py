"""`wavescope states` as a user sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_text_says_states_pipes_residency_and_clock(run: Run, capture: Path) -> None:
    told = run("states", capture, environment={"COLUMNS": "120"})
    assert told.returncode == 0, told.stderr
    first, second, *_ = told.stdout.splitlines()
    assert first.startswith("waves spend ") and "EXEC" in first
    assert second.startswith("shader clock ") and "SE 1 +" in second
    for part in ("share of wave-cycles per state", "waves per state over time", "issuing per pipe", "saxpy"):
        assert part in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 120


def test_json_has_definitions_units_and_bins(run: Run, capture: Path) -> None:
    told = run("states", capture, "--json", "--bins", 10)
    answer = json.loads(told.stdout)
    states = answer["states"]
    assert states["bin_count"] <= 10
    assert "wave-cycles" in states["definition"]
    assert sum(row["share"] for row in states["total"]["rows"]) == pytest.approx(1)
    assert states["clocks"]["is_aligned"] is True
    assert {row["pipe"] for row in answer["utilization"]["pipes"]["rows"]} >= {"VALU", "VMEM", "SCALAR"}
    assert answer["residency"]["kernels"]["rows"][0]["start_count"] > 0


def test_one_shader_engine_only(run: Run, capture: Path) -> None:
    answer = json.loads(run("states", capture, "--json", "--se", 1).stdout)
    assert {row["se"] for row in answer["states"]["by_engine"]["rows"]} == {1}
    assert answer["states"]["clocks"]["offsets"] == {"1": 0}


def test_a_stretch_of_time(run: Run, capture: Path) -> None:
    whole = json.loads(run("states", capture, "--json", "--se", 0).stdout)["states"]
    begins = sorted({row["begin_cycles"] for row in whole["over_time"]["rows"]})
    middle = begins[len(begins) // 2]
    part = json.loads(run("states", capture, "--json", "--se", 0, "--time", f":{middle}").stdout)["states"]
    assert part["end_cycles"] == middle
    cycles = [sum(row["cycles_total"] for row in answer["total"]["rows"]) for answer in (part, whole)]
    assert 0 < cycles[0] < cycles[1]
