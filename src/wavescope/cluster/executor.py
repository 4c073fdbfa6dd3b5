"""The one interface of everything that can run a task on many items."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Executor", "Outcome", "Serial", "executor_for"]

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """What became of one item: a value, or the sentence that says why there is none.

    Examples
    --------
    >>> Outcome(3).is_lost
    False
    """

    value: Result | None = None
    lost: str = ""
    """Why the worker could not finish; empty = it did."""

    @property
    def is_lost(self) -> bool:
        """Whether the worker was lost."""
        return bool(self.lost)


class Executor(Protocol):
    """Runs a task on items, each on its own; a worker that dies takes no other item with it."""

    def run(
        self, task: Callable[[Item], Result], items: Sequence[Item], done: Callable[[], None]
    ) -> list[Outcome[Result]]:
        """The outcomes in the order of the items; `done` is called once per finished item.

        `task` and its results can be pickled. An exception that the task raises is raised here.
        """
        ...


class Serial:
    """Runs everything here and now.

    Examples
    --------
    >>> [outcome.value for outcome in Serial().run(abs, [-1, 2], lambda: None)]
    [1, 2]
    """

    def run(
        self, task: Callable[[Item], Result], items: Sequence[Item], done: Callable[[], None]
    ) -> list[Outcome[Result]]:
        """One item after the other."""
        outcomes = []
        for item in items:
            outcomes.append(Outcome(task(item)))
            done()
        return outcomes


def executor_for(
    item_count: int, *, jobs: int | None = None, scheduler: str | None = None, dask: bool = False
) -> Executor:
    """The executor that fits what was asked for: by default as many processes as there are cores, none for one item.

    Raises
    ------
    MissingToolError
        When Dask is asked for and not installed.
    UsageError
        When the scheduler cannot be reached.

    Examples
    --------
    >>> type(executor_for(1)).__name__
    'Serial'
    """
    if scheduler or dask:
        from wavescope.cluster.dask import DaskExecutor

        return DaskExecutor(scheduler, workers=jobs)
    count = min(jobs or _cores(), item_count)
    if count <= 1:
        return Serial()
    from wavescope.cluster.processes import Processes

    return Processes(count)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
