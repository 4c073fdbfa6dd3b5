"""What doctor prints: one verdict, problems first, nothing wider than the terminal, commands that can be copied."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from synth.machine_faults import FAULTS, Fault
from synth.machines import healthy_machine
from synth.rooted_machine import RootedMachine
from wavewright.capture.doctor import Check, Status, examine
from wavewright.words.capture.doctor import doctor_report, verdict
from wavewright.writers.terminal.blocks import plain_text

_TOLD = (
    "no devices in a container",
    "unsteady clock of a Radeon",
    "somebody computes",
    "another ROCm of PyTorch",
    "selinux",
)


def _printed(checks: Sequence[Check], width: int = 80, **how: Any) -> str:
    return plain_text(doctor_report(checks, width=width, **how), width)


def _fault(name: str) -> Fault:
    return next(fault for fault in FAULTS if fault.name == name)


@pytest.mark.some_cases(9)
@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", _TOLD)
def test_a_problem_comes_first_and_fits(tmp_path: Path, name: str, width: int) -> None:
    checks = examine(_fault(name).machine(tmp_path))
    text = _printed(checks, width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    (check,) = (check for check in checks if check.is_problem)
    lines = text.splitlines()
    assert lines[0].startswith("captures can")
    first = next(line for line in lines[lines.index("") :] if line)
    assert first.split()[0] == str(check.status) and check.title in first
    joined = " ".join(text.split())
    assert check.why in joined and check.remedy in joined


def test_a_healthy_machine_in_a_screenful(tmp_path: Path) -> None:
    text = _printed(examine(healthy_machine(tmp_path)))
    assert text.startswith("captures can be taken here: 26 checks are ok, 2 not made\n")
    assert len(text.splitlines()) <= 65
    assert "MI300X gfx942, 304 CUs, 32 SEs, 8 XCCs, SPX, 192 GiB, 0000:05:00.0" in text
    assert "error" not in text and "warning" not in text


def test_everything_on_request(tmp_path: Path) -> None:
    checks = examine(healthy_machine(tmp_path))
    text = " ".join(_printed(checks, is_complete=True).split())
    assert all(check.why in text for check in checks if check.status is Status.OK)
    assert all(check.finding in text for check in checks)
    assert "…" not in text


def test_a_bare_machine_in_few_lines(tmp_path: Path) -> None:
    text = _printed(examine(RootedMachine(str(tmp_path))))
    assert len(text.splitlines()) <= 26
    assert text.count("error") == 2  # in the verdict, and once below
    assert "and 4 more: there is no AMD GPU here" in " ".join(text.split())


def test_commands_are_the_same_for_a_shell_however_wide(tmp_path: Path) -> None:
    check = next(check for check in examine(_fault("no devices in a container").machine(tmp_path)) if check.is_problem)
    (command,) = check.commands
    for width in (50, 80, 300):
        text = _printed((check,), width)
        lines = text[text.index("docker run") :].split("\n\n")[0]
        assert shlex.split(lines.replace("\\\n", " ")) == shlex.split(command)
        answer = subprocess.run(["sh", "-n", "-c", lines], check=False, capture_output=True)
        assert answer.returncode == 0


def test_verdicts(tmp_path: Path) -> None:
    checks = examine(healthy_machine(tmp_path))
    assert verdict(checks[:1]) == "captures can be taken here: 1 check is ok"
    assert verdict(checks) == "captures can be taken here: 26 checks are ok, 2 not made"
    broken = examine(_fault("no ROCm").machine(tmp_path / "no-rocm"))
    assert verdict(broken).startswith("captures cannot be taken here: 1 error, ")
