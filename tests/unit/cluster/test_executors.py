"""Executors: every item has an outcome, in order, whatever becomes of the workers."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from wavewright.cluster.executor import Serial
from wavewright.cluster.executor_choice import executor_for
from wavewright.cluster.processes import Processes
from wavewright.errors import MissingToolError, UsageError


def doubled(number: int) -> int:
    return 2 * number


def refuse(number: int) -> int:
    what = f"no {number}"
    raise UsageError(what, advice="another number")


def die_at(bad: int, number: int) -> int:
    if number == bad:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def die_once(folder: Path, number: int) -> int:
    """Dies at number 3 the first time only."""
    marker = folder / "died"
    if number == 3 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


@pytest.mark.parametrize("executor", [Serial(), Processes(2)])
def test_outcomes_are_in_order(executor: Serial | Processes) -> None:
    finished: list[int] = []
    outcomes = executor.run(doubled, range(9), lambda: finished.append(1))
    assert [outcome.value for outcome in outcomes] == list(range(0, 18, 2))
    assert len(finished) == 9


def test_no_items() -> None:
    assert Processes(2).run(doubled, [], lambda: None) == []


@pytest.mark.parametrize("executor", [Serial(), Processes(2)])
def test_errors_are_raised_whole(executor: Serial | Processes) -> None:
    with pytest.raises(UsageError) as raised:
        executor.run(refuse, [7], lambda: None)
    assert (raised.value.what, raised.value.advice) == ("no 7", "another number")


@pytest.mark.slow
def test_one_item_that_kills_its_process_takes_no_other_with_it() -> None:
    finished: list[int] = []
    outcomes = Processes(2).run(partial(die_at, 5), range(20), lambda: finished.append(1))
    assert [outcome.value for outcome in outcomes] == [None if n == 5 else 2 * n for n in range(20)]
    assert "died 3 times" in outcomes[5].lost
    assert len(finished) == 20


def test_a_process_that_dies_once_is_replaced(tmp_path: Path) -> None:
    outcomes = Processes(2).run(partial(die_once, tmp_path), range(6), lambda: None)
    assert [outcome.value for outcome in outcomes] == [2 * n for n in range(6)]


def test_which_executor() -> None:
    assert isinstance(executor_for(1, jobs=8), Serial)
    assert isinstance(executor_for(8, jobs=1), Serial)
    many = executor_for(3, jobs=8)
    assert isinstance(many, Processes)
    assert many.count == 3


def test_dask_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingToolError, match="Dask is not installed"):
        executor_for(3, dask=True)
