"""Tasks of several processes or machines: reading the files of a store, measuring captures for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wavewright.cluster.executor import Executor, NotSeenError
from wavewright.cluster.measurements import kind_of_paths, measured
from wavewright.errors import WavewrightError
from wavewright.model.baseline import STORE_MARK, Baseline
from wavewright.readers.baseline import is_baseline, read_baseline
from wavewright.readers.store import Spread


def spread_over(executor: Executor, folder: str) -> Spread:
    """A reader of the files of a store that gives them to an executor.

    It raises `WavewrightError` when a file could not be read: a trend must not miss captures.
    """

    def spread(task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        outcomes = executor.run(_SeenTask(task, folder if executor.is_elsewhere else ""), items, lambda: None)
        losses = [outcome.lost for outcome in outcomes if outcome.lost]
        if losses:
            raise WavewrightError(f"{len(losses):,} files of the store were not read: {losses[0]}", where=folder)
        return [outcome.value for outcome in outcomes]

    return spread


@dataclass(frozen=True)
class _SeenTask:
    """A task about the files of a store; raises `NotSeenError` on a machine that does not see its folder."""

    task: Callable[[Any], Any]
    folder: str  #: Empty = not to be checked.

    def __call__(self, item: Any) -> Any:
        if self.folder and "://" not in self.folder and not (Path(self.folder) / STORE_MARK).is_file():
            raise NotSeenError(self.folder)
        return self.task(item)


@dataclass(frozen=True)
class CaptureMeasuring:
    """The task of measuring the capture at a path."""

    step: str | None
    kernel: str | None
    metrics: tuple[str, ...]
    is_one_of_many: bool  #: Whether other captures are measured at the same time: then it starts no processes.
    is_elsewhere: bool = False

    def __call__(self, path: str) -> Baseline | str:
        """The measurements, or the reason why the capture cannot be read."""
        if self.is_elsewhere and not Path(path).exists():
            raise NotSeenError(path)
        try:
            if is_baseline(Path(path)):
                return read_baseline(Path(path))
            kind = kind_of_paths([path], asks_for_counters=bool(self.metrics))
            jobs = 1 if self.is_one_of_many else None
            return measured([path], kind, step=self.step, kernel=self.kernel, metrics=self.metrics, jobs=jobs)
        except WavewrightError as error:
            return error.what
