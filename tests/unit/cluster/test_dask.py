"""Dask: clusters without workers, and clusters that end, are said and not waited for for ever."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wavescope.cluster import dask
from wavescope.errors import UsageError

distributed = pytest.importorskip("distributed")

Start = Callable[..., subprocess.Popen[bytes]]


def unknown_there(number: int) -> int:
    return number


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts parts of a cluster that meet at a file."""
    running: list[subprocess.Popen[bytes]] = []

    def part(program: str, *options: str) -> subprocess.Popen[bytes]:
        file = str(tmp_path / "scheduler.json")
        command = [sys.executable, "-m", f"distributed.cli.{program}", "--scheduler-file", file, *options]
        with (tmp_path / "log").open("ab") as log:
            running.append(subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log))
        return running[-1]

    yield part
    for process in running:
        process.kill()
        process.wait()


def address(tmp_path: Path) -> str:
    with distributed.Client(scheduler_file=str(tmp_path / "scheduler.json"), timeout=60) as client:
        found: str = client.scheduler.address
        return found


def test_a_cluster_without_workers(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start("dask_scheduler", "--port", "0", "--no-dashboard")
    place = address(tmp_path)
    monkeypatch.setattr(dask, "_CONNECT_SECONDS", 3)
    with pytest.raises(UsageError, match="has no workers"):
        dask.DaskExecutor(place).run(time.sleep, [0.1], lambda: None)


def test_a_cluster_that_does_not_know_us(start: Start, tmp_path: Path) -> None:
    """As with workers that have no wavescope: they know neither the module of this test."""
    start("dask_scheduler", "--port", "0", "--no-dashboard")
    start("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    with pytest.raises(UsageError, match="cannot load wavescope"):
        dask.DaskExecutor(address(tmp_path)).run(unknown_there, [1], lambda: None)


@pytest.mark.parametrize("dies", ["worker", "scheduler"])
def test_a_cluster_that_ends_in_the_middle(
    dies: str, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = {"scheduler": start("dask_scheduler", "--port", "0", "--no-dashboard")}
    parts["worker"] = start("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    monkeypatch.setattr(dask, "_PATIENCE_SECONDS", 3)
    monkeypatch.setattr(dask, "_ASK_SECONDS", 0.5)
    finished: list[int] = []

    def done() -> None:
        finished.append(1)
        threading.Timer(0.2, parts[dies].kill).start()

    outcomes = dask.DaskExecutor(address(tmp_path)).run(time.sleep, [0.1, 300.0], done)
    assert not outcomes[0].lost
    assert outcomes[1].lost
