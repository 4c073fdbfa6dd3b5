"""What only the runner of this machine does; what all runners do alike is in test_runner_contract.py."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

from wavewright.capture.machines import guard
from wavewright.capture.machines.runner import Ending, Limits, end_marked, run_program
from wavewright.errors import OutputError

SOON = Limits(seconds=1000, grace_seconds=5)


class Ran:
    """One run of a shell script, and what it printed."""

    def __init__(self, folder: Path, script: str, *, limits: Limits = SOON, words: list[str] | None = None) -> None:
        self.mark = uuid.uuid4().hex
        self.variables = {"PATH": os.environ["PATH"], "A": "b c", guard.MARK: self.mark}
        self.ending: Ending = run_program(
            words if words is not None else ["sh", "-c", script],
            variables=self.variables,
            cwd=str(folder),
            stdout=folder / "stdout.txt",
            stderr=folder / "stderr.txt",
            limits=limits,
        )
        self.stdout = (folder / "stdout.txt").read_bytes()
        assert not guard.processes_of(None, self.mark), "something is left running"


def test_a_program_gets_its_words_variables_and_folder_and_nothing_else(tmp_path: Path) -> None:
    script = """import os, sys, json
print(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd(), os.getsid(0) == os.getpid()]))"""
    ran = Ran(tmp_path, "", words=[sys.executable, "-I", "-c", script, "a b", "$HOME", ""])
    words, variables, folder, leads = json.loads(ran.stdout)
    assert words == ["a b", "$HOME", ""]
    variables.pop("LC_CTYPE", None)  # Python sets it for itself
    assert variables == ran.variables
    assert (folder, leads) == (str(tmp_path), True)
    assert ran.ending.status == 0
    assert not ran.ending.stopped


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["./nothing-here"], "the program './nothing-here' does not exist"),
        (["nothing-here-either"], "the program 'nothing-here-either' does not exist"),
        (["./plain"], "the program './plain' is not executable"),
        (["./without-interpreter"], "does its first line lack '#!'?"),
        (["echo", "a\0b"], "cannot be started"),
        (["echo", "x" * 3_000_000], "longer than the system allows"),
    ],
)
def test_what_cannot_be_started_has_a_reason(tmp_path: Path, words: list[str], problem: str) -> None:
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    (tmp_path / "without-interpreter").write_text("echo\n")
    (tmp_path / "without-interpreter").chmod(0o755)
    ending = Ran(tmp_path, "", words=words).ending
    assert ending.status is None
    assert problem in ending.problem


def test_a_file_that_may_not_grow_does_not_stop_the_program(tmp_path: Path) -> None:
    """A full disk, by the limit of file sizes: the run goes on, and what was lost is counted."""
    script = f"""
import resource, signal, sys
from pathlib import Path
from wavewright.capture.machines.runner import inherited_descriptors, run_program
from wavewright.capture.machines.runner import Limits
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
folder = Path({str(tmp_path)!r})
words = ["sh", "-c", "head -c 500000 /dev/zero; exit 3"]
ending = run_program(words, variables={{"PATH": "/bin:/usr/bin"}}, cwd="",
                           stdout=folder / "out", stderr=folder / "err", limits=Limits(seconds=20))
print(ending.status, ending.dropped_bytes)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    status, dropped = map(int, done.stdout.split())
    assert status == 3
    assert 500_000 - 4096 <= dropped <= 500_000


def test_a_child_that_forks_on_and_on_does_not_get_away(tmp_path: Path) -> None:
    chain = """import os, time
for _ in range(200):
    if os.fork(): os._exit(0)
    os.setsid()
    time.sleep(0.002)
time.sleep(100)"""
    ran = Ran(tmp_path, "", words=[sys.executable, "-c", chain], limits=Limits(seconds=20, grace_seconds=0.1))
    assert ran.ending.left_behind >= 1


@pytest.mark.slow
def test_a_stranger_that_keeps_the_pipe_open_is_not_waited_for(tmp_path: Path) -> None:
    """Without our mark and in another session it cannot be known; it must not block us."""
    pid_file = tmp_path / "pid"
    script = (
        f"env -i setsid sh -c 'echo $$ > {pid_file}; exec sleep 3000' & while [ ! -s {pid_file} ]; do sleep 0.02; done"
    )
    assert Ran(tmp_path, script, limits=Limits(seconds=2000, grace_seconds=0.2)).ending.seconds < 1000
    os.kill(int(pid_file.read_text()), signal.SIGKILL)


def test_a_program_is_interrupted_though_we_ignore_that_ourselves(tmp_path: Path) -> None:
    """As a shell that starts us in the background has it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ran = Ran(tmp_path, "exec sleep 3000", limits=Limits(seconds=0.2, grace_seconds=1000))
    finally:
        signal.signal(signal.SIGINT, before)
    assert (ran.ending.stopped, ran.ending.status) == ("timeout", -signal.SIGINT)


def test_clocks_that_jump_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jumps = iter(range(10**9, 0, -(10**6)))
    monkeypatch.setattr(time, "time", lambda: float(next(jumps)))
    monkeypatch.setattr(time, "time_ns", lambda: next(jumps) * 10**9)
    ran = Ran(tmp_path, "sleep 0.3")
    assert not ran.ending.stopped
    assert 0.3 <= ran.ending.seconds < 10**5


TAKER = """
import os, sys
from pathlib import Path
from wavewright.base import stopping
from wavewright.capture.machines.runner import inherited_descriptors, run_program
from wavewright.capture.machines.runner import Limits
stopping.watch()
folder, mark, script, grace = Path(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4])
variables = {"PATH": os.environ["PATH"], "WAVEWRIGHT_JOB": mark}
inherited_descriptors.update(int(word) for word in sys.argv[5:])
run_program(
    ["sh", "-c", script], variables=variables, cwd=str(folder),
    stdout=folder / "out", stderr=folder / "err", limits=Limits(seconds=60, grace_seconds=grace))
"""


def _taker(
    folder: Path, script: str, *, grace: float = 5, locks: tuple[int, ...] = ()
) -> tuple[subprocess.Popen[bytes], str]:
    mark = uuid.uuid4().hex
    words = [sys.executable, "-c", TAKER, str(folder), mark, script, str(grace), *map(str, locks)]
    taker = subprocess.Popen(words, start_new_session=True, pass_fds=locks, stderr=subprocess.DEVNULL)
    while not (folder / "out").exists() or b"ready" not in (folder / "out").read_bytes():
        assert taker.poll() is None
        time.sleep(0.02)
    return taker, mark


def _gone(mark: str, seconds: float = 600) -> bool:
    return not guard.wait_for_none(None, mark, seconds)


@pytest.mark.first_case
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_when_we_are_told_to_stop_the_program_may_write_its_data(tmp_path: Path, number: signal.Signals) -> None:
    script = "trap 'sleep 0.3; echo data; exit 0' INT; echo ready; while :; do sleep 0.05; done"
    taker, mark = _taker(tmp_path, script)
    taker.send_signal(number)
    assert taker.wait() == 128 + number
    assert (tmp_path / "out").read_bytes() == b"ready\ndata\n"
    assert _gone(mark, 0)


@pytest.mark.slow
def test_the_next_ctrl_c_does_not_wait_for_the_grace(tmp_path: Path) -> None:
    taker, mark = _taker(tmp_path, "trap '' INT TERM; echo ready; while :; do sleep 0.05; done", grace=6000)
    while taker.poll() is None:
        taker.send_signal(signal.SIGINT)
        time.sleep(0.3)
    assert taker.returncode == 130
    assert _gone(mark, 0)


@pytest.mark.slow
def test_when_we_are_killed_the_guard_ends_the_program(tmp_path: Path) -> None:
    taker, mark = _taker(tmp_path, "setsid sleep 100 & trap '' INT TERM; echo ready; while :; do sleep 0.05; done")
    taker.kill()
    taker.wait()
    assert _gone(mark)


def test_a_lock_is_released_only_after_the_program_of_a_killed_taker_has_ended(tmp_path: Path) -> None:
    import fcntl

    descriptor = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    taker, mark = _taker(tmp_path, "trap '' INT TERM; echo ready; while :; do sleep 0.05; done", locks=(descriptor,))
    os.close(descriptor)
    taker.kill()
    taker.wait()
    again = os.open(tmp_path / "lock", os.O_RDWR)
    fcntl.flock(again, fcntl.LOCK_EX)  # waits for the guard
    assert not guard.processes_of(None, mark)
    os.close(again)


def test_what_a_killed_taker_left_is_cleared_by_its_mark(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    orphan = subprocess.Popen(["sleep", "100"], env={**os.environ, guard.MARK: mark}, start_new_session=True)
    while not guard.processes_of(None, mark):  # its variables are seen a moment after it was started
        time.sleep(0.01)
    assert end_marked(mark) == 1
    assert orphan.wait() == -signal.SIGINT
    assert end_marked(mark) == 0


def test_several_programs_at_once_do_not_see_each_other(tmp_path: Path) -> None:
    endings: list[Ending] = []

    def one_run(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        endings.append(Ran(folder, f"sleep 0.{number}; exit {number}").ending)

    threads = [threading.Thread(target=one_run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ending.status or 0 for ending in endings) == list(range(6))
    assert all(ending.left_behind == 0 for ending in endings)


def test_output_that_cannot_be_written_is_said_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot write what the program prints"):
        run_program(
            ["touch", str(tmp_path / "ran")],
            variables={"PATH": "/bin:/usr/bin"},
            cwd="",
            stdout=tmp_path / "no" / "out",
            stderr=tmp_path / "err",
            limits=SOON,
        )
    assert not (tmp_path / "ran").exists()
