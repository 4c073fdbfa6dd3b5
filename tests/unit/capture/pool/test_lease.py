"""Who works on a job: on one machine, on many, without locks, and when clocks or files lie."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from wavewright.capture.machines.processes import this_process
from wavewright.capture.pool import lease
from wavewright.capture.pool.lease import FILE, read_record, stop_worker, take_lease, worker_of

ELSEWHERE = "12.345.0a0a-1b.4026531836"  #: A process of another machine.


def nothing() -> None:
    pytest.fail("told to stop")


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("BEAT", 0.02), ("_LOOK", 0.02), ("_SETTLE", 0.05)):
        monkeypatch.setattr(lease, f"{name}_SECONDS", seconds)


def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, "none")

    monkeypatch.setattr(fcntl, "flock", refuse)


def test_one_at_a_time(tmp_path: Path) -> None:
    first = take_lease(tmp_path, "here", on_end=nothing)
    assert first is not None
    assert take_lease(tmp_path, "here", on_end=nothing) is None
    first.tell("5")
    record = worker_of(tmp_path)
    assert record is not None
    assert (record.host, record.gpu, record.name) == ("here", "5", this_process())
    first.release()
    assert worker_of(tmp_path) is None
    second = take_lease(tmp_path, "here", on_end=nothing)
    assert second is not None
    second.release()


def test_killed_process_of_this_machine_is_followed_at_once(tmp_path: Path) -> None:
    words = (
        "import sys, time\nfrom pathlib import Path\nfrom wavewright.capture.pool.lease import take_lease\n"
        "take_lease(Path(sys.argv[1]), 'here', on_end=print)\nprint('x', flush=True)\ntime.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", words, tmp_path], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert worker_of(tmp_path) is not None
        assert take_lease(tmp_path, "here", on_end=nothing) is None
        process.kill()
        process.wait()
    assert worker_of(tmp_path) is None
    after = take_lease(tmp_path, "here", on_end=nothing)
    assert after is not None
    after.release()


@pytest.mark.parametrize("has_locks", [True, False])
def test_other_machine_that_is_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_locks: bool) -> None:
    """Its flock is not seen here; its record changes."""
    if not has_locks:
        without_locks(monkeypatch)
    over = threading.Event()

    def beat() -> None:
        number = 0
        while not over.wait(0.01):
            number += 1
            twin = tmp_path / "twin"
            twin.write_text(json.dumps({"process": ELSEWHERE, "host": "other", "beat": number}))
            twin.replace(tmp_path / FILE)

    thread = threading.Thread(target=beat)
    thread.start()
    while not (tmp_path / FILE).exists():
        time.sleep(0.01)
    try:
        assert take_lease(tmp_path, "here", on_end=nothing, stale_seconds=600) is None
        record = worker_of(tmp_path)
        assert record is not None
        assert record.host == "other"
        stop_worker(tmp_path)
        assert (tmp_path / lease.STOP_FILE).exists()
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("has_locks", [True, False])
def test_other_machine_that_is_dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_locks: bool) -> None:
    """Its record does not change for a while, whatever the clock on the wall and the times of files say."""
    if not has_locks:
        without_locks(monkeypatch)
    path = tmp_path / FILE
    path.write_text(json.dumps({"process": ELSEWHERE, "host": "other", "beat": 3}))
    os.utime(path, (4e9, 4e9))
    monkeypatch.setattr(time, "time", lambda: -1e9)
    begin = time.monotonic()
    after = take_lease(tmp_path, "here", on_end=nothing, stale_seconds=0.2)
    assert after is not None
    assert time.monotonic() - begin >= 0.2
    assert read_record(path).name == this_process()
    after.release()


def test_taken_over(tmp_path: Path) -> None:
    """A machine that did not answer for long finds another one at work, and must stop."""
    over = threading.Event()
    first = take_lease(tmp_path, "here", on_end=over.set)
    assert first is not None
    twin = tmp_path / "twin"
    twin.write_text(json.dumps({"process": ELSEWHERE, "host": "other", "beat": 1}))
    twin.replace(tmp_path / FILE)
    assert over.wait(600)
    first.release()
    assert read_record(tmp_path / FILE).process == ELSEWHERE  # the record of the other one stays


def test_told_to_stop_by_a_file(tmp_path: Path) -> None:
    (tmp_path / lease.STOP_FILE).touch()  # left from before: it does not count
    over = threading.Event()
    first = take_lease(tmp_path, "here", on_end=over.set)
    assert first is not None
    assert not (tmp_path / lease.STOP_FILE).exists()
    (tmp_path / lease.STOP_FILE).touch()
    assert over.wait(600)
    first.release()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"process": 3}', b"\xff" * 5000, b'{"process": "x.y"}'])
def test_damaged_record(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    assert worker_of(tmp_path) is None
    after = take_lease(tmp_path, "here", on_end=nothing)
    assert after is not None
    after.release()


def test_watched_records_of_other_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool goes on with the job of a machine that was switched off, once its record has not changed for long."""
    watch = lease.Watch(stale_seconds=60)
    path = tmp_path / FILE
    now = 1000.0
    with monkeypatch.context() as patch:
        patch.setattr(lease, "time", SimpleNamespace(monotonic=lambda: now))
        for beat in range(3):
            path.write_text(json.dumps({"process": ELSEWHERE, "host": "other", "beat": beat}))
            assert watch.worker(tmp_path) is not None
            now += 59
            assert watch.worker(tmp_path) is not None
        now += 1
        assert watch.worker(tmp_path) is None
    os.utime(path, (1, 1))
    assert not lease.is_fresh(tmp_path)
    os.utime(path, (4e9, 4e9))
    assert lease.is_fresh(tmp_path)
    monkeypatch.undo()
    after = take_lease(tmp_path, "here", on_end=nothing, stale_seconds=0.1)
    assert after is not None
    assert watch.worker(tmp_path) is not None
    assert lease.is_fresh(tmp_path)
    after.release()
    assert watch.worker(tmp_path) is None
