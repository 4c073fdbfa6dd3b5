"""The verb diagnose: text, Markdown and JSON."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run


def test_text_names_the_first_finding(run: Run, capture: Path) -> None:
    done = run("diagnose", capture)
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(run("diagnose", capture, "--json").stdout)
    first = answer["findings"][0]
    assert f"1. {first['verdict']}" in done.stdout
    assert 0 <= first["gain_share_min"] <= first["gain_share_max"] < 1
    assert first["gain_share_max"] > 0
    assert first["evidence"][0]["text"] in done.stdout
    assert "Trace quality: " in done.stdout


def test_truncation_is_said(run: Run, capture: Path) -> None:
    total = len(json.loads(run("diagnose", capture, "--json").stdout)["findings"])
    assert f"showing 1 of {total} findings" in run("diagnose", capture, "--top", "1").stdout


def test_part_of_a_trace(run: Run, capture: Path) -> None:
    whole = json.loads(run("diagnose", capture, "--json").stdout)
    part = json.loads(run("diagnose", capture, "--se", "0", "--json").stdout)
    assert 0 < part["wave_cycles_total"] < whole["wave_cycles_total"]


def test_some_lines_of_a_trace(run: Run, capture: Path) -> None:
    whole = json.loads(run("diagnose", capture, "--json").stdout)
    line = next(item["line"] for finding in whole["findings"] for item in finding["evidence"] if item["line"])
    part = json.loads(run("diagnose", capture, "--line", line, "--json").stdout)
    assert 0 < part["stall_cycles_total"] < whole["stall_cycles_total"]
    assert sum(f["gain_share_max"] for f in part["findings"]) < sum(f["gain_share_max"] for f in whole["findings"])
    assert part["wave_cycles_total"] == whole["wave_cycles_total"]
    assert {item["line"] for finding in part["findings"] for item in finding["evidence"]} == {line}


def test_a_folder_of_nothing_that_is_read_says_so(run: Run, tmp_path: Path) -> None:
    """It may as well be meant as a run: every verb says what `info` says."""
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n")
    said = {verb: run(verb, tmp_path).stderr.splitlines()[0] for verb in ("info", "diagnose", "hotspots")}
    assert set(said.values()) == {f"error: {tmp_path}: nothing in this folder is of a format that wavewright reads"}


def test_the_gpu_is_that_of_info(run: Run, shared: Path) -> None:
    """No file beside this trace names the GPU; only gfx950 has all of its instructions."""
    path = shared / "data/uiout-mi350x-flydsl/fused_rope_cache/big/ui_output_agent_4253_dispatch_8781"
    (gpu,) = {line.rpartition(" · ")[2] for line in run("diagnose", path).stdout.splitlines()[:1]}
    about = run("info", path).stdout
    assert gpu.startswith("gfx950 (MI350 series, inferred)")
    assert f"GPU:    {gpu}" in about
    assert "the exact GPU" not in about
