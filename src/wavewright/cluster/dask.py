"""Workers of a Dask cluster, on this machine or on many."""

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

_CONNECT_SECONDS = 30
_POLL_SECONDS, _ASK_SECONDS, _WAIT_SECONDS = 0.01, 1.0, 0.1
_RESULT_SECONDS = 2.0  #: For the way of a result from its worker, at first.
_TALKATIVE = ("distributed", "tornado", "asyncio")


class DaskExecutor:
    """Runs tasks on the cluster at `scheduler`, or on one that it starts here; Dask moves the tasks of lost workers.

    The workers need wavewright and should see the files at the same paths; what one of them does not see is given to
    another. A cluster without workers is waited for, `wait_seconds` long, and `say` is told so. What Dask logs about
    lost peers is not shown any more: the outcomes tell it. Raises `MissingToolError` when Dask is not installed.

    Parameters
    ----------
    resources
        What a task needs of its worker (`dask worker --resources GPU=1`); workers without it do not count.
    retries
        How often a task that raises is given out again.
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
        self.scheduler = scheduler
        self.workers = workers
        self.wait_seconds = wait_seconds
        self.say = say
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
            return _GivenTasks(client, task, items, done, self).outcomes()

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
        if not self.resources:
            return _workers(client)
        try:
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
        options["silence_logs"] = logging.CRITICAL  # workers that end late complain that nobody listens
        return options | ({"resources": self.resources} if self.resources else {})


@dataclass(frozen=True)
class _NotSeen:
    """A worker does not see the files of an item."""

    worker: str


def _on_worker(task: Callable[[Item], Result], item: Item) -> Result | _NotSeen:
    """Do one task on a worker."""
    from distributed import get_worker

    try:
        return task(item)
    except NotSeenError:
        return _NotSeen(get_worker().address)


class _GivenTasks(Generic[Item, Result]):
    """Tasks on their way: each is given to any worker, and to another one as long as workers do not see its files."""

    def __init__(
        self,
        client: Any,
        task: Callable[[Item], Result],
        items: Sequence[Item],
        done: Callable[[], None],
        executor: DaskExecutor,
    ) -> None:
        import distributed

        self._client, self._task, self._items, self._done, self._how = client, task, items, done, executor
        self._outcomes: list[Outcome[Result] | None] = [None for _ in items]
        self._refused: list[set[str]] = [set() for _ in items]  # By item: the workers that do not see its files.
        self._blind: set[str] = set()  # Workers that do not see the files of some item.
        self._numbers: dict[str, int] = {}  # Key of a task that is under way -> its item.
        self._futures: dict[int, Any] = {}
        self._places: dict[int, set[str]] = {}  # Item -> the only workers that it was given to.
        self._alone_since: float | None = None
        self._needs = {"resources": executor.resources or None, "retries": executor.retries or None}
        self._finished: Any = distributed.as_completed([])  # type: ignore[no-untyped-call]

    def outcomes(self) -> list[Outcome[Result]]:
        """Outcomes of all items."""
        futures = self._client.map(partial(_on_worker, self._task), list(self._items), pure=False, **self._needs)
        for number, future in enumerate(futures):
            self._watch(number, future)
        asked_at_s = time.monotonic()
        while self._numbers:
            if self._finished.has_ready():
                self._take(self._finished.next_batch(block=False))
                continue
            time.sleep(_POLL_SECONDS)
            now = time.monotonic()
            if now - asked_at_s > _ASK_SECONDS:
                asked_at_s = now
                if not self._is_hopeful(now):
                    break
        ended = Outcome[Result](lost=f"the cluster had no workers for {self._how.wait_seconds:g} s")
        return [outcome or ended for outcome in self._outcomes]

    def _watch(self, number: int, future: Any) -> None:
        self._numbers[future.key] = number
        self._futures[number] = future
        self._finished.add(future)

    def _take(self, batch: Iterable[Any]) -> None:
        live: set[str] | None = None
        for future in batch:
            number = self._numbers.pop(future.key, None)
            if number is None:  # it was called back
                continue
            outcome = _told(future)
            if outcome is None:
                self._watch(number, future)
            elif isinstance(outcome.value, _NotSeen):
                self._refused[number].add(outcome.value.worker)
                self._blind.add(outcome.value.worker)
                live = self._how.workers_of(self._client) if live is None else live
                self._send_elsewhere(number, live)
            else:
                self._end(number, outcome)

    def _send_elsewhere(self, number: int, live: set[str]) -> None:
        """To a worker that has not looked yet, and rather to one that has seen everything so far."""
        others = live - self._refused[number]
        if not others:
            self._end(number, Outcome(lost="no worker of the cluster sees it; all should, at the same path"))
            return
        self._places[number] = others - self._blind or others
        places = sorted(self._places[number])
        item = self._items[number]
        self._watch(
            number, self._client.submit(_on_worker, self._task, item, pure=False, workers=places, **self._needs)
        )

    def _end(self, number: int, outcome: Outcome[Result]) -> None:
        self._outcomes[number] = outcome
        self._futures.pop(number, None)
        self._places.pop(number, None)
        self._done()

    def _is_hopeful(self, now: float) -> bool:
        """True if workers are there, or may still come; items whose only workers are gone are given to others."""
        live = self._how.workers_of(self._client)
        if live:
            self._alone_since = None
            for number, places in list(self._places.items()):
                if not places & live:
                    self._call_back(number)
                    self._send_elsewhere(number, live)
            return True
        if self._alone_since is None:
            self._alone_since = now
            self._how.say(
                f"the Dask cluster no longer has workers (out of memory? another version of wavewright?); waiting for "
                f"new ones, {self._how.wait_seconds:g} s at most"
            )
        return now - self._alone_since < self._how.wait_seconds

    def _call_back(self, number: int) -> None:
        future = self._futures.pop(number)
        self._places.pop(number)
        self._numbers.pop(future.key, None)
        future.cancel()


def _workers(client: Any) -> set[str]:
    """Addresses of the workers; none when the scheduler is gone."""
    try:
        return set(client.nthreads())
    except (OSError, TimeoutError):
        return set()


def _told(future: Any) -> Outcome[Any] | None:
    """Outcome of a task that ended; None = its worker died with the result, and it is done again.

    Then Dask would wait for the result as long as there is no other worker.
    """
    seconds = _RESULT_SECONDS
    while True:
        try:
            return _result(future, seconds)
        except TimeoutError:
            if future.status == "error":  # what the task raised itself
                raise
            if future.status != "finished":
                return None
            seconds *= 2  # a large result


def _result(future: Any, seconds: float) -> Outcome[Any]:
    from distributed.scheduler import KilledWorker

    try:
        return Outcome(future.result(timeout=seconds))
    except KilledWorker as error:
        return Outcome(lost=f"every worker that read it died; perhaps memory ran out ({error.task})")
    except TimeoutError:
        raise
    except (CancelledError, OSError):
        if future.status == "error":  # what the task raised itself
            raise
        return Outcome(lost="the cluster ended: its scheduler no longer answers")
    except (ImportError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "deserializ" not in str(error):
            raise
        problem = f"the cluster cannot load wavewright ({str(error).splitlines()[0]})"
        raise UsageError(problem, advice="install the same version for the scheduler and for every worker") from error


def _silence() -> None:
    """Let what Dask and what it uses log go nowhere: tracebacks of lost connections, again and again."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _TALKATIVE:
            logging.getLogger(name).handlers.clear()
            logging.getLogger(name).propagate = True
    for name in _TALKATIVE:
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
