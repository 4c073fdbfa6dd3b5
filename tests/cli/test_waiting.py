"""`wavewright stalls`, `waits` and `latency` as a user sees them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

import pytest
from click.testing import CliRunner

from synth import Scenario, compiled, synthesize, write_capture
from tests.cli.conftest import Run
from wavewright.cli import _group

VERBS = ("stalls", "waits", "latency")


class Call(Protocol):
    """Runs a verb and gives what it printed."""

    def __call__(self, *arguments: object, columns: int = 120) -> str: ...


@pytest.fixture(name="call")
def in_process(monkeypatch: pytest.MonkeyPatch) -> Call:
    """What a verb prints, without a new process."""

    def run_verb(*arguments: object, columns: int = 120) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        done = CliRunner().invoke(_group, [str(argument) for argument in arguments], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    return run_verb


@pytest.fixture(scope="module")
def gemm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A matrix multiplication: vector loads, LDS, barriers."""
    folder = tmp_path_factory.mktemp("gemm")
    kernel = compiled("tiled_gemm", "gfx942")
    write_capture(
        synthesize(Scenario(kernels=(kernel,), loop_trips=4, shader_engines=2, waves_per_workgroup=4)), folder
    )
    return folder


def told(call: Call, *arguments: object) -> Any:
    return json.loads(call(*arguments, "--json"))


@pytest.mark.parametrize("columns", [80, 120])
def test_text_fits_the_terminal(call: Call, gemm: Path, columns: int) -> None:
    for verb in (*VERBS, "stalls --classic"):
        assert max(map(len, call(*verb.split(), gemm, columns=columns).splitlines())) <= columns


def test_stalls_names_the_largest_class_first_and_what_helps(call: Call, gemm: Path) -> None:
    answer = told(call, "stalls", gemm)
    classes = answer["classes"]["rows"]
    assert sum(row["stall_share"] for row in classes) == pytest.approx(1)
    assert {"wait vector load", "wait LDS", "barrier"} <= {row["class"] for row in classes}
    text = call("stalls", gemm, columns=120)
    largest = next(row for row in classes if row["kind"] != "busy")
    assert f"largest class: {largest['class']}" in " ".join(text.split())
    assert f"{classes[0]['class']}: " in text
    assert "idle, not in any stall" in text


def test_truncation_is_said(call: Call, gemm: Path) -> None:
    text = call("stalls", gemm, "--top", 2)
    assert "showing 2 of" in text
    assert told(call, "stalls", gemm, "--top", 2)["by_row"]["row_count"] > 2
    assert "showing 1 of" in call("waits", gemm, "--top", 1)
    assert "showing 1 of" in call("latency", gemm, "--top", 1)


def test_waits_point_at_their_producers(call: Call, gemm: Path) -> None:
    answer = told(call, "waits", gemm)
    waits, edges = answer["waits"]["rows"], answer["producers"]["rows"]
    assert waits[0]["text"].startswith("s_waitcnt")
    assert {edge["row"] for edge in edges} <= {wait["row"] for wait in waits}
    assert any(edge["producer_kind"] == "vector load" and edge["last_count"] for edge in edges)
    text = call("waits", gemm, columns=140)
    assert "<- vmcnt" in text
    assert "cycles earlier" in text.replace("\n", " ")


def test_latency_has_loads_and_what_is_exposed(call: Call, gemm: Path) -> None:
    answer = told(call, "latency", gemm)
    kinds = {row["kind"] for row in answer["by_row"]["rows"]}
    assert {"vector load", "LDS", "scalar load"} <= kinds
    assert {row["part"] for row in answer["exposure"]["rows"]} == {"stall", "issue", "idle"}
    assert "exposed (" in call("latency", gemm)


def test_filters_narrow_the_answer(call: Call, gemm: Path) -> None:
    whole, part = (told(call, "stalls", gemm, *more)["stall_cycles_total"] for more in ((), ("--se", 0)))
    assert 0 < part < whole
    assert 0 < told(call, "stalls", gemm, "--wave", 0)["stall_cycles_total"] < part


def test_classic_is_the_same_stall(call: Call, gemm: Path) -> None:
    new, old = told(call, "stalls", gemm), told(call, "stalls", gemm, "--classic")
    assert new["stall_cycles_total"] == old["stall_cycles_total"]
    assert {row["type"] for row in old["types"]["rows"]} >= {"VMEM-wait", "LDS/SMEM-wait", "barrier"}


@pytest.mark.parametrize("verb", VERBS)
def test_nothing_to_ask_about(run: Run, tmp_path: Path, verb: str) -> None:
    done = run(verb, tmp_path / "missing")
    assert done.returncode != 0
    assert done.stderr.startswith("error:")
    assert "Traceback" not in done.stderr
