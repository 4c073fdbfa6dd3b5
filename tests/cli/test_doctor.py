"""`wavewright doctor` as a user calls it."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from synth.machine_faults import FAULTS
from synth.machines import MadeMachine, healthy_machine
from tests.cli.in_process import call
from tools.make_doctor_docs import PAGE, page
from wavewright.capture.doctor import RULES, examine
from wavewright.capture.machines.machine import Machine
from wavewright.cli import doctor

On = Callable[[MadeMachine], None]


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> On:
    """Let the verb look at a made machine."""

    def on_machine(machine: MadeMachine) -> None:
        monkeypatch.setattr(doctor, "Machine", lambda: machine)

    return on_machine


def test_this_machine() -> None:
    checks = examine(Machine(), output=str(Path.cwd()))
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
    assert answer["schema_version"] == 1
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
    assert call("doctor", "-o", "/home/user").status == 0
    on(next(fault for fault in FAULTS if fault.name == "no ROCm").machine(tmp_path / "b"))
    done = call("doctor")
    assert done.status == 5
    assert "there is no ROCm" in done.stdout
    on(next(fault for fault in FAULTS if fault.status == "warning").machine(tmp_path / "c"))
    assert call("doctor", "-o", "/home/user").status == 0


def test_the_folder_of_the_output(on: On, tmp_path: Path) -> None:
    machine = healthy_machine(tmp_path)
    machine.rooms["/home/user/small"] = 1000
    on(machine)
    done = call("doctor", "-o", "/home/user/small/x", "--json")
    disk = next(check for check in json.loads(done.stdout)["checks"] if check["name"] == "disk")
    assert (disk["status"], done.status) == ("error", 5)
    assert disk["finding"].startswith("1.00 kB free in /home/user/small/x")


def test_the_page_is_what_the_table_says() -> None:
    assert PAGE.read_text("utf-8") == page(), "run tools/make_doctor_docs.py"
    assert all(f"`{rule.name}`: {rule.title}" in page() for rule in RULES)
