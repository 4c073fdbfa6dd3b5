"""The executor that runs tasks in a pool of processes of this machine, and survives their death."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from wavewright.base import stopping
from wavewright.base.scratch import make_scratch
from wavewright.cluster.executor import Outcome

Item = TypeVar("Item")
Result = TypeVar("Result")

_ATTEMPTS_ALONE = 2  #: Further tries of an item whose process died, each in a process of its own.
#: The address of a socket in a scratch folder is 47 bytes longer than its parent's path, and may have 107 bytes.
_LONGEST_PLACE, _SHORT_PLACE = 60, Path("/tmp")  # noqa: S108 - a folder of our own is made there
_NO_WARNING = "ignore:resource_tracker:UserWarning"  #: As of `python -W`.
_PRELOADED = "wavewright.cluster.worker"  #: Imported once by the fork server, for all workers.


class Processes:
    """A pool of `count` processes; when one dies, the items that it may have worked on run again, one at a time."""

    is_elsewhere = False

    def __init__(self, count: int) -> None:
        self.count = count

    def run(
        self, task: Callable[[Item], Result], items: Sequence[Item], done: Callable[[], None]
    ) -> list[Outcome[Result]]:
        """See `Executor.run`."""
        outcomes: dict[int, Outcome[Result]] = {}
        pending_items = list(range(len(items)))
        while pending_items:
            self._together(task, {number: items[number] for number in pending_items}, outcomes, done)
            pending_items = [number for number in pending_items if number not in outcomes]
            # A pool takes items in order, so the item that killed a worker is among the first unfinished ones: `count`
            # are at work, and `count + 1` wait in the queue between the pool and its workers.
            suspects, pending_items = pending_items[: 2 * self.count + 1], pending_items[2 * self.count + 1 :]
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
        """Add the outcomes of all items that finish before a worker dies."""
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
    _start_tracker()
    _place_sockets()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_PRELOADED])
    return ProcessPoolExecutor(count, context, initializer=_begin)


def _start_tracker() -> None:
    """Start Python's process that removes what pools leave when we are killed, without its warnings about that."""
    sys.warnoptions.append(_NO_WARNING)
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.remove(_NO_WARNING)


def _place_sockets() -> None:
    """Give the socket of Python's fork server a folder that we remove; its own stays until the server ends."""
    settings: dict[str, Any] = vars(multiprocessing.current_process())["_config"]
    if settings.get("tempdir") is None:
        has_room = len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_PLACE
        folder, end = make_scratch(None if has_room else _SHORT_PLACE)
        settings["tempdir"] = str(folder)
        atexit.register(end)


def _begin() -> None:
    """Prepare a worker: Ctrl-C only stops the parent, and the worker ends with the parent, whatever ends that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stopping.watch(words="")
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        stopping.clear()
        os._exit(1)
