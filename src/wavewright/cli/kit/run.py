"""Requests about runs: any number of paths, the selection of events, and the processes that read the files."""

from __future__ import annotations

import itertools
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click

from wavewright.cli.kit.io import console
from wavewright.cli.kit.request import Request, form_of
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from wavewright.analysis.run.select.choice import RunSelection
    from wavewright.cluster.gather import Gathered
    from wavewright.model.document import Document
    from wavewright.model.run import Run
    from wavewright.readers.run.inputs import RunInput

_SMALL_BYTES = 64 << 20  #: Databases of fewer bytes together are read in this process.
_READING = ("jobs", "scheduler", "dask", "max_missing", "wait_workers", "captures")  #: Options that are fields here.
#: Options that are fields of `RunSelection`.
_CHOICES = ("kernel", "pids", "ranks", "gpus", "streams", "domains", "between", "is_inside", "is_launched")
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RunRequest(Request):
    """A request about one or many runs: the selection of events, and the processes that read the files."""

    kind: ClassVar[str] = "run"

    selection: RunSelection
    asked: RunSelection  #: What the options choose; verbs that apply some of it themselves narrow `selection`.
    jobs: int | None = 1  #: Processes that read; None = as many as the files deserve.
    scheduler: str | None = None  #: Address of a Dask cluster.
    dask: bool = False  #: Whether a Dask cluster is started on this host.
    max_missing: float = 50  #: Percent of the inputs that workers may leave unread.
    captures: tuple[Path, ...] = ()  #: Traces of the capture of graphs that the runs replay.
    wait_workers: float = 60  #: Seconds for which a cluster may be without workers.
    gathered: list[Gathered[Any]] = field(default_factory=list)  #: What was read, pass after pass.

    @property
    def document(self) -> Document:
        """The document that questions are asked about."""
        from wavewright.model.document import Document
        from wavewright.readers.run.inputs import open_run

        path = " ".join(map(str, self.paths))
        return Document(0, path, path, lambda: open_run(*self.paths, captures=self.captures))

    @property
    def losses(self) -> pl.DataFrame:
        """Losses of all runs, when they were first read."""
        return self.gathered[0].losses

    @property
    def inputs(self) -> Sequence[str]:
        """The files that were first read."""
        return self.gathered[0].paths

    def narrowed(self, **changes: Any) -> RunRequest:
        """The same request with another selection, for verbs that apply some of it themselves."""
        return replace(self, selection=replace(self.selection, **changes))

    def gather(
        self,
        question: Callable[[Run], Result],
        paths: Sequence[str | Path] | None = None,
        *,
        show_secrets: bool = False,
    ) -> Gathered[Result]:
        """The partial answers of all runs at the paths (None = all paths), with progress."""
        from wavewright.cluster.executor_choice import executor_for
        from wavewright.cluster.gather import gather
        from wavewright.readers.run.inputs import find_runs

        inputs = find_runs(self.paths if paths is None else paths, captures=self.captures)
        is_ours_to_say = self.jobs is None and not self.dask and not self.scheduler
        jobs = 1 if is_ours_to_say and _are_small(inputs) else self.jobs
        executor = executor_for(
            len(inputs),
            jobs=jobs,
            scheduler=self.scheduler,
            dask=self.dask,
            wait_seconds=self.wait_workers,
            say=partial(click.echo, err=True),
        )
        with file_progress(inputs) as done:
            gathered = gather(
                question,
                inputs,
                selection=self.selection,
                asked=self.asked,
                executor=executor,
                done=done,
                show_secrets=show_secrets,
                most_missing=self.max_missing / 100,
            )
        self.gathered.append(gathered)
        return gathered


def selection_of(options: dict[str, Any], *, is_whole: bool) -> RunSelection:
    """The selection that options ask for, which are taken out."""
    from wavewright.analysis.run.select.choice import RunSelection

    begin, end = options.pop("time")
    percent = options.pop("percent")
    if percent != (None, None):
        if (begin, end) != (None, None):
            raise UsageError("--time and --percent both select a window", advice="give one of them")
        begin, end = (text and f"{text.removesuffix('%')}%" for text in percent)
    choices = {name: options.pop(name) for name in _CHOICES}
    selection = RunSelection(begin=begin, end=end, **choices)
    return replace(selection, is_whole=is_whole and selection.has_window)


def _are_small(inputs: Sequence[RunInput]) -> bool:
    """True if inputs are databases that are read in less time than processes take to start."""
    from wavewright.base.compression import PACKED_SUFFIXES
    from wavewright.readers.files.kinds import Kind

    if any(each.kind not in (Kind.ROCPD, Kind.RPD) or each.path.suffix in PACKED_SUFFIXES for each in inputs):
        return False
    try:
        return sum(each.path.stat().st_size for each in inputs) < _SMALL_BYTES
    except OSError:  # opening it says why
        return False


@contextmanager
def file_progress(inputs: Sequence[object]) -> Iterator[Callable[[], None]]:
    """A function that counts finished files on a terminal; silent where nobody watches."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    count, finished = len(inputs), itertools.count(1)

    def text(number: int) -> str:
        return "reading" if count == 1 else f"read {number:,} of {count:,} files"

    with console(stderr=True).status(text(0)) as status:
        yield lambda: status.update(text(next(finished)))


def run_request(options: dict[str, Any], *, is_whole: bool = False) -> RunRequest:
    """The request of a command line, whose options are taken out; `is_whole` keeps events whole that a window cuts."""
    selection = selection_of(options, is_whole=is_whole)
    common = {name: options.pop(name) for name in ("paths", *_READING) if name in options}
    return RunRequest(selection=selection, asked=selection, **form_of(options), **common)
