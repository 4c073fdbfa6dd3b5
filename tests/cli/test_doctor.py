"""`wavewright doctor` as a user calls it."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from synth.machine_faults import FAULTS
from synth.machines import MadeMachine, healthy_machine
from tests.cli.in_process import call
from tests.unit.capture.made_connections import Network
from tools.make_doctor_docs import PAGE, page
from wavewright.capture.doctor import RULES, examine
from wavewright.capture.machines.local_machine import LocalMachine
from wavewright.cli import doctor

On = Callable[[MadeMachine], None]


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> On:
    """Let the verb look at a made machine."""

    def on_machine(machine: MadeMachine) -> None:
        monkeypatch.setattr(doctor, "_connected", lambda host, container: nullcontext((machine, None)))
        monkeypatch.setattr(doctor, "_output_folder", lambda output, is_here: output or "")

    return on_machine


def test_this_machine() -> None:
    checks = examine(LocalMachine(), output=str(Path.cwd()))
    done = call("doctor")
    has_error = any(check.status == "error" for check in checks)
    assert done.status == (5 if has_error else 0)
    assert done.stdout.startswith(f"captures {'cannot' if has_error else 'can'} be taken here: ")
    assert done.stderr == ""


def test_json_of_this_machine() -> None:
    done = call("doctor", "--json")
    answer = json.loads(done.stdout)
    assert [check["name"] for check in answer["checks"]] == [rule.name for rule in RULES]
    assert sum(answer["counts"].values()) == len(RULES)
    assert (answer["schema_version"], answer["host"], answer["changes"]) == (1, "", [])
    assert answer["machine"]["system"] == os.uname().sysname
    assert done.status == (5 if answer["counts"]["error"] else 0)


def test_answers_within_a_second_of_cpu_time_and_without_polars(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [sys.executable, "-X", "importtime", "-c", "from wavewright.cli import program; program()", "doctor"]
    done = subprocess.run(words, check=False, capture_output=True, text=True, cwd=tmp_path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    assert done.returncode in (0, 5) and "captures can" in done.stdout
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "wavewright.capture.doctor" in imported
    assert not {"polars", "numpy", "wavewright.readers", "wavewright.analysis"} & imported
    assert seconds < 2  # half a second on an idle machine; loaded ones charge more


def test_a_healthy_machine_ends_with_0_and_one_with_an_error_with_5(on: On, tmp_path: Path) -> None:
    on(healthy_machine(tmp_path / "a"))
    assert call("doctor").status == 0
    on(next(fault for fault in FAULTS if fault.name == "no ROCm").machine(tmp_path / "b"))
    done = call("doctor")
    assert done.status == 5
    assert "there is no ROCm" in done.stdout
    on(next(fault for fault in FAULTS if fault.status == "warning").machine(tmp_path / "c"))
    assert call("doctor").status == 0


def test_the_folder_of_the_output(on: On, tmp_path: Path) -> None:
    machine = healthy_machine(tmp_path)
    machine.rooms["/home/user/small"] = 1000
    on(machine)
    done = call("doctor", "-o", "/home/user/small/x", "--json")
    disk = next(check for check in json.loads(done.stdout)["checks"] if check["name"] == "disk")
    assert (disk["status"], done.status) == ("error", 5)
    assert disk["finding"].startswith("1.00 kB free in /home/user/small/x")


def test_an_output_on_another_machine_must_be_absolute() -> None:
    done = call("doctor", "--host", "nobody@nowhere.invalid", "--output", "relative")
    assert done.status == 2
    assert "--output 'relative' is not absolute" in done.stderr


@pytest.mark.parametrize("words", [("--host", "me@gpu7"), ("--container", "docker:box")])
def test_another_machine_gets_the_same_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, str]
) -> None:
    """The other machine is this one, behind programs named ssh and docker."""
    network = Network(tmp_path)
    for name, value in network.variables.items():
        monkeypatch.setenv(name, value)
    done = call("doctor", *words, "--json", "--output", str(tmp_path))
    far = json.loads(done.stdout)
    near = {check.name: check for check in examine(LocalMachine(), output=str(tmp_path))}
    assert words[1].rpartition(":")[2] in far["host"]
    assert {check["name"]: check["status"] for check in far["checks"]} == {
        name: str(check.status) for name, check in near.items()
    }
    can = "cannot" if far["counts"]["error"] else "can"
    assert call("doctor", *words).stdout.startswith(f"captures {can} be taken on {far['host']}: ")


def test_a_machine_that_cannot_be_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(tmp_path)
    network.program(tmp_path / "programs/ssh", "#!/bin/sh\necho 'ssh: no route to host' >&2\nexit 255\n")
    monkeypatch.setenv("PATH", network.variables["PATH"])
    done = call("doctor", "--host", "gpu7")
    assert done.status not in (0, 5, 70)
    assert "no route to host" in done.stderr and done.stdout == ""


def _radeon_with_amd_smi(folder: Path, script: str) -> MadeMachine:
    machine = next(fault for fault in FAULTS if fault.name == "unsteady clock of a Radeon").machine(folder)
    machine.write("/opt/rocm/bin/amd-smi", f"#!/bin/sh\n{script}\n", is_program=True)
    return machine


def test_yes_gives_a_radeon_a_steady_clock_and_says_how_to_go_back(on: On, tmp_path: Path) -> None:
    level = tmp_path / "sys/devices/pci0000:00/0000:05:00.0/power_dpm_force_performance_level"
    on(
        _radeon_with_amd_smi(
            tmp_path, f'[ "$*" = "set --gpu 0000:05:00.0 --perf-level STABLE_STD" ] && echo profile_standard > {level}'
        )
    )
    done = call("doctor")
    assert "warning" in done.stdout and level.read_text() == "auto\n"
    done = call("doctor", "--yes")
    assert level.read_text() == "profile_standard\n"
    assert "changed performance level of GPU 0: auto -> profile_standard" in done.stdout
    assert "sudo amd-smi set --gpu 0000:05:00.0 --perf-level AUTO" in done.stdout
    assert "warning" not in done.stdout
    done = call("doctor", "--yes")
    assert "changed" not in done.stdout and "there was nothing to change" in done.stderr


def test_yes_without_the_right_to(on: On, tmp_path: Path) -> None:
    on(_radeon_with_amd_smi(tmp_path, "echo 'AmdSmiException: permission denied' >&2; exit 1"))
    done = call("doctor", "--yes")
    assert "permission denied" in done.stdout
    assert "sudo amd-smi set --gpu 0000:05:00.0 --perf-level STABLE_STD" in done.stdout
    assert "warning" in done.stdout


def test_yes_without_amd_smi(on: On, tmp_path: Path) -> None:
    on(next(fault for fault in FAULTS if fault.name == "unsteady clock of a Radeon").machine(tmp_path))
    assert "there is no program 'amd-smi'" in call("doctor", "--yes").stdout


def test_the_page_is_what_the_table_says() -> None:
    assert PAGE.read_text("utf-8") == page(), "run tools/make_doctor_docs.py"
    assert all(f"`{rule.name}`: {rule.title}" in page() for rule in RULES)
