"""`doctor --full` with AMD's script and a stand-in for the compiled program."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import pytest

from synth.profiled_program import STEERING
from synth.profiler_output import KERNEL, make_templates
from synth.rocm_tree import PROGRAM, make_rocm_tree, steered
from synth.rooted_machine import RootedMachine
from tests.conftest import SHARED
from wavewright.capture.doctor import RULES, examine
from wavewright.capture.doctor.check import Check, Outcome
from wavewright.capture.doctor.view import MachineView
from wavewright.capture.jobs import tiny_program
from wavewright.capture.jobs.tiny_program import SOURCE, tried
from wavewright.capture.machines.machine import Machine

_NODE = """simd_count 1216
max_waves_per_simd 8
wave_front_size 64
array_count 32
simd_arrays_per_engine 1
simd_per_cu 4
gfx_target_version 90402
num_xcc 8
location_id 256
unique_id 77
"""


def _view(folder: Path, compiler: str = "", **steering: object) -> MachineView:
    """A machine with AMD's script, a GPU in the topology, and a compiler that makes the stand-in."""
    tree = make_rocm_tree(folder / "rocm", shared=SHARED if SHARED.is_dir() else None)
    node = folder / "nodes/1"
    node.mkdir(parents=True)
    (node / "properties").write_text(_NODE, encoding="utf-8")
    kernels = [[KERNEL, 10, 20_000, 4096]]
    _, variables = steered(folder, kernels=kernels, **steering)
    (folder / "counting").mkdir()
    _, counting = steered(folder / "counting", kernels=kernels, files=str(_counter_files(folder)))
    choice = f'[ -n "$ROCPROF_COUNTERS" ] && export {STEERING}={counting[STEERING]}'
    program = folder / "tiny.sh"
    program.write_text(f"#!/bin/sh\n{choice}\nexec {sys.executable} {PROGRAM}\n", encoding="utf-8")
    program.chmod(0o755)
    lines = (
        "#!/bin/sh",
        'while [ "$1" != -o ]; do shift; done',
        'grep -q wavewright_tiny "$3" || exit 9',
        f'cp {program} "$2"',
    )
    path = folder / "rocm/bin/hipcc"
    path.write_text(compiler or "\n".join((*lines, "")), encoding="utf-8")
    path.chmod(0o755)
    machine = Machine(
        variables={
            **variables,
            "PATH": f"{tree.root}/bin:{os.environ['PATH']}",
            "HOME": str(folder),
            "WAVEWRIGHT_LOCK_DIR": str(folder / "locks"),
            "ROCPROFILER_KFD_TOPOLOGY": str(node.parent),
        }
    )
    return MachineView(machine)


def _counter_files(folder: Path) -> Path:
    """Counter data as rocprofv3 writes them, of ten launches."""
    head = "Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,Kernel_Name,"
    head += "Workgroup_Size,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,Counter_Name,"
    head += "Counter_Value,Start_Timestamp,End_Timestamp"
    rows = [
        f'{n},{n},"Agent 1",1,4711,4711,1048576,1,"{KERNEL}",256,0,0,8,0,16,"SQ_WAVES",16384.0,{n}000,{n}900'
        for n in range(1, 11)
    ]
    path = folder / "files/PREFIX_counter_collection.csv"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join((head, *rows, "")), encoding="utf-8")
    return path.parent


@pytest.fixture(autouse=True)
def kernel_of_the_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The streams that the stand-in leaves are those of another kernel."""
    monkeypatch.setattr(tiny_program, "KERNEL", "saxpy")


def checked(view: MachineView) -> Check:
    """The check `end-to-end` of a machine on which nothing else is looked at."""
    (rule,) = (rule for rule in RULES if rule.name == "end-to-end")
    return rule.check(tried(view, pause=lambda seconds: None))


@pytest.mark.slow
def test_all_three_captures_are_good(tmp_path: Path) -> None:
    templates = make_templates(tmp_path / "templates")
    view = _view(tmp_path, templates=str(templates))
    answer = checked(view)
    assert answer.status == "ok", answer
    assert answer.finding.startswith("kernel trace: good; counter: good; thread trace: good, ")


@pytest.mark.slow
def test_a_trace_without_waves_is_told_with_its_reason(tmp_path: Path) -> None:
    answer = checked(_view(tmp_path))  # no templates: no stream is left
    assert answer.is_problem
    assert "counter: good; thread trace: no dispatch (" in answer.finding
    assert answer.remedy


@pytest.mark.parametrize("compiler, words", [
    ("#!/bin/sh\necho 'tiny.hip:1:10: error: no hip_runtime.h' >&2\nexit 1\n", "no hip_runtime.h"),
    ("#!/bin/sh\nexit 3\n", "hipcc ended with status 3"),
])  # fmt: skip
def test_a_program_that_does_not_compile(tmp_path: Path, compiler: str, words: str) -> None:
    answer = checked(_view(tmp_path, compiler))
    assert answer.is_problem and words in answer.finding


def test_without_a_compiler_nothing_is_tried(tmp_path: Path) -> None:
    view = _view(tmp_path)
    (tmp_path / "rocm/bin/hipcc").unlink()
    answer = checked(view)
    assert answer.status == "not checked" and "hipcc" in answer.finding


def test_nothing_is_tried_where_devices_are_missing(tmp_path: Path) -> None:
    def trial(view: MachineView) -> Outcome:
        raise AssertionError

    checks = {check.name: check for check in examine(RootedMachine(str(tmp_path)), trial=partial(trial))}
    assert checks["end-to-end"].status == "not checked"


def test_the_program_launches_what_is_asked_for() -> None:
    assert "__global__ void wavewright_tiny(" in SOURCE.read_text() and "launch < 10" in SOURCE.read_text()
