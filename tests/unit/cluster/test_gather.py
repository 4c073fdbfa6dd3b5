"""Asking many files: what cannot be read is a loss, what is there twice counts once, and the rest is delivered."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from synth import Workload, write_rocpd, write_rocpd_ranks
from wavewright.analysis.run.select.choice import RunSelection
from wavewright.cluster.executor import Executor, Serial
from wavewright.cluster.gather import gather
from wavewright.cluster.processes import Processes
from wavewright.errors import NotATraceError, WavewrightError
from wavewright.model.run import Run
from wavewright.readers.files.kinds import Kind
from wavewright.readers.run.inputs import RunInput, find_runs

BOTH = [Serial(), Processes(2)]
EXECUTORS = [BOTH[0], pytest.param(BOTH[1], marks=pytest.mark.slow)]


def kernel_count(run: Run) -> int:
    return sum(piece.height for piece in run.chunks("dispatches", ["start_ns"]))


def fail_at_rank_1(run: Run) -> int:
    if 1 in run.read("processes", ["rank"])["rank"]:
        raise ZeroDivisionError("a bug of ours")
    return kernel_count(run)


def die_at_rank_1(run: Run) -> int:
    if 1 in run.read("processes", ["rank"])["rank"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return kernel_count(run)


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[RunInput]:
    folder = tmp_path_factory.mktemp("ranks")
    run = write_rocpd_ranks(folder, Workload(dispatches=90, ranks=3))
    return find_runs(list(run.paths))


@pytest.fixture
def broken(tmp_path: Path) -> RunInput:
    path = tmp_path / "broken.db"
    path.write_bytes(b"SQLite format 3\0" + bytes(3000))
    return RunInput(path, Kind.ROCPD)


@pytest.mark.parametrize("executor", BOTH)
def test_answers_in_the_order_of_the_inputs(executor: Executor, ranks: list[RunInput]) -> None:
    gathered = gather(kernel_count, ranks, executor=executor)
    assert gathered.values == [30, 30, 30]
    assert gathered.inputs == ranks
    assert gathered.losses.height == 0


@pytest.mark.parametrize("executor", EXECUTORS)
def test_an_unreadable_file_among_good_ones(executor: Executor, ranks: list[RunInput], broken: RunInput) -> None:
    gathered = gather(kernel_count, [ranks[0], broken, ranks[1]], executor=executor)
    assert gathered.values == [30, 30]
    assert gathered.inputs == ranks[:2]
    assert gathered.losses.select("path", "kind").rows() == [(str(broken.path), "unreadable_source")]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_only_unreadable_files(executor: Executor, broken: RunInput) -> None:
    with pytest.raises(NotATraceError, match=r"broken\.db"):
        gather(kernel_count, [broken, broken], executor=executor)


@pytest.mark.parametrize("executor", BOTH)
def test_a_bug_in_one_of_many(executor: Executor, ranks: list[RunInput]) -> None:
    gathered = gather(fail_at_rank_1, ranks, executor=executor)
    assert gathered.values == [30, 30]
    assert "a bug in wavewright" in gathered.losses["message"].item()


def test_a_bug_in_the_only_one(ranks: list[RunInput]) -> None:
    with pytest.raises(ZeroDivisionError):
        gather(fail_at_rank_1, [ranks[1]])


@pytest.mark.slow
def test_a_lost_worker(ranks: list[RunInput]) -> None:
    gathered = gather(die_at_rank_1, ranks, executor=Processes(2))
    assert gathered.values == [30, 30]
    assert gathered.losses.select("path", "kind").rows() == [(str(ranks[1].path), "lost_worker")]


def test_only_lost_workers(ranks: list[RunInput]) -> None:
    with pytest.raises(WavewrightError, match="died 3 times"):
        gather(die_at_rank_1, [ranks[1]], executor=Processes(1))


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_run_that_is_there_twice_counts_once(executor: Executor, ranks: list[RunInput], tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_bytes(ranks[0].path.read_bytes())
    gathered = gather(kernel_count, [*ranks, RunInput(copy, Kind.ROCPD)], executor=executor)
    assert gathered.values == [30, 30, 30]
    assert gathered.losses.select("path", "kind").rows() == [(str(copy), "duplicate_run")]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_merged_file_beside_one_of_its_parts(executor: Executor, ranks: list[RunInput], tmp_path: Path) -> None:
    whole = write_rocpd(tmp_path / "whole.db", Workload(dispatches=90, ranks=3)).paths[0]
    gathered = gather(kernel_count, [ranks[1], RunInput(whole, Kind.ROCPD)], executor=executor)
    assert gathered.values == [30, 60]
    assert gathered.losses["kind"].to_list() == ["duplicate_run"]


def test_a_selection_is_made_before_the_question(ranks: list[RunInput]) -> None:
    gathered = gather(kernel_count, ranks, selection=RunSelection(ranks=(2,)))
    assert gathered.values == [30]  # files without the rank are left out


def test_a_file_that_vanished(ranks: list[RunInput], tmp_path: Path) -> None:
    gone = RunInput(tmp_path / "gone.db", Kind.ROCPD)
    gathered = gather(kernel_count, [gone, ranks[0]])
    assert gathered.values == [30]
    assert gathered.losses["kind"].to_list() == ["unreadable_source"]
