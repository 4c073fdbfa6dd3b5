"""A taker that is killed at any moment is followed by one that goes on: nothing is judged twice, nothing runs on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.unit.capture.made_captures import Bench, installation_of, running
from wavewright.capture.jobs.capture_run import take
from wavewright.capture.jobs.folder import WorkedOnError, is_locked, job_lock
from wavewright.capture.judgement import Verdict
from wavewright.capture.machines import guard

SAXPY: dict[str, Any] = {"kernel": "saxpy", "launches": (7, 8)}
TAKER = """
import json, sys, time
from pathlib import Path
from wavewright.base import stopping
from wavewright.capture.machines.machine import Machine
from wavewright.capture.jobs.folder import converted
from wavewright.capture.jobs.job import Job
from wavewright.capture.jobs.capture_run import take
from wavewright.capture.rocprofv3.releases import Installation
stopping.watch()
given = json.loads(Path(sys.argv[1]).read_text())
def say(event):
    print(event["event"], flush=True)
    if event["event"] == given["stop_at"]:
        time.sleep(100)
job = converted(given["job"], Job)
take(job, Path(given["folder"]), machine=Machine(variables=given["variables"]),
     installation=converted(given["installation"], Installation), say=say, resume=True)
"""


def _killed(bench: Bench, job: Any, *, stop_at: str, number: int = signal.SIGKILL, seconds: float = 0.0) -> int:
    """Take in a process of its own, and end that when an event was told, or some time after it was started."""
    from dataclasses import asdict

    installation = asdict(installation_of(bench.tree))
    given = {
        "job": job.as_json(),
        "folder": str(bench.folder / "out"),
        "variables": bench.variables,
        "installation": installation | {"options": sorted(installation["options"])},
        "stop_at": stop_at,
    }
    path = bench.folder / "errand.json"
    path.write_text(json.dumps(given))
    taker = subprocess.Popen([sys.executable, "-c", TAKER, str(path)], stdout=subprocess.PIPE, start_new_session=True)
    assert taker.stdout is not None
    for line in taker.stdout:
        if line.decode().strip() == (stop_at or "started"):
            break
    time.sleep(seconds)
    taker.send_signal(number)
    status = taker.wait()
    taker.stdout.close()
    return status


def _settled(bench: Bench) -> None:
    """The guard has ended what the killed taker left."""
    while running(bench.folder):
        time.sleep(0.05)
    assert not is_locked(bench.folder / "out")


def _check(bench: Bench) -> None:
    folder = bench.folder / "out"
    ended = list(folder.glob("attempts/*/ending.json"))
    assert [path.with_name("judgement.json").is_file() for path in ended] == [True] * len(ended)
    assert (folder / "result.json").is_file()


SLOW = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize(
    "stop_at",
    [
        pytest.param("planned", marks=SLOW),
        "started",
        "ended",
        pytest.param("judged", marks=SLOW),
        pytest.param("finished", marks=SLOW),
    ],
)
def test_a_taker_that_was_killed_at_an_event_is_followed(bench: Bench, stop_at: str) -> None:
    job = bench.job(**SAXPY)
    assert _killed(bench, job, stop_at=stop_at) == -signal.SIGKILL
    _settled(bench)
    result = bench.take(job, resume=True)
    assert result.is_good
    _check(bench)
    assert len(bench.runs) == 1  # told before a program runs, or after it has ended
    assert len(result.attempts) == 1
    assert result.attempts[0].number == (2 if stop_at == "started" else 1)


@pytest.mark.slow
def test_a_program_of_a_killed_taker_does_not_go_on(bench: Bench) -> None:
    bench.steering |= {"seconds": 60, "ignores": ["SIGINT", "SIGTERM"], "daemons": 1}
    job = bench.job(**SAXPY)
    assert _killed(bench, job, stop_at="running") == -signal.SIGKILL
    _settled(bench)
    bench.steering |= {"seconds": 0, "daemons": 0}
    (bench.folder / "stand_in.json").write_text(json.dumps(bench.steering))
    result = bench.take(job, resume=True)
    assert result.is_good
    assert bench.named("interrupted")[0]["attempt"] == 1
    _check(bench)


@pytest.mark.slow
def test_what_even_the_guard_left_is_ended_by_the_next_taker(bench: Bench) -> None:
    """The mark of the attempt is in its folder; here a process of it has survived everything."""
    job = bench.job(**SAXPY)
    _killed(bench, job, stop_at="started")
    mark = json.loads((bench.folder / "out/attempts/1/command.json").read_text())["mark"]
    orphan = subprocess.Popen(["sleep", "100"], env={**os.environ, guard.MARK: mark}, start_new_session=True)
    assert bench.take(job, resume=True).is_good
    assert orphan.wait() == -signal.SIGINT
    assert "still ran; ended now" in bench.named("note")[0]["text"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=SLOW)])
def test_a_taker_that_is_told_to_stop_leaves_a_job_that_can_be_resumed(bench: Bench, number: signal.Signals) -> None:
    bench.steering["seconds"] = 60
    job = bench.job(**SAXPY)
    assert _killed(bench, job, stop_at="running", number=number) == 128 + number
    assert not running(bench.folder)
    assert not is_locked(bench.folder / "out")
    bench.steering["seconds"] = 0
    (bench.folder / "stand_in.json").write_text(json.dumps(bench.steering))
    assert bench.take(job, resume=True).is_good
    _check(bench)


@pytest.mark.slow
def test_interrupted_attempts_count_but_one_more_is_always_made(bench: Bench) -> None:
    job = bench.job(**SAXPY, attempts=1)
    for _ in range(2):
        _killed(bench, job, stop_at="started")
        _settled(bench)
    result = bench.take(job, resume=True)
    assert result.is_good
    assert [attempt.number for attempt in result.attempts] == [3]
    _check(bench)


def test_a_retry_goes_on_where_it_was_killed(bench: Bench) -> None:
    bench.steering["needed_bytes"] = 300 << 20
    job = bench.job(**SAXPY)
    _killed(bench, job, stop_at="judged")
    result = bench.take(job, resume=True)
    assert [attempt.judgement.verdict for attempt in result.attempts] == [Verdict.TRUNCATED, Verdict.GOOD]
    assert len(bench.runs) == 2
    _check(bench)


@pytest.mark.slow
def test_a_discovery_is_not_repeated(bench: Bench) -> None:
    job = bench.job()
    _killed(bench, job, stop_at="discovered")
    assert len(bench.runs) == 1
    assert bench.take(job, resume=True).is_good
    assert len(bench.runs) == 2


def test_two_takers_at_once_do_not_meet(bench: Bench) -> None:
    job = bench.job(**SAXPY)
    how: dict[str, Any] = {"machine": bench.machine}
    problems: list[str] = []

    def say(event: dict[str, Any]) -> None:
        if event["event"] == "started":
            with pytest.raises(WorkedOnError) as caught, job_lock(bench.folder / "out", wait_seconds=0.1):
                pass
            problems.append(str(caught.value))

    take(job, bench.folder / "out", installation=installation_of(bench.tree), say=say, **how)
    assert "another process works on this capture" in problems[0]


@pytest.mark.slow
def test_killed_at_random_moments_it_still_comes_to_one_end(bench: Bench) -> None:
    import random

    bench.steering |= {"seconds": 0.3, "needed_bytes": 300 << 20}
    job = bench.job(**SAXPY)
    chance = random.Random(16)
    for _ in range(12):
        _killed(bench, job, stop_at="", seconds=chance.uniform(0, 1.5))
        if (bench.folder / "out/result.json").is_file():
            break
        _settled(bench)
    result = bench.take(job, resume=True)
    assert result.verdict in (Verdict.GOOD, Verdict.TRUNCATED)
    _check(bench)


def test_what_a_killed_taker_left_half_written_does_not_matter(bench: Bench) -> None:
    """The twins of files and of the link to the result, before they were renamed; nothing but them at first."""
    folder = bench.folder / "out"
    folder.mkdir()
    (folder / ".job.json.4711").write_text("{")
    job = bench.job(**SAXPY)
    first = bench.take(job)
    (folder / ".result.4711").symlink_to("attempts/1")
    (folder / "attempts/1/.judgement.json.4711").write_text("{")
    assert bench.take(job, resume=True) == first
    assert len(bench.runs) == 1
