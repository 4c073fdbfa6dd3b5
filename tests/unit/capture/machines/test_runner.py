"""Every runner treats programs alike: on this machine, over ssh, in a container, and on an old Python."""

from __future__ import annotations

import json
import os
import signal
import sys
import uuid
from pathlib import Path

import pytest

from wavewright.capture.machines import guard
from wavewright.capture.machines.runner import Ending, Limits, run_program
from wavewright.errors import OutputError

SOON = Limits(seconds=1000, grace_seconds=5)


class Ran:
    """One run of a shell script in an attempt's folder, with what it printed and left."""

    def __init__(self, attempt: Path, script: str, *, limits: Limits = SOON, words: list[str] | None = None) -> None:
        self.mark = uuid.uuid4().hex
        self.beats: list[float] = []
        self.attempt = attempt
        self.raw = attempt / "raw"
        self.raw.mkdir(parents=True, exist_ok=True)
        self.folder = str(self.raw)
        self.variables = {"PATH": os.environ["PATH"], "A": "b c", "RAW": self.folder, guard.MARK: self.mark}
        self.files = attempt / "stdout.txt", attempt / "stderr.txt"
        self.ending: Ending = run_program(
            words if words is not None else ["sh", "-c", script],
            variables=self.variables,
            cwd=str(attempt),
            stdout=self.files[0],
            stderr=self.files[1],
            limits=limits,
            each_second=self._beat,
        )
        self.stdout, self.stderr = (path.read_bytes() for path in self.files)
        assert not guard.processes_of(None, self.mark), "something is left running"

    def _beat(self, seconds: float) -> None:
        self.beats.append(seconds)
        if len(self.beats) == 2:
            (self.attempt / "told twice").touch()


def test_a_program_gets_its_words_variables_and_folder_and_nothing_else(tmp_path: Path) -> None:
    script = """import os, sys, json
print(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd(), os.getsid(0) == os.getpid()]))"""
    ran = Ran(tmp_path, "", words=[sys.executable, "-I", "-c", script, "a b", "$HOME", "", "ü"])
    words, variables, folder, leads = json.loads(ran.stdout)
    assert words == ["a b", "$HOME", "", "ü"]
    variables.pop("LC_CTYPE", None)  # Python sets it for itself
    assert variables == ran.variables
    assert (folder, leads) == (str(tmp_path), True)
    assert (ran.ending.status, ran.ending.stopped, ran.ending.problem) == (0, "", "")


def test_two_programs_in_one_folder(tmp_path: Path) -> None:
    Ran(tmp_path, "echo 1 > $RAW/first")
    ran = Ran(tmp_path, "echo 2 > $RAW/second")
    assert sorted(path.read_text() for path in ran.raw.iterdir()) == ["1\n", "2\n"]


def test_what_it_prints_goes_to_files_byte_by_byte(tmp_path: Path) -> None:
    ran = Ran(tmp_path, r"printf '\033[2J\377\000x'; printf err >&2; exit 7")
    assert (ran.stdout, ran.stderr, ran.ending.status) == (b"\x1b[2J\xff\x00x", b"err", 7)


def test_a_signal_is_a_negative_status(tmp_path: Path) -> None:
    assert Ran(tmp_path, "kill -ABRT $$").ending.status == -signal.SIGABRT


def test_what_cannot_be_started_has_the_same_reason(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    (tmp_path / "without-interpreter").write_text("echo\n")
    (tmp_path / "without-interpreter").chmod(0o755)
    for words, problem in (
        (["./nothing-here"], "the program './nothing-here' does not exist"),
        (["./plain"], "the program './plain' is not executable"),
        (["./without-interpreter"], "does its first line lack '#!'?"),
        (["echo", "a\0b"], "the program 'echo' cannot be started: embedded null byte"),
        (["echo", "x" * 3_000_000], "longer than the system allows"),
    ):
        ending = Ran(tmp_path, "", words=words).ending
        assert (ending.status, ending.stopped) == (None, "")
        assert problem in ending.problem


def test_a_folder_that_does_not_exist_is_the_reason(tmp_path: Path) -> None:
    files = tmp_path / "out", tmp_path / "err"
    nowhere = "/no/such/folder"
    ending = run_program(["true"], variables={}, cwd=nowhere, stdout=files[0], stderr=files[1], limits=SOON)
    assert ending.problem == f"the folder {nowhere!r} in which 'true' is to run does not exist"


def test_output_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    out = tmp_path / "no/such/folder/out"
    with pytest.raises(OutputError, match="cannot write what the program prints"):
        run_program(["true"], variables={}, cwd="", stdout=out, stderr=tmp_path / "err", limits=SOON)


def test_the_start_and_the_end_of_a_flood_are_there_and_the_rest_is_counted(tmp_path: Path) -> None:
    size = 30_000_000
    script = f"head -c {size} /dev/zero; printf 'the last words'"
    ran = Ran(tmp_path, script, limits=Limits(seconds=60, output_bytes=1_000_000))
    assert ran.ending.status == 0
    assert ran.ending.dropped_bytes == size + len("the last words") - 1_000_000
    assert len(ran.stdout) < 1_000_100
    assert ran.stdout.endswith(b"the last words")
    assert f"{ran.ending.dropped_bytes:,} bytes are left out here".encode() in ran.stdout


@pytest.mark.first_case
def test_a_timeout_lets_it_write_its_data_first(tmp_path: Path) -> None:
    script = "trap 'sleep 0.2; echo data > $RAW/data; trap - INT; kill -INT $$' INT; while :; do sleep 0.05; done"
    ran = Ran(tmp_path, script, limits=Limits(seconds=1, grace_seconds=1000))
    assert (ran.ending.stopped, ran.ending.status) == ("timeout", -signal.SIGINT)
    assert (ran.raw / "data").read_text() == "data\n"
    assert 1 <= ran.ending.seconds < 1000


@pytest.mark.slow
@pytest.mark.first_case
def test_who_ignores_sigint_gets_sigterm_and_then_sigkill(tmp_path: Path) -> None:
    gentle = "trap 'echo asked' INT; trap 'echo term; exit 9' TERM; while :; do sleep 0.02; done"
    ran = Ran(tmp_path, gentle, limits=Limits(seconds=1, grace_seconds=2))
    assert (ran.stdout, ran.ending.status) == (b"asked\nterm\n", 9)
    stubborn = "trap '' INT TERM; while :; do sleep 0.02; done"
    ran = Ran(tmp_path, stubborn, limits=Limits(seconds=0.2, grace_seconds=0.3))
    assert (ran.ending.stopped, ran.ending.status) == ("timeout", -signal.SIGKILL)


@pytest.mark.first_case
def test_what_outlives_the_leader_is_killed_and_counted(tmp_path: Path) -> None:
    limits = Limits(seconds=1000, grace_seconds=0.3)
    ran = Ran(tmp_path, "sleep 3000 & sleep 3000 & exit 0", limits=limits)
    assert (ran.ending.status, ran.ending.left_behind) == (0, 2)
    assert ran.ending.seconds < 1000
    ran = Ran(tmp_path, "setsid sleep 100 & sleep 0.2; exit 0", limits=limits)
    assert (ran.ending.status, ran.ending.left_behind) == (0, 1)


@pytest.mark.first_case
def test_what_outlives_the_leader_may_write_its_data(tmp_path: Path) -> None:
    script = "(trap 'echo late data; exit' TERM; while :; do sleep 0.05; done) & sleep 0.3; exit 0"
    assert Ran(tmp_path, script, limits=Limits(seconds=20, grace_seconds=1)).stdout == b"late data\n"


@pytest.mark.first_case
def test_time_is_told_while_it_runs(tmp_path: Path) -> None:
    ran = Ran(tmp_path, "while [ ! -e 'told twice' ]; do sleep 0.1; done")
    assert ran.ending.status == 0
    assert [int(beat + 0.1) for beat in ran.beats[:2]] >= [1, 2]


def test_an_exception_in_between_stops_the_program_gently(tmp_path: Path) -> None:
    def failing(_: float) -> None:
        raise KeyboardInterrupt

    mark = uuid.uuid4().hex
    raw = tmp_path / "raw"
    raw.mkdir()
    script = "trap 'echo data > $RAW/data; exit 0' INT; while :; do sleep 0.05; done"
    variables = {"PATH": os.environ["PATH"], "RAW": raw, guard.MARK: mark}
    files = tmp_path / "out", tmp_path / "err"
    with pytest.raises(KeyboardInterrupt):
        run_program(
            ["sh", "-c", script],
            variables=variables,
            cwd="",
            stdout=files[0],
            stderr=files[1],
            limits=SOON,
            each_second=failing,
        )
    assert not guard.processes_of(None, mark)
    assert (tmp_path / "raw/data").read_text() == "data\n"
