from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.unit.analysis.counters.test_l2 import IDEAL_GB, worked_example


def test_the_worked_example(run: Run, tmp_path: Path) -> None:
    files = worked_example(tmp_path, bubble=False)
    done = run("l2", *files, "--kernel", "k", "--ideal-gb", IDEAL_GB, "--ea-channels", 2, "--target", "gfx942")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "streaming, nothing to fix"
    text = " ".join(done.stdout.split())
    for expected in ("1.7 %", "0.0 %", "1.04", "2.85 TB", "53.5 %"):
        assert expected in text


def test_json(run: Run, tmp_path: Path) -> None:
    worked_example(tmp_path, bubble=True)
    answer = json.loads(run("l2", tmp_path, "--target", "MI300X", "--json").stdout)
    assert answer["kernels"]["rows"][0]["hit_rate"] == 0.017
    assert answer["losses"] == []
    assert answer["findings"]["rows"][0]["answer"] == "no, it streams"


def test_no_counters_is_one_kind_sentence(run: Run, tmp_path: Path) -> None:
    done = run("l2", tmp_path)
    assert done.returncode == 2
    assert "no counters" in done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert run("l2", tmp_path / "x.csv").returncode == 3


def test_narrow_terminals(run: Run, tmp_path: Path) -> None:
    worked_example(tmp_path, bubble=True)
    for width in ("80", "120"):
        done = run("l2", tmp_path, environment={"COLUMNS": width})
        assert max(map(len, done.stdout.splitlines())) <= int(width)
