"""Workers of a Dask cluster, on this machine or on many."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from wavescope.cluster.executor import Outcome
from wavescope.errors import MissingToolError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["DaskExecutor"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_CONNECT_SECONDS = 30
_PATIENCE_SECONDS = 60
"""How long a cluster may be without workers before the rest counts as lost."""
_POLL_SECONDS, _ASK_SECONDS = 0.01, 2.0


class DaskExecutor:
    """Runs tasks on the cluster at `scheduler`, or on one that it starts here; Dask moves the tasks of lost workers.

    The workers need wavescope and see the files at the same paths.

    Raises
    ------
    MissingToolError
        When Dask is not installed.

    Examples
    --------
    >>> executor = DaskExecutor("tcp://head:8786")  # doctest: +SKIP
    """

    def __init__(self, scheduler: str | None, *, workers: int | None = None) -> None:
        try:
            import distributed  # noqa: F401
        except ImportError as error:
            what = "Dask is not installed"
            raise MissingToolError(what, advice="pip install 'wavescope[cluster]'") from error
        self.scheduler = scheduler
        self.workers = workers

    def run(
        self, task: Callable[[Item], Result], items: Sequence[Item], done: Callable[[], None]
    ) -> list[Outcome[Result]]:
        """See `Executor.run`."""
        import distributed

        try:
            client = distributed.Client(**self._options())  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            what = f"no Dask scheduler answers ({error})"
            raise UsageError(what, where=str(self.scheduler), advice="start one: dask scheduler") from error
        with client:
            self._wait_for_workers(client)
            futures = client.map(task, list(items), pure=False)
            numbers = {future.key: number for number, future in enumerate(futures)}
            outcomes: list[Outcome[Result]] = [Outcome(lost="the cluster ended") for _ in items]
            for future in _finished(client, futures):
                outcomes[numbers[future.key]] = _outcome(future)
                done()
            return outcomes

    def _wait_for_workers(self, client: Any) -> None:
        try:
            client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        except (OSError, TimeoutError) as error:
            what = "the Dask cluster has no workers"
            raise UsageError(what, where=str(self.scheduler), advice="start some: dask worker ADDRESS") from error

    def _options(self) -> dict[str, Any]:
        if self.scheduler:
            return {"address": self.scheduler, "timeout": _CONNECT_SECONDS}
        return {"n_workers": self.workers, "threads_per_worker": 1, "dashboard_address": None}


def _finished(client: Any, futures: Sequence[Any]) -> Iterator[Any]:
    """The futures as they finish; ends early when the cluster has had no workers for a while."""
    import distributed

    waiting: Any = distributed.as_completed(futures)  # type: ignore[no-untyped-call]
    asked = seen = time.monotonic()
    while not waiting.is_empty():
        if waiting.has_ready():
            yield from waiting.next_batch(block=False)
            continue
        time.sleep(_POLL_SECONDS)
        now = time.monotonic()
        if now - asked > _ASK_SECONDS:
            asked = now
            if _has_workers(client):
                seen = now
            elif now - seen > _PATIENCE_SECONDS:
                return


def _has_workers(client: Any) -> bool:
    try:
        return bool(client.nthreads())
    except (OSError, TimeoutError):  # the scheduler is gone
        return False


def _outcome(future: Any) -> Outcome[Result]:
    from concurrent.futures import CancelledError

    from distributed.scheduler import KilledWorker

    try:
        return Outcome(future.result())
    except KilledWorker as error:
        return Outcome(lost=f"every worker that read it died; perhaps memory ran out ({error.task})")
    except (CancelledError, OSError, TimeoutError) as error:  # the scheduler is gone
        return Outcome(lost=f"the cluster ended ({type(error).__name__})")
    except (ImportError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "deserializ" not in str(error):
            raise
        what = f"the cluster cannot load wavescope ({str(error).splitlines()[0]})"
        raise UsageError(what, advice="install the same version for the scheduler and for every worker") from error
