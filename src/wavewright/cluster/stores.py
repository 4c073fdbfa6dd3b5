"""Stores and the captures for them, read by several processes or machines."""

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
    """Reading of the files of a store by an executor.

    Raises (the reading does)
    -------------------------
    WavewrightError
        When a worker could not finish: a trend without some captures would be another trend.
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
    """A task about a folder, refused where this machine does not see it."""

    task: Callable[[Any], Any]
    folder: str  #: Empty = it is seen.

    def __call__(self, item: Any) -> Any:
        if self.folder and "://" not in self.folder and not (Path(self.folder) / STORE_MARK).is_file():
            raise NotSeenError(self.folder)
        return self.task(item)


@dataclass(frozen=True)
class CaptureMeasuring:
    """Task: what the capture at a path measured."""

    step: str | None
    kernel: str | None
    metrics: tuple[str, ...]
    is_one_of_many: bool  #: Whether others are measured beside it: then it takes no more processes.
    is_elsewhere: bool = False

    def __call__(self, path: str) -> Baseline | str:
        """Its measurements; the reason, where it cannot be read."""
        if self.is_elsewhere and not Path(path).exists():
            raise NotSeenError(path)
        try:
            if is_baseline(Path(path)):
                return read_baseline(Path(path))
            kind = kind_of_paths([path], asks_for_counters=bool(self.metrics))
            filters: dict[str, Any] = {"step": self.step, "kernel": self.kernel, "metrics": self.metrics}
            return measured([path], kind, **filters, jobs=1 if self.is_one_of_many else None)
        except WavewrightError as error:
            return error.what
