"""Processes of this machine."""

from __future__ import annotations

import multiprocessing
import signal
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, TypeVar

from wavescope.cluster.executor import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Processes"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_ATTEMPTS_ALONE = 2
_PRELOADED = "wavescope.cluster._worker"


class Processes:
    """A pool of `count` processes. When one dies, what it may have worked at is tried again, each item on its own.

    Examples
    --------
    >>> Processes(2).count
    2
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def run(
        self, task: Callable[[Item], Result], items: Sequence[Item], done: Callable[[], None]
    ) -> list[Outcome[Result]]:
        """See `Executor.run`."""
        outcomes: dict[int, Outcome[Result]] = {}
        waiting = list(range(len(items)))
        while waiting:
            self._together(task, {number: items[number] for number in waiting}, outcomes, done)
            waiting = [number for number in waiting if number not in outcomes]
            # A pool takes items in their order, so that the one which killed a worker is among the first of the rest.
            suspects, waiting = waiting[: 2 * self.count + 1], waiting[2 * self.count + 1 :]
            for number in suspects:
                outcomes[number] = self._alone(task, items[number])
                done()
        return [outcomes[number] for number in range(len(items))]

    def _together(
        self,
        task: Callable[[Item], Result],
        items: Mapping[int, Item],
        outcomes: dict[int, Outcome[Result]],
        done: Callable[[], None],
    ) -> None:
        """As many outcomes as there are before a worker dies."""
        with _pool(min(self.count, len(items))) as pool:
            numbers = {pool.submit(task, item): number for number, item in items.items()}
            try:
                for future in as_completed(numbers):
                    if not isinstance(future.exception(), BrokenProcessPool):
                        outcomes[numbers[future]] = Outcome(future.result())
                        done()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    @staticmethod
    def _alone(task: Callable[[Item], Result], item: Item) -> Outcome[Result]:
        for _ in range(_ATTEMPTS_ALONE):
            try:
                with _pool(1) as pool:
                    return Outcome(pool.submit(task, item).result())
            except BrokenProcessPool:
                continue
        return Outcome(lost=f"the process that read it died {_ATTEMPTS_ALONE + 1} times; perhaps memory ran out")


def _pool(count: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_PRELOADED])
    return ProcessPoolExecutor(count, context, initializer=_ignore_interrupts)


def _ignore_interrupts() -> None:
    """Ctrl-C is for the process that waits for the answer; it ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
