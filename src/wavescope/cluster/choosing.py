"""Which executor does the work."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wavescope.cluster.executor import Serial

if TYPE_CHECKING:
    from wavescope.cluster.executor import Executor

__all__ = ["executor_for"]


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
