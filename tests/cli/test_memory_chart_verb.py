from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from synth.counter_capture import CounterCapture, write_counters
from tests.cli.conftest import Run
from tests.cli.in_process import call


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("capture") / "gfx942"
    write_counters(folder, CounterCapture("gfx942"))
    return folder


@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_chart_fits_the_terminal(run: Run, capture: Path, width: int) -> None:
    done = run("memory-chart", capture, "--kernel", "0", environment={"COLUMNS": str(width)})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= width
    assert "of its peak" in lines[0]
    assert "\x1b" not in done.stdout


def test_json_and_csv_hold_every_value(capture: Path) -> None:
    answer = json.loads(call("memory-chart", capture, "--json", "--per", "wave").stdout)
    assert answer["normalization"] == "wave"
    assert answer["losses"] == []
    rows = list(csv.DictReader(call("memory-chart", capture, "--csv", "--per", "wave").stdout.splitlines()))
    assert len(rows) == answer["values"]["row_count"] + answer["wires"]["row_count"]
    assert len(rows) == len(answer["values"]["rows"]) + len(answer["wires"]["rows"])


def test_several_kernels_together_are_said(capture: Path) -> None:
    assert "different kernels" in call("memory-chart", capture).stdout
    assert "different kernels" not in call("memory-chart", capture, "--kernel", "0").stdout


@pytest.mark.slow
def test_pictures(capture: Path, tmp_path: Path) -> None:
    picture = tmp_path / "chart.svg"
    assert call("memory-chart", capture, "-o", picture, "--theme", "dark").status == 0
    assert picture.read_text().startswith("<svg")
    assert call("memory-chart", capture, "-o", picture).status == 2
    assert call("memory-chart", capture, "-o", picture, "--force").status == 0
    assert call("memory-chart", capture, "-o", tmp_path / "chart.pdf").status == 2
    assert call("memory-chart", capture, "--theme", "dark").status == 2
    pytest.importorskip("resvg_py", reason="PNG needs the extra [plot]")
    assert call("memory-chart", capture, "-o", tmp_path / "chart.png").status == 0
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_what_has_no_chart_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a_counter_collection.csv").write_text(
        "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n1,k,TCC_HIT_sum,1,0,9\n"
    )
    done = call("memory-chart", tmp_path)
    assert done.status == 2
    assert "--target" in done.stderr
    named = call("memory-chart", tmp_path, "--target", "MI300X")
    assert named.status == 0, named.stderr
    assert call("memory-chart", tmp_path, "--target", "gfx906").status == 2
    assert call("memory-chart", tmp_path / "missing").status != 0
