from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from synth.counter_capture import CounterCapture, write_counter_csv, write_counters
from synth.kernel_work import KernelWork
from tests.cli.conftest import Run
from tests.cli.in_process import call

NAMESPACE = "{http://www.w3.org/2000/svg}"
HOSTILE = "</text><script>alert(1)</script>&\"'\x1b[2J\u202e<<<" + "n" * 5000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("workload")
    write_counters(place, CounterCapture("gfx942", with_channels=False))
    return place


def test_the_plot_and_its_tables(folder: Path) -> None:
    done = call("roofline", folder)
    assert done.status == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("tile_gemm")
    assert "bound by MFMA FP16, at 8" in lines[0]
    assert "MI300X (gfx942); roofs measured by a benchmark" in lines[1]
    for words in (
        "HBM 4.37 TB/s",
        "FLOP per byte",
        "Ah",
        "A2",
        "A1",
        "As",
        "not drawn: C: no floating-point operations",
    ):
        assert words in done.stdout
    places = [number for number, line in enumerate(lines) if line.rstrip().endswith(("bound by", "FLOP per byte"))]
    assert lines[places[0]].rstrip().endswith("bound by"), "numbers come before the picture"


@pytest.mark.parametrize("width", [80, 120, 200])
def test_widths_and_no_colour(run: Run, folder: Path, width: int) -> None:
    done = run("roofline", folder, environment={"COLUMNS": str(width), "NO_COLOR": "1"})
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= width
    assert "\x1b" not in done.stdout
    assert "tile_gemm" in done.stdout


def test_json_holds_everything(folder: Path) -> None:
    answer = json.loads(call("roofline", folder, "--json").stdout)
    assert [row["name"] for row in answer["ceilings"]["rows"]][:4] == ["HBM", "L2", "L1", "LDS"]
    assert answer["total_count"] == 3
    assert answer["points"]["row_count"] == 3 * 2 * 4
    assert answer["losses"] == []
    assert "definition" in answer
    first = json.loads(call("roofline", folder, "--json", "--top", 1).stdout)
    assert (first["kernels"]["row_count"], first["points"]["row_count"], first["total_count"]) == (1, 8, 3)


def test_csv_is_the_points(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(call("roofline", folder, "--csv", "--by", "dispatch").stdout)))
    assert len(rows) == 8 * 2 * 4
    assert {row["level"] for row in rows} == {"HBM", "L2", "L1", "LDS"}
    gemm = {
        row["intensity"]
        for row in rows
        if "gemm" in row["kernel_name"] and (row["level"], row["work"]) == ("LDS", "flop")
    }
    assert len(gemm) == 1
    assert float(gemm.pop()) > 0


def test_filters_apply(folder: Path) -> None:
    only = json.loads(call("roofline", folder, "--kernel", "stream", "--json").stdout)
    assert {row["kernel_name"].split("(")[0] for row in only["points"]["rows"]} == {"stream_copy"}
    one = json.loads(call("roofline", folder, "--dispatch", 1, "--by", "dispatch", "--json").stdout)
    assert one["kernels"]["row_count"] == 1


def test_ceilings_and_rules(folder: Path) -> None:
    theory = json.loads(call("roofline", folder, "--ceilings", "theoretical", "--json").stdout)
    assert {row["used_from"] for row in theory["ceilings"]["rows"]} == {"theoretical"}
    compat = json.loads(call("roofline", folder, "--amd", "--json").stdout)
    assert compat["rules"] == "rocprof-compute-3.3"
    assert "theoretical roofs (*)" in call("roofline", folder, "--ceilings", "theoretical").stdout


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_svg(folder: Path, tmp_path: Path, theme: str) -> None:
    file = tmp_path / "roofline.svg"
    done = call("roofline", folder, "-o", file, "--theme", theme)
    assert done.status == 0, done.stderr
    root = ET.fromstring(file.read_text())  # noqa: S314 - our own file
    words = " ".join("".join(node.itertext()) for node in root.iter(f"{NAMESPACE}text"))
    for expected in (
        "Roofline: MI300X (gfx942)",
        "Arithmetic intensity",
        "HBM  4.37 TB/s",
        "MFMA FP16",
        "A",
        "tile_gemm",
    ):
        assert expected in words
    marks = [node for node in root.iter() if node.tag in (f"{NAMESPACE}circle", f"{NAMESPACE}polygon")]
    levels = {"".join(mark.itertext()).split(": ")[0] for mark in marks}
    assert levels == {f"{letter} {level}" for letter in "AB" for level in ("HBM", "L2", "L1", "LDS")} - {"B LDS"}
    points = json.loads(call("roofline", folder, "--json").stdout)["points"]["rows"]
    ((lds, rate),) = {
        (row["intensity"], row["gops_per_second"])
        for row in points
        if (row["kernel_name"].split("(")[0], row["level"], row["work"]) == ("tile_gemm", "LDS", "flop")
    }
    told = next(words for mark in marks if (words := "".join(mark.itertext())).startswith("A LDS: "))
    assert told.startswith(f"A LDS: {lds:.1f} per byte, {rate / 1000:.0f} TFLOP/s, "), "a mark says its numbers"
    assert ("@media" in file.read_text()) == (theme == "auto")


def boxes(root: ET.Element) -> list[tuple[float, float, float, float]]:
    """Unturned labels, by the width that letters have at least."""
    found = []
    for node in root.iter(f"{NAMESPACE}text"):
        if node.get("transform"):
            continue
        text = "".join(part for part in [node.text or "", *(child.tail or "" for child in node)])
        size, x, y = (float(node.get(name, "0")) for name in ("font-size", "x", "y"))
        width = 0.4 * size * len(text)
        left = {"start": x, "middle": x - width / 2, "end": x - width}[node.get("text-anchor", "start")]
        found.append((left, y - 0.7 * size, left + width, y))
    return found


def test_labels_do_not_lie_on_each_other(tmp_path: Path) -> None:
    kernels = tuple(
        KernelWork(
            f"kernel_{number}", fma_f32=10 + number, matrix=number % 3, lds=number, duration_ns=20_000 + 900 * number
        )
        for number in range(10)
    )
    write_counters(tmp_path / "w", CounterCapture("gfx942", kernels=kernels, with_channels=False))
    assert call("roofline", tmp_path / "w", "-o", tmp_path / "a.svg").status == 0
    root = ET.fromstring((tmp_path / "a.svg").read_text())  # noqa: S314
    labels = boxes(root)
    overlaps = [
        (one, other)
        for at, one in enumerate(labels)
        for other in labels[at + 1 :]
        if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
    ]
    assert not overlaps
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    assert width == 960
    assert all(left >= 0 and right <= width and bottom <= height for left, _, right, bottom in labels)


def test_png(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    done = call("roofline", folder, "-o", tmp_path / "roofline.png", "--json")
    assert done.status == 0, done.stderr
    assert json.loads(done.stdout)["output"].endswith("roofline.png")
    data = (tmp_path / "roofline.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(data[16:20], "big") == 1920


def test_hostile_names(tmp_path: Path) -> None:
    work = KernelWork(HOSTILE, fma_f32=10)
    write_counters(tmp_path / "w", CounterCapture("gfx942", kernels=(work,), with_channels=False))
    done = call("roofline", tmp_path / "w", "-o", tmp_path / "a.svg")
    assert done.status == 0, done.stderr
    assert "\x1b[2J" not in done.stdout
    assert "\u202e" not in done.stdout
    text = (tmp_path / "a.svg").read_text()
    root = ET.fromstring(text)  # noqa: S314
    assert not list(root.iter(f"{NAMESPACE}script"))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_refusals(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "there.svg").write_text("mine")
    for arguments, status, words in (
        (("-o", tmp_path / "a.pdf"), 2, "no picture format"),
        (("-o", tmp_path / "there.svg"), 2, "exists already"),
        (("--precision", "fp12"), 2, "no precision 'fp12'"),
        (("--level", "l9"), 2, "no level 'l9'"),
        (("--theme", "dark"), 2, "none is written"),
        (("--kernel", "nothing"), 2, "no kernel"),
        (("--by", "wave"), 2, "wave"),
        (("--device", 7), 2, "no benchmark of device 7"),
    ):
        done = call("roofline", folder, *arguments)
        assert done.status == status, (arguments, done)
        assert words in done.stderr
        assert "Traceback" not in done.stderr
    assert (tmp_path / "there.svg").read_text() == "mine"
    assert call("roofline", folder, "-o", tmp_path / "there.svg", "--force").status == 0
    assert call("roofline", tmp_path / "nothing").status in (2, 3)


def test_partial_captures_name_what_is_missing(tmp_path: Path) -> None:
    write_counter_csv(tmp_path)
    done = call("roofline", tmp_path, "-o", tmp_path / "a.svg")
    assert done.status == 0, done.stderr
    assert "TCP_TOTAL_CACHE_ACCESSES" in done.stdout
    assert "counters --plan --panel sol --target gfx942" in done.stdout
    ET.fromstring((tmp_path / "a.svg").read_text())  # noqa: S314


def test_terminals_without_fine_characters(folder: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-m", "wavewright", "roofline", str(folder)], capture_output=True, env=environment, check=False
    )
    assert done.returncode == 0
    plot = [line for line in done.stdout.decode("ascii").splitlines() if re.match(r" *\S*\|", line)]
    assert len(plot) > 10
    assert any("...." in line for line in plot)
