"""`wavewright.capture` in Python: plans without a GPU, runs, results; the examples of the page run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import wavewright
from tests.unit.capture.made_captures import Bench
from wavewright import capture
from wavewright.errors import UsageError

PAGE = Path(__file__).parents[3] / "docs/reference/capture-python.md"


def test_it_is_reached_from_the_package_and_costs_nothing_before() -> None:
    script = """
import sys, wavewright
assert "capture" in wavewright.__all__ and len(wavewright.__all__) <= 20
assert not [name for name in sys.modules if name.startswith("wavewright.capture")]
wavewright.capture.att(["true"], kernel="k", launches=[1])
assert "polars" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    assert wavewright.capture is capture


def test_every_public_name_is_there() -> None:
    assert all(getattr(capture, name) is not None for name in capture.__all__)
    assert set(capture.__all__) <= set(dir(capture))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        capture.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_doctor_stays_a_function_after_its_package_was_imported() -> None:
    from wavewright.capture.doctor import examine

    assert callable(capture.doctor)
    assert [check.name for check in capture.doctor()] == [check.name for check in examine(capture_machine())]


def capture_machine() -> Any:
    from wavewright.capture.machines.machine import Machine

    return Machine()


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (lambda more: capture.discover(["./x"], **more), ["--kernel-trace", "--stats"]),
        (
            lambda more: capture.att(["./x"], regex="a|b", launches=[3], target_cu=0, **more),
            ["--att", "--att-target-cu"],
        ),
        (lambda more: capture.counters(["./x"], [["SQ_WAVES"], ["GRBM_COUNT"]], **more), ["--pmc"]),
        (lambda more: capture.samples(["./x"], method="host_trap", **more), ["--pc-sampling-method", "host_trap"]),
        (lambda more: capture.run(["./x"], parts=["kernel"], **more), ["--kernel-trace"]),
    ],
)
def test_every_kind_has_commands_without_a_gpu(plan: Any, words: list[str]) -> None:
    commands = plan({"rocm_version": "7.14", "variables": {"A": "b"}}).commands("out")
    assert all(command.words[-2:] == ("--", "./x") for command in commands)
    assert all(command.variables["A"] == "b" for command in commands)
    assert set(words) <= set(commands[0].words)
    assert not Path("out").exists()


def test_thread_traces_of_an_unknown_kernel_are_planned_with_their_discovery() -> None:
    plan = capture.att(["./x"], rocm_version="7.14")
    discovery, trace = plan.commands()
    assert "--stats" in discovery.words
    assert "KERNEL" in trace.words


@pytest.mark.parametrize("program", ["python bench.py", [], [b"x"]])
def test_a_program_that_is_no_list_of_words_is_refused(program: Any) -> None:
    with pytest.raises(UsageError, match=r"a program is a list of words|no program is given"):
        capture.discover(program)
    with pytest.raises(TypeError):
        capture.att(["x"], colour="red")


def test_a_plan_runs_and_its_result_is_found_again(bench: Bench) -> None:
    recording = bench.recording()
    plan = capture.att(
        recording.program,
        kernel="saxpy",
        launches=[7, 8],
        variables=recording.variables,
        rocprofv3=bench.tree.rocprofv3,
        machine=bench.machine,
        grace_seconds=3,
    )
    folder = bench.folder / "out"
    events: list[dict[str, Any]] = []
    result = plan.run(folder, say=events.append)
    assert result.is_good
    assert events[-1]["event"] == "finished"
    assert capture.open_result(str(folder)) == result
    [command] = plan.commands(folder)
    assert bench.runs[0]["argv"][1:] == list(command.words[-1:])


def test_the_example_of_the_page_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    first, _ = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    exec(compile(first, str(PAGE), "exec"), {})  # noqa: S102
    printed = capsys.readouterr().out
    assert "rocprofv3 --att" in printed
    assert "--kernel-iteration-range 7 8" in printed


@pytest.mark.slow
def test_the_page_of_the_folder_names_every_file_and_event(bench: Bench) -> None:
    bench.steering["needed_bytes"] = 300 << 20
    bench.take(bench.job())
    text = (PAGE.parent / "capture-folder.md").read_text()
    for path in (bench.folder / "out").rglob("*"):
        if path.is_file() and "raw" not in path.parts:
            assert path.name in text, path
    for event in bench.events:
        assert f"`{event['event']}`" in text
        for key in set(event) - {"v", "time", "job", "event", "attempt"}:
            assert f"`{key}`" in text, (event["event"], key)
