"""The end of work that nobody waits for: what the native core does on a thread obeys a switch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from wavewright._core import Stopped, StopSwitch

__all__ = ["StopSwitch", "Stopped", "at_once", "obeying"]

T = TypeVar("T")


@contextmanager
def obeying(switch: StopSwitch) -> Iterator[None]:
    """In the block, work of this thread in the core raises `Stopped` soon after `switch.stop()`."""
    switch.enter()
    try:
        yield
    finally:
        switch.leave()


def at_once(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """The results of tasks in their order, run on as many threads as there are cores.

    Each task must spend its time in the core or in Polars, where Python's lock is free.
    """
    switch = StopSwitch.current()

    def done(task: Callable[[], T]) -> T:
        with obeying(switch):
            return task()

    workers = min(len(tasks), len(os.sched_getaffinity(0)))
    if workers < 2:
        return [task() for task in tasks]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(done, tasks))
