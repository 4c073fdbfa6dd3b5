from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.in_process import call

_WORKED = ("--target", "gfx942", "--vgprs", 144, "--agprs", 136, "--sgprs", 112, "--lds", 12800, "--workgroup", 256)


def test_the_calculator(run: Run) -> None:
    done = run("occupancy", *_WORKED)
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first == "1 wave per SIMD fits, bound by VGPR"
    counted = {line.split()[0]: line for line in rest}
    assert counted["VGPR"].split()[2] == "1"
    assert counted["LDS"].split()[1] == "5"
    assert counted["SGPR"].split()[1] == "7"
    assert "next: 2 waves per SIMD need VGPR ≤ 256 registers (free 24)" in rest
    steps = "5 up to 96, 4 up to 128, 3 up to 168, 2 up to 256, 1 up to 512 registers"  # the LDS allows five
    assert f"waves per SIMD by VGPR, all else as it is: {steps}" in rest


def test_the_calculator_as_json(run: Run) -> None:
    done = run("occupancy", *_WORKED, "--json")
    answer = json.loads(done.stdout)
    assert answer["kernels"]["rows"][0]["waves_per_simd_limit"] == 1
    assert [row["waves_per_simd"] for row in answer["limiters"]["rows"]] == [1, 5, 7, 8, 8]


def test_the_calculator_needs_a_gpu(run: Run) -> None:
    done = run("occupancy", "--vgprs", 8)
    assert done.returncode == 2
    assert "--target" in done.stderr
    done = run("occupancy", "--target", "gfx999", "--vgprs", 8)
    assert done.returncode == 2
    assert "gfx942" in done.stderr
    done = run("occupancy", "--target", "gfx942", "--vgprs", 600)
    assert done.returncode == 2
    assert "600 vector registers are more than gfx942 can give" in done.stderr


def test_limiters_that_tie_are_all_marked() -> None:
    done = call("occupancy", "--target", "gfx942", "--vgprs", 120, "--lds", 16384, "--workgroup", 256)
    first, *rest = done.stdout.splitlines()
    assert first == "4 waves per SIMD fit, bound by VGPR and LDS"
    assert [line.split()[0] for line in rest if "◀" in line] == ["VGPR", "LDS"]
    assert "next: 5 waves per SIMD need VGPR ≤ 96 registers (free 24) and LDS ≤ 12,800 bytes (free 3,584)" in rest


def test_a_code_object(capture: Path) -> None:
    (code_object, *_) = sorted(capture.glob("*.out"))
    done = call("occupancy", code_object)
    assert done.status == 0, done.stderr
    assert "on gfx942 (said by the code object)" in done.stdout and "LDS is what the code declares" in done.stdout
    answer = json.loads(call("occupancy", code_object, "--json").stdout)
    of_trace = json.loads(call("occupancy", capture, "--json").stdout)["kernels"]["rows"][0]
    (kernel,) = (row for row in answer["kernels"]["rows"] if row["name"] == of_trace["name"])
    assert [kernel[name] for name in ("vgprs", "agprs", "lds_bytes")] == [
        of_trace[name] for name in ("vgprs", "agprs", "lds_bytes")
    ]
    assert call("occupancy", code_object, "--kernel", "nothing like it").status == 2
    more = json.loads(call("occupancy", code_object, "--lds", 65536, "--workgroup", 64, "--json").stdout)
    assert more["kernels"]["rows"][0]["bound_by"] == "LDS" and more["kernels"]["rows"][0]["workgroup_size"] == 64


def test_a_capture(run: Run, capture: Path) -> None:
    done = run("occupancy", capture)
    assert done.returncode == 0, done.stderr
    assert "bound by" in done.stdout
    assert "resident waves over time" in done.stdout and "drain: share of the time" in done.stdout
    assert "the capture does not name its GPU" not in done.stdout
    answer = json.loads(run("occupancy", capture, "--json", "--se", 1).stdout)
    assert [row["se"] for row in answer["engines"]["rows"]] == [1]
    assert answer["target"] == "gfx942"
    assert "losses" in answer


def test_a_choice_that_means_nothing_here(run: Run, capture: Path) -> None:
    done = run("occupancy", capture, "--wave", 3)
    assert done.returncode == 2
    assert "--kernel" in done.stderr


def test_narrow_terminals(run: Run, capture: Path) -> None:
    for width in ("80", "120"):
        done = run("occupancy", capture, environment={"COLUMNS": width})
        assert max(map(len, done.stdout.splitlines())) <= int(width)
