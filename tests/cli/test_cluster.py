"""One answer from 64 databases, the same bytes whoever reads them, also when a worker dies in the middle."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from synth import SyntheticRun, Workload, write_rocpd_ranks
from tests.cli.conftest import Run
from tests.kit.sampling import every_third
from wavewright.cli.kit import run as _run
from wavewright.readers.files.kinds import Kind
from wavewright.readers.run.inputs import RunInput

distributed = pytest.importorskip("distributed")

RANKS = 16
FORMS = {"json": ["--json"], "text": ["--by", "process", "--top", "100"]}
EVERY_FORM = every_third(FORMS)


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> SyntheticRun:
    folder = tmp_path_factory.mktemp("ranks")
    return write_rocpd_ranks(folder, Workload(dispatches=60 * RANKS, ranks=RANKS, nodes=2, gpus=8))


@pytest.fixture(scope="module")
def expected(ranks: SyntheticRun, run: Run) -> dict[str, str]:
    """What one process answers."""
    return {name: answer(run, ranks, *options, "--jobs", 1) for name, options in FORMS.items()}


class Cluster:
    """A scheduler and two workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes = {"scheduler": self.start("dask_scheduler", "--port", "0", "--no-dashboard")}
        for name in ("first", "second"):
            self.processes[name] = self.start("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")
        self.client = distributed.Client(scheduler_file=str(self.file), timeout=600)
        self.client.wait_for_workers(2)
        self.address: str = self.client.scheduler.address

    def start(self, program: str, *options: str, before: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """Start a part of the cluster, with a command that starts it where one is given."""
        command = [
            *before,
            sys.executable,
            "-m",
            f"distributed.cli.{program}",
            "--scheduler-file",
            str(self.file),
            *options,
        ]
        with (self.folder / f"{program}.log").open("ab") as log:
            return subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)

    def task_states(self) -> list[str]:
        """The states of the tasks that the scheduler knows."""

        def states(dask_scheduler: Any = None) -> list[str]:
            return [task.state for task in dask_scheduler.tasks.values()]

        found: list[str] = self.client.run_on_scheduler(states)
        return found

    def wait_for_worker(self, name: str) -> None:
        """Until a worker of that name has joined."""
        while all(worker["name"] != name for worker in self.client.scheduler_info(n_workers=-1)["workers"].values()):
            time.sleep(0.05)

    def close(self) -> None:
        self.client.close()
        for process in self.processes.values():
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    started = Cluster(tmp_path)
    yield started
    started.close()


def answer(program: Run, ranks: SyntheticRun, *options: object) -> str:
    done = program("summary", ranks.paths[0].parent, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("form", EVERY_FORM)
def test_two_processes(form: str, ranks: SyntheticRun, expected: dict[str, str], program: Run) -> None:
    assert answer(program, ranks, *FORMS[form], "--jobs", 2) == expected[form]


@pytest.mark.slow
def test_the_answer_is_true(ranks: SyntheticRun, expected: dict[str, str]) -> None:
    told = json.loads(expected["json"])
    truth = ranks.total
    found = {(row["domain"], row["name"]): row for row in told["things"]["rows"]}
    for name, sums in truth.kernels.items():
        row = found["KERNEL", name]
        assert (row["calls"], row["total_ns"], row["min_ns"], row["max_ns"]) == (
            sums.calls,
            sums.total_ns,
            sums.min_ns,
            sums.max_ns,
        )
    for (domain, name), sums in truth.regions.items():
        assert (found[domain, name]["calls"], found[domain, name]["total_ns"]) == (sums.calls, sums.total_ns)
    assert len(told["inputs"]) == len(told["processes"]["rows"]) == RANKS
    assert told["losses"] == []


@pytest.mark.slow
@pytest.mark.parametrize("form", EVERY_FORM)
def test_a_real_cluster(
    form: str, ranks: SyntheticRun, expected: dict[str, str], program: Run, cluster: Cluster
) -> None:
    assert answer(program, ranks, *FORMS[form], "--scheduler", cluster.address) == expected[form]


@pytest.mark.slow  # the work must not be done before the worker is killed
def test_a_worker_killed_in_the_middle(ranks: SyntheticRun, expected: dict[str, str], cluster: Cluster) -> None:
    command = [sys.executable, "-m", "wavewright", "summary", str(ranks.paths[0].parent), *FORMS["json"]]
    asking = subprocess.Popen([*command, "--scheduler", cluster.address], stdout=subprocess.PIPE, text=True)
    states = wait_for(lambda: [s for s in [cluster.task_states()] if s.count("memory") >= 4], asking)
    assert len(states) - states.count("memory") > 4, "the work was done before a worker could be killed"
    os.kill(cluster.processes["first"].pid, signal.SIGKILL)
    stdout, _ = asking.communicate()
    assert asking.returncode == 0
    assert len(cluster.client.scheduler_info()["workers"]) == 1
    assert stdout == expected["json"]


@pytest.mark.slow
@pytest.mark.parametrize("names, reason", [
    (("first", "second"), "the cluster had no workers for 2 s"),
    (("scheduler",), "the cluster ended: its scheduler no longer answers"),
])  # fmt: skip
def test_the_cluster_is_lost_in_the_middle(
    ranks: SyntheticRun, cluster: Cluster, names: tuple[str, ...], reason: str
) -> None:
    """One of two workers does not go on, so that the work cannot be done before all is lost."""
    cluster.processes["second"].send_signal(signal.SIGSTOP)
    command = [sys.executable, "-m", "wavewright", "summary", str(ranks.paths[0].parent), "--wait-workers", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*command, "--scheduler", cluster.address], text=True, **pipes) as asking:
        wait_for(lambda: [s for s in [cluster.task_states()] if s.count("memory") >= 1], asking)
        for name in names:
            cluster.processes[name].kill()
        try:
            stdout, stderr = asking.communicate(timeout=120)
        finally:
            asking.kill()
    assert (asking.returncode, stdout) == (3, "")
    assert f"of {RANKS} inputs were not read; this one: {reason}" in stderr
    assert "Traceback" not in stderr


@pytest.mark.slow
def test_a_worker_that_does_not_see_the_files(
    ranks: SyntheticRun, expected: dict[str, str], program: Run, cluster: Cluster
) -> None:
    """Another one reads them; where none does, it is said."""
    hidden = 'mount -t tmpfs none "$0" && exec "$@"'
    words = ["unshare", "--map-root-user", "--mount", "sh", "-c", hidden, str(ranks.paths[0].parent)]
    if not shutil.which("unshare") or subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no name spaces of mounts here")
    cluster.processes["second"].kill()
    options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", "blind")
    cluster.processes["blind"] = cluster.start("dask_worker", *options, before=words)
    cluster.wait_for_worker("blind")
    assert answer(program, ranks, *FORMS["json"], "--scheduler", cluster.address) == expected["json"]
    cluster.processes["first"].kill()
    done = program("summary", ranks.paths[0].parent, "--scheduler", cluster.address)
    assert (done.returncode, done.stdout) == (3, "")
    assert f"{RANKS} of {RANKS} inputs were not read; this one: no worker of the cluster sees it" in done.stderr


def test_no_scheduler_answers(ranks: SyntheticRun, run: Run) -> None:
    done = run("summary", ranks.paths[0], "--scheduler", "nonsense://1")
    assert done.returncode == 2
    assert "no Dask scheduler answers" in done.stderr


def wait_for(look: Callable[[], list[list[str]]], asking: subprocess.Popen[str]) -> list[str]:
    while asking.poll() is None:
        found = look()
        if found:
            return found[0]
        time.sleep(0.01)
    raise AssertionError("the cluster was never asked")


def test_only_small_databases_are_read_without_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = [RunInput(tmp_path / name, Kind.ROCPD) for name in ("a.db", "b.db")]
    assert not _run._are_small(inputs)  # opening them says that they are not there
    for found in inputs:
        found.path.write_bytes(b"x" * 60)
    assert _run._are_small(inputs)
    assert not _run._are_small([*inputs, RunInput(inputs[0].path, Kind.CHROME)])
    monkeypatch.setattr(_run, "_SMALL_BYTES", 120)
    assert not _run._are_small(inputs)
