"""Workers of a Dask cluster, on this machine or on many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from wavescope.cluster.executor import Outcome
from wavescope.errors import MissingToolError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["DaskExecutor"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_CONNECT_SECONDS = 30


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
            futures = client.map(task, list(items), pure=False)
            numbers = {future.key: number for number, future in enumerate(futures)}
            outcomes: list[Outcome[Result]] = [Outcome(lost="the cluster ended") for _ in items]
            for future in distributed.as_completed(futures):  # type: ignore[no-untyped-call]
                outcomes[numbers[future.key]] = _outcome(future)
                done()
            return outcomes

    def _options(self) -> dict[str, Any]:
        if self.scheduler:
            return {"address": self.scheduler, "timeout": _CONNECT_SECONDS}
        return {"n_workers": self.workers, "threads_per_worker": 1, "dashboard_address": None}


def _outcome(future: object) -> Outcome[Result]:
    from distributed.scheduler import KilledWorker

    try:
        return Outcome(future.result())  # type: ignore[attr-defined]
    except KilledWorker as error:
        return Outcome(lost=f"every worker that read it died; perhaps memory ran out ({error.task})")
