"""The executor that runs tasks on the workers of a Dask cluster, on this machine or on many."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from wavewright.cluster.executor import WAIT_SECONDS, NotSeenError, Outcome
from wavewright.errors import MissingToolError, UsageError

Item = TypeVar("Item")
Result = TypeVar("Result")

_CONNECT_SECONDS = 30  #: Limit of the connection to the scheduler.
_POLL_SECONDS, _WAIT_SECONDS = 0.01, 0.1  #: Between two checks for results, and for the first worker.
_WORKERS_SECONDS = 1.0  #: Between two checks whether workers are still there.
_RESULT_SECONDS = 2.0  #: First time limit for fetching a result from its worker; each further try has twice as long.
_LOGGERS = ("distributed", "tornado", "asyncio")  #: Loggers of Dask and of the libraries below it.


class DaskExecutor:
    """Runs tasks on the cluster at `scheduler`, or on one that it starts here; Dask moves the tasks of lost workers.

    The workers need wavewright, and should see the files at the same paths; an item whose files one worker does not see
    goes to another. The cluster may have no workers for `wait_seconds`; `say` gets a sentence when that begins. Dask's
    logs of lost peers are silenced: the outcomes tell what was lost. `resources` are what a task needs of its worker
    (`dask worker --resources GPU=1`); a task that raises is repeated `retries` times. Raises `MissingToolError` when
    Dask is not installed.
    """

    is_elsewhere = True

    def __init__(
        self,
        scheduler: str | None,
        *,
        workers: int | None = None,
        wait_seconds: float = WAIT_SECONDS,
        say: Callable[[str], None] = lambda _: None,
        resources: Mapping[str, float] | None = None,
        retries: int = 0,
    ) -> None:
        try:
            import distributed  # noqa: F401
        except ImportError as error:
            raise MissingToolError("Dask is not installed", advice="pip install 'wavewright[cluster]'") from error
        self.scheduler, self.workers = scheduler, workers
        self.wait_seconds, self.say = wait_seconds, say
        self.resources = dict(resources or {})
        self.retries = retries

    def run(
        self, task: Callable[[Item], Result], items: Sequence[Item], done: Callable[[], None]
    ) -> list[Outcome[Result]]:
        """See `Executor.run`."""
        import distributed

        _silence()
        try:
            client = distributed.Client(**self._options())  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            problem = f"no Dask scheduler answers ({error})"
            raise UsageError(problem, where=str(self.scheduler), advice="start one: dask scheduler") from error
        with client:
            self._wait_for_workers(client)
            return _Submission(client, task, items, done, self).outcomes()

    def _wait_for_workers(self, client: Any) -> None:
        if self.workers_of(client):
            return
        requirement = f" with {', '.join(self.resources)}" if self.resources else ""
        self.say(f"the Dask cluster has no workers{requirement}; waiting for some, {self.wait_seconds:g} s at most")
        begin = time.monotonic()
        while not self.workers_of(client):
            if time.monotonic() - begin > self.wait_seconds:
                options = "".join(f" --resources {name}={amount:g}" for name, amount in self.resources.items())
                problem = f"the Dask cluster has no workers{requirement}"
                advice = f"start some: dask worker ADDRESS{options}"
                raise UsageError(problem, where=str(self.scheduler), advice=advice)
            time.sleep(_WAIT_SECONDS)

    def workers_of(self, client: Any) -> set[str]:
        """Addresses of the workers that have what a task needs; none when the scheduler is gone."""
        try:
            if not self.resources:
                return set(client.nthreads())
            workers = client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, TimeoutError):
            return set()
        return {
            address
            for address, facts in workers.items()
            if all(facts.get("resources", {}).get(name, 0) >= needed for name, needed in self.resources.items())
        }

    def _options(self) -> dict[str, Any]:
        if self.scheduler:
            return {"address": self.scheduler, "timeout": _CONNECT_SECONDS}
        options = {"n_workers": self.workers, "threads_per_worker": 1, "dashboard_address": None}
        options["silence_logs"] = logging.CRITICAL  # workers that end late log that the scheduler is gone
        return options | ({"resources": self.resources} if self.resources else {})


@dataclass(frozen=True)
class _NotSeen:
    """The result of a task whose worker does not see the files of its item."""

    worker: str


def _on_worker(task: Callable[[Item], Result], item: Item) -> Result | _NotSeen:
    """Run a task; called on a worker."""
    from distributed import get_worker

    try:
        return task(item)
    except NotSeenError:
        return _NotSeen(get_worker().address)


class _Submission(Generic[Item, Result]):
    """The tasks of all items: each goes to any worker, and to others as long as workers do not see its files."""

    def __init__(
        self,
        client: Any,
        task: Callable[[Item], Result],
        items: Sequence[Item],
        done: Callable[[], None],
        executor: DaskExecutor,
    ) -> None:
        import distributed

        self._client, self._task, self._items, self._done, self._executor = client, task, items, done, executor
        self._outcomes: list[Outcome[Result] | None] = [None for _ in items]
        self._refused: list[set[str]] = [set() for _ in items]  # By item: the workers that do not see its files.
        self._blind: set[str] = set()  # Workers that do not see the files of some item.
        self._numbers: dict[str, int] = {}  # Key of a running task -> the number of its item.
        self._futures: dict[int, Any] = {}  # Number of an item -> its running task.
        self._places: dict[int, set[str]] = {}  # Number of an item -> the only workers that may run its task.
        self._alone_since: float | None = None  # Since when there are no workers.
        self._needs = {"resources": executor.resources or None, "retries": executor.retries or None}
        self._finished: Any = distributed.as_completed([])  # type: ignore[no-untyped-call]

    def outcomes(self) -> list[Outcome[Result]]:
        """Outcomes of all items."""
        futures = self._client.map(partial(_on_worker, self._task), list(self._items), pure=False, **self._needs)
        for number, future in enumerate(futures):
            self._watch(number, future)
        last_check_s = time.monotonic()
        while self._numbers:
            if self._finished.has_ready():
                self._take(self._finished.next_batch(block=False))
                continue
            time.sleep(_POLL_SECONDS)
            now = time.monotonic()
            if now - last_check_s > _WORKERS_SECONDS:
                last_check_s = now
                if not self._may_finish(now):
                    break
        ended = Outcome[Result](lost=f"the cluster had no workers for {self._executor.wait_seconds:g} s")
        return [outcome or ended for outcome in self._outcomes]

    def _watch(self, number: int, future: Any) -> None:
        self._numbers[future.key] = number
        self._futures[number] = future
        self._finished.add(future)

    def _take(self, batch: Iterable[Any]) -> None:
        """Handle tasks that ended."""
        live: set[str] | None = None
        for future in batch:
            number = self._numbers.pop(future.key, None)
            if number is None:  # cancelled by `_may_finish`
                continue
            outcome = _outcome_of(future)
            if outcome is None:
                self._watch(number, future)
            elif isinstance(outcome.value, _NotSeen):
                self._refused[number].add(outcome.value.worker)
                self._blind.add(outcome.value.worker)
                live = self._executor.workers_of(self._client) if live is None else live
                self._submit_elsewhere(number, live)
            else:
                self._end(number, outcome)

    def _submit_elsewhere(self, number: int, live: set[str]) -> None:
        """Submit a task again to workers that did not refuse it, preferably to those that saw all files so far."""
        others = live - self._refused[number]
        if not others:
            self._end(number, Outcome(lost="no worker of the cluster sees it; all should, at the same path"))
            return
        self._places[number] = others - self._blind or others
        needs = {"workers": sorted(self._places[number]), **self._needs}
        self._watch(number, self._client.submit(_on_worker, self._task, self._items[number], pure=False, **needs))

    def _end(self, number: int, outcome: Outcome[Result]) -> None:
        self._outcomes[number] = outcome
        self._futures.pop(number, None)
        self._places.pop(number, None)
        self._done()

    def _may_finish(self, now: float) -> bool:
        """True if there are workers, or may still come; tasks whose only workers are gone are submitted to others."""
        live = self._executor.workers_of(self._client)
        if live:
            self._alone_since = None
            for number, places in list(self._places.items()):
                if not places & live:
                    future = self._futures.pop(number)
                    self._numbers.pop(future.key, None)
                    future.cancel()
                    self._submit_elsewhere(number, live)
            return True
        if self._alone_since is None:
            self._alone_since = now
            self._executor.say(
                f"the Dask cluster no longer has workers (out of memory? another version of wavewright?); waiting for "
                f"new ones, {self._executor.wait_seconds:g} s at most"
            )
        return now - self._alone_since < self._executor.wait_seconds


def _outcome_of(future: Any) -> Outcome[Any] | None:
    """The outcome of a task that ended; None = its worker died with the result, and Dask runs it again.

    Fetching such a result would wait as long as there is no other worker: hence the time limit.
    """
    seconds = _RESULT_SECONDS
    while True:
        try:
            return _result(future, seconds)
        except TimeoutError:
            if future.status == "error":  # the task itself raised it
                raise
            if future.status != "finished":
                return None
            seconds *= 2  # a large result takes long


def _result(future: Any, seconds: float) -> Outcome[Any]:
    from distributed.scheduler import KilledWorker

    try:
        return Outcome(future.result(timeout=seconds))
    except KilledWorker as error:
        return Outcome(lost=f"every worker that read it died; perhaps memory ran out ({error.task})")
    except TimeoutError:
        raise
    except (CancelledError, OSError):
        if future.status == "error":  # the task itself raised it
            raise
        return Outcome(lost="the cluster ended: its scheduler no longer answers")
    except (ImportError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "deserializ" not in str(error):
            raise
        problem = f"the cluster cannot load wavewright ({str(error).splitlines()[0]})"
        raise UsageError(problem, advice="install the same version for the scheduler and for every worker") from error


def _silence() -> None:
    """Discard the logs of Dask and its libraries: repeated tracebacks of lost connections."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _LOGGERS:
            logging.getLogger(name).handlers.clear()
            logging.getLogger(name).propagate = True
    for name in _LOGGERS:
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
