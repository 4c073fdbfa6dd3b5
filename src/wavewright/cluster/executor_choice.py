"""The choice between executors: this process, several processes, a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Callable

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
    """A Dask cluster if asked for, else as many processes as there are cores and items; for one item none.

    A Dask cluster may have no workers for `wait_seconds`, and `say` gets a sentence when that begins. Raises
    `MissingToolError` when Dask is asked for and not installed; `UsageError` when the scheduler cannot be reached.
    """
    if scheduler or dask:
        from wavewright.cluster.dask import DaskExecutor

        return DaskExecutor(scheduler, workers=jobs, wait_seconds=wait_seconds, say=say)
    count = min(jobs or len(os.sched_getaffinity(0)), item_count)
    return Serial() if count <= 1 else Processes(count)
