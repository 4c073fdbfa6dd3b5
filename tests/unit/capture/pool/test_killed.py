"""Pools that are killed at any moment and resumed: every job is judged once, and no GPU is given twice."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.unit.capture.pool.stand_in import StandIn
from wavewright import capture
from wavewright.capture.gpus.locks import lock_path, try_lock
from wavewright.capture.gpus.topology import gpus_of
from wavewright.capture.machines.machine import Machine
from wavewright.capture.machines.runner import Limits
from wavewright.capture.pool.folder import State, status_of
from wavewright.errors import UsageError

#: What is killed: parts of command lines; None = everything.
POOL, CHILD, GUARD = "capture pool", "pool.child", "guard.py"
WAYS: tuple[tuple[str, ...] | None, ...] = (
    (POOL,),
    (CHILD,),
    (POOL, CHILD),
    (POOL, CHILD, GUARD),  # their programs live on, and nobody watches them
    None,
)


def run_with_kills(machine: StandIn, job_count: int, kills: int, rng: random.Random, *options: str) -> int:
    """Run the pool to its end, killing parts of it on the way; how often it was started.

    The moments are spread over the work by what the programs have written down, whatever the speed of the machine.
    """
    pool = machine.start(*options)
    starts = 1
    for number in range(kills):
        _wait_for_use(machine, rng.randint(0, 3 * job_count // kills), pool)
        time.sleep(rng.uniform(0.0, 0.5))
        way = WAYS[number % len(WAYS)]
        if way == (CHILD,):
            children = [pid for pid, line in machine.processes().items() if CHILD in line]
            if children:
                with suppress(OSError):
                    os.kill(rng.choice(children), signal.SIGKILL)
            continue
        machine.kill(*(way or ()))
        pool.wait()
        pool = machine.start(*options)
        starts += 1
    assert pool.wait() in (0, 1), (machine.root / "output").read_text()
    while status_of(machine.folder).count(State.FINISHED) < len(status_of(machine.folder).jobs):
        # A job whose process was killed three times is left for the next pool.
        assert starts < 2 * kills + 5, (machine.root / "output").read_text()
        starts += 1
        machine.start(*options).wait()
    return starts


def _wait_for_use(machine: StandIn, count: int, pool: subprocess.Popen[bytes]) -> None:
    """Until programs have started or ended so many times more, or the pool has ended."""
    target = len(machine.uses()) + count
    while len(machine.uses()) < target and pool.poll() is None:
        time.sleep(0.05)


def check(machine: StandIn, count: int) -> None:
    assert machine.judged_counts() == {f"j{number}": (1, 1) for number in range(count)}
    assert machine.overlaps() == []
    assert machine.wait_for_none() == {}
    status = status_of(machine.folder)
    assert status.exit_code == 0, status.verdicts
    ends = [(word, job) for word, job, _, _ in machine.uses() if word == "end"]
    assert {job for _, job in ends} == {f"j{number}" for number in range(count)}


@pytest.mark.slow
def test_killed_and_resumed(tmp_path: Path) -> None:
    machine = StandIn(tmp_path / "machine", gpu_count=4)
    machine.write_jobs(10, 0.3)
    run_with_kills(machine, 10, 5, random.Random(7), "--gpus", "0-3")
    check(machine, 10)


@pytest.mark.slow
def test_200_jobs_killed_at_50_moments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    machine = StandIn(tmp_path / "machine", gpu_count=8)
    machine.write_jobs(200, 0.3)
    begin = time.monotonic()
    starts = run_with_kills(machine, 200, 50, random.Random(3), "--gpus", "0-7")
    check(machine, 200)
    uses = machine.uses()
    begun = sum(word == "start" for word, *_ in uses)
    with capsys.disabled():
        print(f"\n200 jobs, 50 kills, {starts} pools, {begun} programs, {time.monotonic() - begin:.0f} s")
    assert begun > 200  # some were killed, and run again
    assert {gpu for _, _, gpu, _ in uses} == {str(number) for number in range(8)}


def started(machine: StandIn, count: int) -> None:
    """Wait until some programs run."""
    while sum(word == "start" for word, *_ in machine.uses()) < count:
        time.sleep(0.05)


@pytest.mark.slow
def test_resumed_on_another_gpu(tmp_path: Path) -> None:
    """An interrupted attempt had GPU 0; the next one runs on the GPU that is reserved for it."""
    machine = StandIn(tmp_path / "machine", gpu_count=2)
    machine.write_jobs(1, 1)
    pool = machine.start("--gpus", "0")
    started(machine, 1)
    machine.kill(POOL, CHILD, GUARD)
    pool.wait()
    assert len(machine.processes()) > 0  # the program lives on, and still has the lock of its GPU
    assert machine.start("--gpus", "1").wait() == 0, (machine.root / "output").read_text()
    assert [use[:3] for use in machine.uses() if use[2] == "1"] == [("start", "j0", "1"), ("end", "j0", "1")]
    check(machine, 1)


@pytest.mark.slow
def test_ctrl_c_stops_all_groups(tmp_path: Path) -> None:
    machine = StandIn(tmp_path / "machine", gpu_count=2)
    machine.write_jobs(4, 30)
    pool = machine.start()
    started(machine, 2)
    pool.send_signal(signal.SIGINT)
    assert pool.wait() == 130, (machine.root / "output").read_text()
    assert machine.wait_for_none() == {}
    assert [each.state for each in status_of(machine.folder).jobs].count(State.INTERRUPTED) == 2
    machine.write_jobs(4, 30)
    again = subprocess.run(
        machine.words("--dry-run"), env=machine.variables, capture_output=True, check=True, text=True
    )
    assert again.stdout.count("planned") == 4


def test_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the documentation: plans, some GPUs, run and resumed; events as they come."""
    machine = StandIn(tmp_path / "machine", gpu_count=3)
    for name, value in machine.variables.items():
        monkeypatch.setenv(name, value)
    events: list[str] = []
    plans = [capture.discover([str(machine.root / "program"), "j", str(seconds)]) for seconds in (0.1, 0.2)]
    pool = capture.Pool(
        [replace(plans[0].job, limits=Limits(seconds=60)), plans[1]],
        gpus=[1, 2],
        rocprofv3=str(machine.root / "rocprofv3"),
        tell=lambda event, facts: events.append(event),
    )
    status = pool.run(machine.folder)
    assert status.verdicts == {"good": 2}
    assert [job.name for job in status.jobs] == ["program", "program-2"]
    assert sorted(events) == ["finished", "finished", "pool", "started", "started"]
    assert {use[2] for use in machine.uses()} <= {"1", "2"}
    with pytest.raises(UsageError, match="--resume"):
        pool.run(machine.folder)
    assert pool.run(machine.folder, resume=True).verdicts == {"good": 2}
    assert len(machine.uses()) == 4


@pytest.mark.slow
def test_full_disk_and_missing_things(tmp_path: Path) -> None:
    """What concerns all jobs ends the pool with one sentence; what concerns one job leaves the others alone."""
    machine = StandIn(tmp_path / "machine", gpu_count=2)
    text = machine.write_jobs(2, 0.1).read_text()
    (machine.root / "JOBS.toml").write_text(text.replace("disk = 1", 'disk = "900 GB"\nexpected_seconds = 1'))
    if shutil.disk_usage(machine.root).free < 900e9:
        assert machine.start().wait() == 74
        assert re.search(r"are free, and 'j\d' may need 900.00 GB", (machine.root / "output").read_text())
    (machine.root / "JOBS.toml").write_text(text)
    (machine.root / "rocprofv3").chmod(0o644)
    assert machine.start().wait() == 5
    (machine.root / "rocprofv3").chmod(0o755)
    broken = '[[job]]\nname = "broken"\nprogram = ["/nothing/here"]\n'
    (machine.root / "JOBS.toml").write_text(text + broken)
    assert machine.start().wait() == 1
    status = status_of(machine.folder)
    assert [job.state for job in status.jobs] == [State.FINISHED, State.FINISHED, State.ERROR]
    assert "does not exist" in status.jobs[2].reason
    assert machine.wait_for_none() == {}


@pytest.mark.slow
def test_gpus_that_others_use(tmp_path: Path) -> None:
    machine = StandIn(tmp_path / "machine", gpu_count=1)
    machine.write_jobs(1, 0.1)
    host = Machine().identity.hostname
    device = gpus_of(Machine(variables=machine.variables))[0].device
    lock = try_lock(lock_path(machine.root / "locks", host, device), command="somebody else")
    assert lock is not None
    words = [word for word in machine.words() if word not in ("--wait", "1000")]
    done = subprocess.run(words, env=machine.variables, capture_output=True, text=True, check=False)
    assert done.returncode == 75, done.stderr
    assert "GPU 0 is locked by process" in done.stderr
    assert "somebody else" in done.stderr
    pool = machine.start()
    while "GPU 0 is locked by process" not in (machine.root / "output").read_text():
        time.sleep(0.05)
    lock.release()
    assert pool.wait() == 0
    check(machine, 1)
