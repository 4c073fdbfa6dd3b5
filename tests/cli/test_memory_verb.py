"""`wavewright memory`: words, forms, pictures, many files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from synth import Workload, write_rocpd, write_rocpd_ranks
from synth.xplane import small_xspace
from tests.cli.in_process import call


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_rocpd_ranks(folder / "ranks", Workload(dispatches=400, ranks=2))
    write_rocpd(folder / "hostile.db", Workload(dispatches=200, seed=7, hostile_names=True))
    (folder / "a.xplane.pb").write_bytes(small_xspace())
    return folder


@pytest.mark.parametrize("width", [60, 80, 120])
def test_text(runs: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    done = call("memory", runs / "a.xplane.pb")
    assert done.status == 0, done.stderr
    lines = done.stdout.splitlines()
    head = "GPU 1 (framework): at most 512 B in use, at +500 ns in train#4 1 allocation; all of them were freed"
    assert " ".join(lines[:3]).startswith(head)
    assert "train#4 > train.py(31): step > PjitFunction(f)" in done.stdout or width < 120
    assert max(map(len, lines)) <= width


@pytest.mark.slow
def test_ranks_and_hostile_names(runs: Path) -> None:
    answer = json.loads(call("memory", runs / "ranks", runs / "hostile.db", "--json").stdout)
    places, sites = (answer[name]["rows"] for name in ("places", "sites"))
    assert len({place["run"] for place in places}) == 3
    assert answer["covers_end"] is True
    assert sum(site["unfreed_bytes"] for site in sites) == sum(place["unfreed_bytes"] for place in places)
    text = call("memory", runs / "ranks").stdout
    assert "rank 0" in text
    assert "not freed before the process ended" in text


def test_nothing_recorded(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"traceEvents": [{"ph": "X", "name": "a", "cat": "cpu_op", "ts": 1, "dur": 1}]}')
    done = call("memory", tmp_path / "t.json")
    assert done.status == 0
    assert done.stdout.startswith("no allocations were recorded")


@pytest.mark.slow
def test_a_picture(runs: Path, tmp_path: Path) -> None:
    done = call("memory", runs / "ranks", "-o", tmp_path / "m.svg", "--bins", 20)
    assert done.status == 0, done.stderr
    assert f"wrote {tmp_path / 'm.svg'}" in done.stdout
    peaks = re.findall("<circle", (tmp_path / "m.svg").read_text())
    assert len(peaks) == json.loads(call("memory", runs / "ranks", "--json").stdout)["places"]["row_count"]
    assert call("memory", runs / "ranks", "-o", tmp_path / "m.svg").status == 2
