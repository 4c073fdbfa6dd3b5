"""The interface of everything that runs a task on many items, and the executor that runs it here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

#: How long a cluster may have no workers: long enough for its queue or nanny to start one again.
WAIT_SECONDS = 60.0


class NotSeenError(Exception):
    """Raised by a task on a machine that does not see the files of its item; another machine may see them."""


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """The result of one item: a value, or the reason why there is none."""

    value: Result | None = None
    lost: str = ""  #: Why no worker could finish it; empty = one did.


class Executor(Protocol):
    """Runs a task on items, each independent of the others: a worker that dies affects its own item only."""

    @property
    def is_elsewhere(self) -> bool:
        """True if workers may see other files than this process: then tasks raise `NotSeenError`."""
        ...

    def run(
        self, task: Callable[[Item], Result], items: Sequence[Item], done: Callable[[], None]
    ) -> list[Outcome[Result]]:
        """The outcomes in the order of the items; `done` is called once per finished item.

        `task` and its results can be pickled. An exception that the task raises is raised here.
        """
        ...


class Serial:
    """Runs one item after the other in this process."""

    is_elsewhere = False

    def run(
        self, task: Callable[[Item], Result], items: Sequence[Item], done: Callable[[], None]
    ) -> list[Outcome[Result]]:
        """See `Executor.run`."""
        outcomes = []
        for item in items:
            outcomes.append(Outcome(task(item)))
            done()
        return outcomes
