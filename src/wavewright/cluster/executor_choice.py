"""Choice of the executor that does the work."""

from __future__ import annotations

import os
from collections.abc import Callable

from wavewright.cluster.dask import DaskExecutor
from wavewright.cluster.executor import WAIT_SECONDS, Executor, Serial
from wavewright.cluster.processes import Processes


def executor_for(
    item_count: int,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    dask: bool = False,
    wait_seconds: float = WAIT_SECONDS,
    say: Callable[[str], None] = lambda _: None,
) -> Executor:
    """The executor that fits what was asked for: by default as many processes as there are cores, none for one item.

    A Dask cluster may be without workers for `wait_seconds`; `say` is told when that begins. Raises `MissingToolError`
    when Dask is asked for and not installed; `UsageError` when the scheduler cannot be reached.

    >>> type(executor_for(1)).__name__
    'Serial'
    """
    if scheduler or dask:
        return DaskExecutor(scheduler, workers=jobs, wait_seconds=wait_seconds, say=say)
    count = min(jobs or _cores(), item_count)
    if count <= 1:
        return Serial()
    return Processes(count)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
