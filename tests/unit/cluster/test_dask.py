"""Dask: workers that do not see a file, that die, and clusters that end: said, and not waited for for ever."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from synth import Workload, write_rocpd_ranks
from wavewright.cluster import dask
from wavewright.cluster.executor import NotSeenError
from wavewright.cluster.gather import gather
from wavewright.errors import UsageError, WavewrightError
from wavewright.model.run import Run
from wavewright.readers.run.inputs import RunInput, find_runs

distributed = pytest.importorskip("distributed")

Start = Callable[..., subprocess.Popen[bytes]]
ITEMS = 30


CLUSTER = """
import sys, distributed
with distributed.LocalCluster(
    n_workers=int(sys.argv[1]),
    threads_per_worker=1,
    processes=False,
    dashboard_address=None,
    host="127.0.0.1",
    protocol="tcp://",
) as cluster:
    print(cluster.scheduler_address, *sorted(worker.address for worker in cluster.workers.values()), flush=True)
    sys.stdin.read()
"""


@contextmanager
def running(worker_count: int) -> Iterator[list[str]]:
    """A cluster in one process that is not this one: the addresses of its scheduler and its workers."""
    root = str(Path(__file__).parents[3])  # where workers find the tasks of this module
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER, str(worker_count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    ) as process:
        try:
            yield process.stdout.readline().split() if process.stdout else []
        finally:
            process.kill()


@pytest.fixture(scope="module")
def cluster() -> Iterator[list[str]]:
    with running(3) as addresses:
        assert len(addresses) == 4
        yield addresses


@pytest.fixture
def scheduler() -> Iterator[str]:
    """The address of a scheduler without workers."""
    with running(0) as (address,):
        yield address


def doubled_where_seen(seen_by: dict[int, set[str]], number: int) -> int:
    """Twice the number, on workers that see it; all see those that are not named."""
    if distributed.get_worker().address not in seen_by.get(number, {distributed.get_worker().address}):
        raise NotSeenError(str(number))
    return 2 * number


def unknown_there(number: int) -> int:
    return number


def kernel_count(run: Run) -> int:
    return sum(piece.height for piece in run.chunks("dispatches", ["start_ns"]))


@pytest.mark.slow
def test_a_worker_that_sees_nothing_takes_nothing_from_the_others(cluster: list[str]) -> None:
    finished: list[int] = []
    seen_by = {number: set(cluster[2:]) for number in range(ITEMS)}
    task = partial(doubled_where_seen, seen_by)
    outcomes = dask.DaskExecutor(cluster[0]).run(task, range(ITEMS), lambda: finished.append(1))
    assert [outcome.value for outcome in outcomes] == list(range(0, 2 * ITEMS, 2))
    assert len(finished) == ITEMS


def test_each_file_is_seen_by_one_worker_only(cluster: list[str]) -> None:
    seen_by = {number: {cluster[1 + number % 3]} for number in range(ITEMS)}
    task = partial(doubled_where_seen, seen_by)
    outcomes = dask.DaskExecutor(cluster[0]).run(task, range(ITEMS), lambda: None)
    assert [outcome.value for outcome in outcomes] == list(range(0, 2 * ITEMS, 2))


@pytest.mark.slow
def test_what_nobody_sees_is_lost_alone(cluster: list[str]) -> None:
    finished: list[int] = []
    seen_by: dict[int, set[str]] = {3: set(), 4: set()}
    task = partial(doubled_where_seen, seen_by)
    outcomes = dask.DaskExecutor(cluster[0]).run(task, range(ITEMS), lambda: finished.append(1))
    assert [number for number, outcome in enumerate(outcomes) if outcome.lost] == [3, 4]
    assert "no worker of the cluster sees it" in outcomes[3].lost
    assert len(finished) == ITEMS


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[RunInput]:
    folder = tmp_path_factory.mktemp("ranks")
    return find_runs(list(write_rocpd_ranks(folder, Workload(dispatches=90, ranks=3)).paths))


def test_paths_are_sent_whole(cluster: list[str], ranks: list[RunInput], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ranks[0].path.parent)
    relative = [replace(found, path=Path(found.path.name)) for found in ranks]
    gathered = gather(kernel_count, relative, executor=dask.DaskExecutor(cluster[0]))
    assert gathered.values == [30, 30, 30]
    assert gathered.inputs == ranks


@pytest.mark.slow
def test_files_that_workers_do_not_see(cluster: list[str], ranks: list[RunInput], tmp_path: Path) -> None:
    executor = dask.DaskExecutor(cluster[0])
    unseen = [replace(ranks[0], path=tmp_path / f"{number}.db") for number in range(2)]
    gathered = gather(kernel_count, [unseen[0], *ranks], executor=executor)
    assert gathered.values == [30, 30, 30]
    assert gathered.losses.select("path", "kind").rows() == [(str(unseen[0].path), "lost_worker")]
    with pytest.raises(WavewrightError, match="2 of 3 inputs were not read") as raised:
        gather(kernel_count, [*unseen, ranks[0]], executor=executor)
    assert (raised.value.exit_code, raised.value.kept) == (3, "1 inputs")
    assert gather(kernel_count, [*unseen, ranks[0]], executor=executor, most_missing=0.7).values == [30]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts parts of a cluster as processes."""
    running: list[subprocess.Popen[bytes]] = []

    def part(program: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{program}", *options]
        with (tmp_path / "log").open("ab") as log:
            running.append(subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log))
        return running[-1]

    yield part
    for process in running:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_cluster_without_workers(scheduler: str) -> None:
    said: list[str] = []
    executor = dask.DaskExecutor(scheduler, wait_seconds=0.5, say=said.append)
    with pytest.raises(UsageError, match="has no workers"):
        executor.run(time.sleep, [0.1], lambda: None)
    assert said == ["the Dask cluster has no workers; waiting for some, 0.5 s at most"]


@pytest.mark.slow
def test_the_last_worker_dies(scheduler: str, start: Start) -> None:
    """It is said, and ends the waiting."""
    worker = start("dask_worker", scheduler, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    with distributed.Client(scheduler, timeout=120) as client:
        client.wait_for_workers(1, timeout=120)
    said: list[str] = []
    executor = dask.DaskExecutor(scheduler, wait_seconds=1, say=said.append)
    outcomes = executor.run(time.sleep, [0.0, 600.0], worker.kill)
    assert not outcomes[0].lost
    assert "no workers" in outcomes[1].lost
    assert len(said) == 1
    assert "no longer has workers" in said[0]


@pytest.fixture
def processes(start: Start, tmp_path: Path) -> tuple[subprocess.Popen[bytes], str]:
    """A scheduler and a worker that know nothing of this module: the process of the first, and its address."""
    file = str(tmp_path / "scheduler.json")
    scheduler = start("dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file)
    start("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--scheduler-file", file)
    with distributed.Client(scheduler_file=file, timeout=120) as client:
        client.wait_for_workers(1, timeout=120)
        return scheduler, client.scheduler.address


@pytest.mark.slow
def test_the_scheduler_dies(processes: tuple[subprocess.Popen[bytes], str], capfd: pytest.CaptureFixture[str]) -> None:
    scheduler, address = processes
    outcomes = dask.DaskExecutor(address, wait_seconds=1).run(time.sleep, [0.0, 600.0], scheduler.kill)
    assert not outcomes[0].lost
    assert outcomes[1].lost
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.slow
def test_a_cluster_that_does_not_know_us(processes: tuple[subprocess.Popen[bytes], str]) -> None:
    """As where wavewright is not installed."""
    with pytest.raises(UsageError, match="cannot load wavewright"):
        dask.DaskExecutor(processes[1], wait_seconds=60).run(unknown_there, [1], lambda: None)
