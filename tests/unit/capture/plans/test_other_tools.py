"""Runs of ROCm Systems Profiler and of RPD, with programs that stand for them: no GPU has run them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from synth import Workload, write_rocpd, write_rpd
from tests.unit.capture.made_captures import Bench
from tests.unit.capture.verdicts.attempts import attempt_in, ended
from wavewright.capture.jobs.capture_run import take
from wavewright.capture.jobs.job import Job
from wavewright.capture.jobs.result import Result
from wavewright.capture.judgement import Verdict
from wavewright.capture.kinds import RunTrace
from wavewright.capture.machines.machine import Machine
from wavewright.capture.plans.command import Command
from wavewright.capture.plans.commands import commands_of
from wavewright.capture.plans.other_tools import TOOLS
from wavewright.capture.verdicts import judge
from wavewright.errors import MissingToolError, UsageError

CFG = "ROCPROFSYS_CONFIG_FILE"


def plans(recording: RunTrace, **environment: str) -> tuple[Command, ...]:
    return commands_of(recording, None, folder="/out", environment=environment)


def test_rocprof_sys_gets_a_configuration_for_the_parts_of_a_run() -> None:
    parts = ("kernel", "hip", "stacks", "copies", "memory")
    [command] = plans(RunTrace(program=("./a", "-x"), tool="rocprof-sys", parts=parts, extra=("-v", "1"), gpu_index=1))
    assert command.words == ("rocprof-sys-run", "-v", "1", "--", "./a", "-x")
    assert command.variables["ROCR_VISIBLE_DEVICES"] == "1"
    assert command.variables["ROCPROFSYS_OUTPUT_PATH"] == "/out"
    assert command.variables["ROCPROFSYS_TIME_OUTPUT"] == "OFF"
    [(path, content)] = command.files.items()
    assert command.variables[CFG] == path == "/out/rocprof-sys.cfg"
    settings = dict(line.split(" = ") for line in content.decode().splitlines())
    domains = "kernel_dispatch,hip_runtime_api,memory_copy,memory_allocation,scratch_memory"
    assert (settings["ROCPROFSYS_ROCM_DOMAINS"], settings["ROCPROFSYS_USE_SAMPLING"]) == (domains, "ON")
    assert settings["ROCPROFSYS_USE_PROCESS_SAMPLING"] == "OFF"
    assert any("on a GPU yet" in note for note in command.notes)


def test_an_executable_is_rewritten_and_then_run() -> None:
    rewriting, running = plans(RunTrace(program=("./a", "-x"), tool="rocprof-sys-instrument", extra=("-l",)))
    assert rewriting.words == ("rocprof-sys-instrument", "-l", "-o", "/out/instrumented", "--", "./a")
    assert running.words == ("rocprof-sys-run", "--", "/out/instrumented", "-x")


def test_what_an_earlier_profiler_left_steers_neither() -> None:
    [rpd] = plans(RunTrace(program=("./a", "-x"), tool="rpd"), RPDT_FILENAME="x", ROCPROFSYS_TRACE="OFF")
    assert rpd.words == ("runTracer.sh", "-o", "/out/run.rpd", "./a", "-x")
    assert rpd.removed == ("ROCPROFSYS_TRACE", "RPDT_FILENAME")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"tool": "omnitrace"}, "not a tool that records runs"),
        ({"tool": "rpd", "extra": ("-x",)}, "takes no options"),
        ({"tool": "rpd", "program": ("-o", "x")}, "would be an option"),
        ({"tool": "rocprof-sys", "parts": ("nothing",)}, "not a part of a run"),
        ({"tool": "rocprof-sys", "parts": ()}, "nothing of the run"),
        ({"tool": "rocprof-sys", "extra": ("--output=x",)}, "cannot be passed on"),
        ({"tool": "rocprof-sys", "extra": ("-c", "x")}, "cannot be passed on"),
        ({"tool": "rocprof-sys", "variables": {CFG: "/nowhere.cfg"}}, "cannot be read"),
        ({"tool": "rocprof-sys", "variables": {CFG: "/dev"}}, "cannot be read"),
    ],
)
def test_refusals(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        plans(RunTrace(**{"program": ("app",), **fields}))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# mine\nROCPROFSYS_TRACE = true # on\n$X = 1\n", "--what has no say"),
        ("ROCPROFSYS_OUTPUT_PATH = /tmp\n", "line 1 has no effect"),
        ("ROCPROFSYS_TRACE\n", "line 1 sets nothing"),
        ("\nROCPROFSYS_FILE_OUTPUT = off\n", "line 2 sets ROCPROFSYS_FILE_OUTPUT: no file would be written"),
        ("ROCPROFSYS_MODE = causal\n", "line 1 sets ROCPROFSYS_MODE"),
        ("ROCPROFSYS_MODE = sampling\n", "--what has no say"),
        (b"\xff\xfe = 1", "cannot be read"),
    ],
)
def test_a_configuration_of_the_user_is_judged(tmp_path: Path, text: str | bytes, said: str) -> None:
    path = tmp_path / "mine.cfg"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    try:
        [command] = plans(RunTrace(program=("app",), tool="rocprof-sys", variables={CFG: str(path)}))
    except UsageError as error:
        assert said in str(error)
        return
    assert not command.files
    assert command.variables[CFG] == str(path)
    assert any(said in note for note in command.notes)


#: Plays the profiler: copies what stands for its output to where it was told to write, and runs the program.
STAND_IN = """#!{python}
import os, pathlib, shutil, subprocess, sys
words = sys.argv[1:]
source = pathlib.Path({source!r})
if "-o" in words:
    target = pathlib.Path(words[words.index("-o") + 1])
else:
    target = pathlib.Path(os.environ["ROCPROFSYS_OUTPUT_PATH"], "rocpd-7.db")
    assert "kernel_dispatch" in open(os.environ["{cfg}"]).read()
shutil.copyfile(source, target)
print("{said}", file=sys.stderr)
program = words[words.index("--") + 1:] if "--" in words else words[2:]
sys.exit(subprocess.call(program))
"""


def stand_in(folder: Path, name: str, source: Path, said: str) -> None:
    path = folder / name
    path.write_text(STAND_IN.format(python=sys.executable, source=str(source), cfg=CFG, said=said))
    path.chmod(0o755)


def taken(bench: Bench, tool: str, folder: Path) -> Result:
    """On a machine that has the tool and no rocprofv3."""
    machine = Machine(variables={**bench.variables, "PATH": f"{folder}:{os.environ['PATH']}"})
    job = Job(recording=RunTrace(program=("true",), tool=tool), attempts=1)
    return take(job, bench.folder / "out", machine=machine)


@pytest.mark.parametrize(("tool", "name"), [("rocprof-sys", "rocprof-sys-run"), ("rpd", "runTracer.sh")])
def test_a_run_is_recorded_found_and_judged(bench: Bench, tmp_path: Path, tool: str, name: str) -> None:
    source, folder = tmp_path / "prepared", tmp_path / "programs"
    folder.mkdir()
    (write_rpd if tool == "rpd" else write_rocpd)(source, Workload(dispatches=20))
    stand_in(folder, name, source, "[rocprof-sys] finalizing...")
    result = taken(bench, tool, folder)
    assert (result.verdict, len(result.attempts)) == (Verdict.GOOD, 1)
    assert result.open_run().dispatches.height == 20


def test_a_machine_without_the_tool(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(MissingToolError, match="rocprof-sys-sample is not installed"):
        taken(bench, "rocprof-sys-sample", tmp_path)


@pytest.mark.parametrize(
    ("line", "number", "verdict"),
    [
        ("terminate: unsupported ROCPROFSYS_ROCM_DOMAINS value: kfd_events", 100, Verdict.REFUSED),
        ("[rocprof-sys][dl] Error! Setting 'ROCPROFSYS_X' not found!", 101, Verdict.REFUSED),
        ("[rocprof-sys][0] Error opening perfetto output file: /x/perfetto-trace-1.proto", 102, Verdict.FAILED),
        ("[rocprof-sys] Error! 'run.sh' could not be opened...", 105, Verdict.REFUSED),
    ],
)
def test_messages_of_rocprof_sys(tmp_path: Path, line: str, number: int, verdict: Verdict) -> None:
    judgement = judge(RunTrace(program=("app",), tool="rocprof-sys"), ended(134), attempt_in(tmp_path, stderr=line))
    assert (judgement.verdict, [cause.number for cause in judgement.causes]) == (verdict, [number])


def test_every_command_of_the_table_is_complete() -> None:
    for name in TOOLS:
        for command in plans(RunTrace(program=("./a", "b"), tool=name)):
            assert not any("{" in word for word in command.words), name
