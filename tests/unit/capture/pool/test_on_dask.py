"""Pools on a Dask cluster: workers with a GPU each, which die; jobs are judged once all the same."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.unit.capture.pool.stand_in import StandIn
from tests.unit.capture.pool.test_killed import check, started
from wavewright.capture.pool.child import ChildOptions
from wavewright.capture.pool.folder import State, prepare, status_of
from wavewright.capture.pool.jobs_file import read_jobs_file
from wavewright.capture.pool.on_dask import run_on_dask
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

    def start(program: str, *options: str, before: Sequence[str] = (), **variables: str) -> subprocess.Popen[bytes]:
        file = str(machine.root / "scheduler.json")
        words = [
            *before,
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


def worker(start: Start, gpu: int, before: Sequence[str] = ()) -> subprocess.Popen[bytes]:
    options = ("--nthreads", "1", "--no-nanny", "--resources", "GPU=1", "--host", "127.0.0.1")
    return start("dask_worker", *options, before=before, ROCR_VISIBLE_DEVICES=str(gpu))


def ended(machine: StandIn, pool: subprocess.Popen[bytes]) -> str:
    """What a pool that lost its cluster says until it ends, which takes a bounded time."""
    try:
        assert pool.wait(300) == 1
    finally:
        pool.kill()
    output = (machine.root / "output").read_text()
    assert "Traceback" not in output and "Error" not in output
    return output


def first_of_four(machine: StandIn, scheduler: str) -> subprocess.Popen[bytes]:
    """A pool of four jobs, of which one is finished and one runs."""
    machine.write_jobs(4, 2)
    pool = machine.start("--scheduler", scheduler)
    while status_of_jobs(machine) != (1, 1):
        assert pool.poll() is None
        time.sleep(0.05)
    return pool


def status_of_jobs(machine: StandIn) -> tuple[int, int]:
    """How many programs have ended, and how many run."""
    words = [word for word, *_ in machine.uses()]
    return words.count("end"), words.count("start") - words.count("end")


def check_resumed(machine: StandIn, scheduler: str) -> None:
    """The pool that goes on finishes all, and what had a verdict is not judged again."""
    assert machine.start("--scheduler", scheduler).wait(300) == 0, (machine.root / "output").read_text()
    machine.kill("distributed.cli")
    check(machine, 4)


@pytest.mark.slow
def test_worker_that_is_killed(machine: StandIn, start: Start, scheduler: str) -> None:
    """Its process goes on with the job; the worker that gets the job then waits for it, and does not judge again."""
    jobs = read_jobs_file(machine.write_jobs(3, 0.5))
    prepare(machine.folder, jobs, is_resumed=False)
    start("dask_worker", "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1")  # it has no GPU, and gets no job
    options = ChildOptions(folder=str(machine.folder))
    with pytest.raises(UsageError, match=r"no workers with GPU.*--resources GPU=1"):
        run_on_dask(machine.folder, jobs, options, scheduler=scheduler, wait_seconds=0.5)
    workers = [worker(start, gpu) for gpu in range(2)]
    pool = machine.start("--scheduler", scheduler)
    started(machine, 2)
    workers[0].send_signal(signal.SIGKILL)
    assert pool.wait() == 0, (machine.root / "output").read_text()
    machine.kill("distributed.cli")
    check(machine, 3)


@pytest.mark.slow  # a cluster may be without workers for a minute
def test_last_worker_is_killed(machine: StandIn, start: Start, scheduler: str) -> None:
    """The job that it gave to a process is finished all the same; the others are named, and a new pool goes on."""
    only = worker(start, 0)
    pool = first_of_four(machine, scheduler)
    only.kill()
    output = ended(machine, pool)
    assert "the Dask cluster no longer has workers" in output
    assert "j2, j3: the cluster had no workers for 60 s; --resume goes on" in output
    assert "4 jobs: 2 good, 2 waiting" in output
    worker(start, 1)
    check_resumed(machine, scheduler)


@pytest.mark.slow
def test_scheduler_is_killed(machine: StandIn, start: Start, scheduler: str) -> None:
    """Nobody waits for it, and no job counts as done that is not."""
    worker(start, 0)
    pool = first_of_four(machine, scheduler)
    machine.kill("dask_scheduler")
    output = ended(machine, pool)
    assert "j1, j2, j3: the cluster ended: its scheduler no longer answers; --resume goes on" in output
    assert "1 of 4 jobs" in output and "4 of 4 jobs" not in output
    assert "4 jobs: 1 good, 1 running, 2 waiting" in output


@pytest.mark.slow
def test_scheduler_is_killed_and_comes_back(machine: StandIn, start: Start, scheduler: str) -> None:
    worker(start, 0)
    pool = first_of_four(machine, scheduler)
    machine.kill("dask_scheduler")
    ended(machine, pool)
    machine.kill("dask_worker")
    (machine.root / "scheduler.json").unlink()
    port = scheduler.rpartition(":")[2]
    start("dask_scheduler", "--port", port, "--host", "127.0.0.1")
    worker(start, 1)
    check_resumed(machine, scheduler)


#: How a worker is started that sees something else at the folder $0 than we do.
HIDDEN = 'mount -t tmpfs none "$0" && exec "$@"'
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


def in_its_own_world(script: str, folder: Path) -> list[str]:
    words = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, str(folder)]
    if not shutil.which("unshare") or subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no name spaces of mounts here")
    return words


@pytest.mark.slow
@pytest.mark.parametrize("script", [HIDDEN, READ_ONLY], ids=["hidden", "read-only"])
def test_workers_that_do_not_see_the_folder(machine: StandIn, start: Start, scheduler: str, script: str) -> None:
    """Alone they get nothing done, and it is said why; beside one that sees the folder nobody notices them."""
    machine.write_jobs(4, 0.3)
    machine.folder.mkdir()
    before = in_its_own_world(script, machine.folder)
    for gpu in range(2):
        worker(start, gpu, before)
    output = ended(machine, machine.start("--scheduler", scheduler))
    what = "no worker of the cluster sees it; all should, at the same path; --resume goes on"
    assert f"j0, j1, j2, j3: {what}" in output
    assert "4 jobs: 4 waiting" in output
    worker(start, 2)
    with distributed.Client(scheduler, timeout=600) as client:
        client.wait_for_workers(3, timeout=600)
    check_resumed(machine, scheduler)
    assert {gpu for _, _, gpu, _ in machine.uses()} == {"2"}


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
