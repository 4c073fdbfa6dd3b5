"""Pools on a Dask cluster: workers with a GPU each, which die; jobs are judged once all the same."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.unit.capture.pool.stand_in import StandIn
from tests.unit.capture.pool.test_killed import check, started
from wavewright.capture.pool.child import Errand
from wavewright.capture.pool.jobs_file import read_jobs_file
from wavewright.capture.pool.on_dask import run_on_dask
from wavewright.capture.pool.schedule import prepare
from wavewright.capture.pool.status import State, status_of
from wavewright.errors import UsageError

distributed = pytest.importorskip("distributed")
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def machine(tmp_path: Path) -> StandIn:
    return StandIn(tmp_path / "machine", gpu_count=3)


@pytest.fixture
def start(machine: StandIn) -> Iterator[Start]:
    """Starts programs of Dask; what is left of them is killed at the end."""
    running: list[subprocess.Popen[bytes]] = []

    def start(program: str, *options: str, **variables: str) -> subprocess.Popen[bytes]:
        file = str(machine.root / "scheduler.json")
        words = [
            sys.executable,
            "-m",
            f"distributed.cli.{program}",
            "--scheduler-file",
            file,
            "--no-dashboard",
            *options,
        ]
        environment = {**machine.variables, **variables}
        with (machine.root / "dask").open("ab") as log:
            running.append(subprocess.Popen(words, env=environment, stdout=log, stderr=log, cwd=machine.root))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture
def scheduler(start: Start, machine: StandIn) -> str:
    start("dask_scheduler", "--port", "0", "--host", "127.0.0.1")
    file = machine.root / "scheduler.json"
    while not file.exists():
        time.sleep(0.05)
    with distributed.Client(scheduler_file=str(file), timeout=600) as client:
        return str(client.scheduler.address)


def worker(start: Start, gpu: int) -> subprocess.Popen[bytes]:
    options = ("--nthreads", "1", "--no-nanny", "--resources", "GPU=1", "--host", "127.0.0.1")
    return start("dask_worker", *options, ROCR_VISIBLE_DEVICES=str(gpu))


def test_worker_that_is_killed(machine: StandIn, start: Start, scheduler: str) -> None:
    """Its process goes on with the job; the worker that gets the job then waits for it, and does not judge again."""
    jobs = read_jobs_file(machine.write_jobs(3, 0.5))
    prepare(machine.folder, jobs, is_resumed=False)
    start("dask_worker", "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1")  # it has no GPU, and gets no job
    errand = Errand(folder=str(machine.folder), job="")
    with pytest.raises(UsageError, match=r"no workers with GPU.*--resources GPU=1"):
        run_on_dask(machine.folder, jobs, errand, scheduler=scheduler, wait_seconds=0.5)
    workers = [worker(start, gpu) for gpu in range(2)]
    pool = machine.start("--scheduler", scheduler)
    started(machine, 2)
    workers[0].send_signal(signal.SIGKILL)
    assert pool.wait() == 0, (machine.root / "output").read_text()
    machine.kill("distributed.cli")
    check(machine, 3)


@pytest.mark.slow
def test_workers_and_children_that_are_killed(machine: StandIn, start: Start, scheduler: str) -> None:
    """40 jobs; workers and processes of jobs are killed by turns, and new workers come."""
    machine.write_jobs(40, 0.3)
    workers = {gpu: worker(start, gpu) for gpu in range(3)}
    pool = machine.start("--scheduler", scheduler)
    started(machine, 3)
    for number in range(9):
        time.sleep(0.9)
        if number % 3 == 2:
            machine.kill("pool.child")
        else:
            gpu = number % 3
            workers[gpu].kill()
            workers[gpu].wait()
            workers[gpu] = worker(start, gpu)
    pool.wait()
    while status_of(machine.folder).count(State.FINISHED) < 40:  # jobs that were killed too often are left for the next
        machine.start("--scheduler", scheduler).wait()
    machine.kill("distributed.cli")
    check(machine, 40)


@pytest.mark.slow
def test_cluster_that_the_pool_starts(machine: StandIn) -> None:
    machine.write_jobs(12, 0.2)
    assert machine.start("--dask").wait() == 0, (machine.root / "output").read_text()
    check(machine, 12)


@pytest.mark.slow
def test_ctrl_c_on_dask(machine: StandIn, start: Start, scheduler: str) -> None:
    """The processes of the workers are stopped too."""
    machine.write_jobs(4, 60)
    for gpu in range(2):
        worker(start, gpu)
    pool = machine.start("--scheduler", scheduler)
    started(machine, 2)
    pool.send_signal(signal.SIGINT)
    assert pool.wait() == 130
    while any("program" in line for line in machine.processes().values()):
        time.sleep(0.1)
    machine.kill("distributed.cli")
    assert machine.wait_for_none() == {}
    assert machine.overlaps() == []
