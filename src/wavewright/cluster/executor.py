"""The one interface of everything that can run a task on many items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

#: How long a cluster may be without workers: enough for one to be started again by its queue or its nanny.
WAIT_SECONDS = 60.0


class NotSeenError(Exception):
    """Raised by a task where the files of its item are not seen; another machine may see them."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """Outcome of one item: a value, or the sentence that says why there is none."""

    value: Result | None = None
    lost: str = ""  #: Why no worker could finish it; empty = one did.


class Executor(Protocol):
    """Runs a task on items, each on its own; a worker that dies takes no other item with it."""

    @property
    def is_elsewhere(self) -> bool:
        """True if workers may see other files than this process, so that tasks may raise `NotSeenError`."""
        ...

    def run(
        self, task: Callable[[Item], Result], items: Sequence[Item], done: Callable[[], None]
    ) -> list[Outcome[Result]]:
        """The outcomes in the order of the items; `done` is called once per finished item.

        `task` and its results can be pickled. An exception that the task raises is raised here.
        """
        ...


class Serial:
    """Runs everything here and now."""

    is_elsewhere = False

    def run(
        self, task: Callable[[Item], Result], items: Sequence[Item], done: Callable[[], None]
    ) -> list[Outcome[Result]]:
        """One item after the other."""
        outcomes = []
        for item in items:
            outcomes.append(Outcome(task(item)))
            done()
        return outcomes
