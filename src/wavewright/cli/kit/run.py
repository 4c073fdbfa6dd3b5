"""Requests about runs: any number of paths, the selection of events, and the processes that read the files."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click

from wavewright.base.bounds import ID, JOBS, RANK, SECONDS, SHARE
from wavewright.base.names_form import NAMES_FORM
from wavewright.cli.kit.io import console, with_options
from wavewright.cli.kit.numbers import Real, Whole
from wavewright.cli.kit.request import FORM_NAMES, Request, form_options
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from wavewright.analysis.run.select.choice import RunSelection
    from wavewright.cluster.gather import Gathered
    from wavewright.model.document import Document
    from wavewright.model.run import Run
    from wavewright.readers.run.inputs import RunInput

_SMALL_BYTES = 64 << 20
_MAX_MISSING, _WAIT_WORKERS = 50, 60
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RunRequest(Request):
    """A request about one or many runs: the selection of events, and the processes that read the files."""

    kind: ClassVar[str] = "run"

    selection: RunSelection
    asked: RunSelection  #: What the options choose; verbs that apply some of it themselves narrow `selection`.
    jobs: int | None
    scheduler: str | None
    dask: bool
    max_missing: float  #: Percent of the inputs that workers may leave unread.
    wait_workers: float  #: Seconds for which a cluster may be without workers.

    @property
    def document(self) -> Document:
        """What topics are asked about."""
        from wavewright.model.document import Document
        from wavewright.readers.run.inputs import open_run

        path = " ".join(map(str, self.paths))
        return Document(0, path, path, lambda: open_run(*self.paths))

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

        inputs = find_runs(self.paths if paths is None else paths)
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
            return gather(
                question,
                inputs,
                selection=self.selection,
                asked=self.asked,
                executor=executor,
                done=done,
                show_secrets=show_secrets,
                most_missing=self.max_missing / 100,
            )

    def opened(self) -> tuple[Run, Gathered[Run]]:
        """All runs at the paths as one, opened in this process, and the outcome of each."""
        from wavewright.cluster.gather import gather
        from wavewright.model.run import Run
        from wavewright.readers.run.inputs import find_runs

        gathered = gather(_itself, find_runs(self.paths), selection=self.selection, asked=self.asked)
        return Run([source for run in gathered.values for source in run.origins]), gathered


def run_verb(verb: Callable[..., None]) -> click.Command:
    """A click command that takes PATHS and the common options, and passes them to `verb` as one `RunRequest`."""
    paths = click.argument("paths", nargs=-1, required=True, type=click.Path())
    return click.command()(paths(run_options(verb)))


def run_options(verb: Callable[..., None], *, is_spread: bool = True, is_whole: bool = False) -> Callable[..., None]:
    """The common options without PATHS, which the verb declares itself as `paths`, passed on as one `RunRequest`.

    A verb whose work is not spread over processes has no options for them. Events that a time window cuts are cut
    for the verb, unless it is about whole ones.
    """

    @wraps(verb)
    def run(**options: Any) -> None:
        selection = _selection(options, is_whole=is_whole)
        common = _HERE | {name: options.pop(name) for name in _NAMES if name in options}
        verb(RunRequest(selection=selection, asked=selection, **common), **options)

    choosing = _choosing("kept whole" if is_whole else "cut at its borders, and shares of time are of the window")
    return _after_its_options(run, (*form_options, names_option, *choosing, *(_SPREADING if is_spread else ())))


def selection_options(verb: Callable[..., None]) -> Callable[..., None]:
    """The options that choose events alone, passed on as one `RunSelection` of whole events called `selection`."""

    @wraps(verb)
    def run(**options: Any) -> None:
        selection = _selection(options, is_whole=True)
        verb(selection=selection, **options)

    return _after_its_options(run, _choosing("kept whole"))


def _after_its_options(verb: Callable[..., None], options: Sequence[Callable[[Any], Any]]) -> Callable[..., None]:
    """The verb with these options after those that it declares itself, in `--help` too."""
    declared = getattr(verb, "__click_params__", [])
    verb.__click_params__ = []  # type: ignore[attr-defined]
    with_options(verb, options)
    verb.__click_params__ += declared  # type: ignore[attr-defined]  # click reads the list from its end
    return verb


def _selection(options: dict[str, Any], *, is_whole: bool) -> RunSelection:
    """What the options choose, which are taken out."""
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
    """Whether inputs are databases that are read in less time than processes take to start."""
    from wavewright.base.compression import PACKED_SUFFIXES
    from wavewright.readers.files.kinds import Kind

    databases = (Kind.ROCPD, Kind.RPD)
    try:
        sizes = [
            each.path.stat().st_size
            for each in inputs
            if each.kind in databases and each.path.suffix not in PACKED_SUFFIXES
        ]
    except OSError:  # opening it says why
        return False
    return len(sizes) == len(inputs) and sum(sizes) < _SMALL_BYTES


def _itself(run: Run) -> Run:
    return run


class file_progress:  # noqa: N801 - used like a function
    """Counts finished files on a terminal; silent for one file and where nobody watches."""

    def __init__(self, inputs: Sequence[RunInput]) -> None:
        self.count = len(inputs)
        self.finished = 0
        self.status = console(stderr=True).status(self._text()) if sys.stderr.isatty() else None

    def _text(self) -> str:
        return "reading" if self.count == 1 else f"read {self.finished:,} of {self.count:,} files"

    def __enter__(self) -> Callable[[], None]:
        if self.status:
            self.status.start()
        return self._done

    def __exit__(self, *_: object) -> None:
        if self.status:
            self.status.stop()

    def _done(self) -> None:
        self.finished += 1
        if self.status:
            self.status.update(self._text())


class _Window(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in newer versions of click only
    """`A:B`, `A:` or `:B`; percent, times with units, or nanoseconds."""

    name = "A:B"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str | None, str | None]:
        if isinstance(value, tuple):
            return value
        begin, colon, end = str(value).partition(":")
        if not colon or not (begin or end):
            self.fail(f"{value!r} is not a window A:B, A: or :B", param, ctx)
        return begin.strip() or None, end.strip() or None


def _set_names_form(_context: click.Context, _option: click.Parameter, form: str) -> None:
    NAMES_FORM.set(form)


names_option = click.option(
    "--names",
    type=click.Choice(["short", "full"]),
    default="short",
    show_default=True,
    expose_value=False,
    callback=_set_names_form,
    help="Names of kernels in text: shortened by what differs, or full. --csv and --json have full names.",
)
_FILTERS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--kernel", metavar="NAME", help="Only kernels whose name contains NAME, or matches /REGEX/; no copies."
    ),
    click.option("--pid", "pids", type=Whole(ID), multiple=True, help="Only this process; may be repeated."),
    click.option("--rank", "ranks", type=Whole(RANK, "r"), multiple=True, help="Only this rank; may be repeated."),
    click.option("--gpu", "gpus", type=Whole(ID, "g"), multiple=True, help="Only this GPU; may be repeated."),
    click.option("--stream", "streams", type=Whole(ID), multiple=True, help="Only this stream id; may be repeated."),
    click.option(
        "--domain",
        "domains",
        multiple=True,
        metavar="NAME",
        help="Only calls of this domain: HIP, HSA, RCCL, MARKER, OPERATOR (PyTorch), PYTHON, ...; may be repeated.",
    ),
)


def _choosing(cut_events: str) -> tuple[Callable[[Any], Any], ...]:
    """The options that choose events; `cut_events` says what becomes of those that a window cuts."""
    return (
        *_FILTERS,
        click.option(
            "--time",
            type=_Window(),
            default=(None, None),
            metavar="A:B",
            help="Only this window: 30%:60%, 1.5s:2s after the start, -5ms: before the end, or nanoseconds of the "
            f"clock. Events at its borders are {cut_events}.",
        ),
        click.option(
            "--percent",
            type=_Window(),
            default=(None, None),
            metavar="A:B",
            help="Only this window, in percent of the run: 30:60 is --time 30%:60%.",
        ),
        click.option(
            "--between",
            nargs=2,
            metavar="MARKER MARKER",
            help="Only from the start of the first marker to the end of the second.",
        ),
        click.option(
            "--launched",
            "is_launched",
            is_flag=True,
            help="Only GPU work whose launch was recorded; drops kernels launched before the recording began.",
        ),
        click.option("--inside", "is_inside", is_flag=True, help="Only events that are completely inside the window."),
    )


_SPREADING: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--jobs",
        type=Whole(JOBS),
        help="Number of reader processes (default: one per core, fewer for small files).",
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Let the Dask cluster at tcp://host:port read the files."),
    click.option("--dask", is_flag=True, help="Let a Dask cluster on this host read the files."),
    click.option(
        "--max-missing",
        type=Real(SHARE),
        default=_MAX_MISSING,
        show_default=True,
        metavar="PERCENT",
        help="Inputs that workers may leave unread; more than that is an error.",
    ),
    click.option(
        "--wait-workers",
        type=Real(SECONDS),
        default=_WAIT_WORKERS,
        show_default=True,
        metavar="SECONDS",
        help="How long a Dask cluster may be without workers.",
    ),
)
_CHOICES = ("kernel", "pids", "ranks", "gpus", "streams", "domains", "between", "is_inside", "is_launched")
_HERE = {"jobs": 1, "scheduler": None, "dask": False, "max_missing": _MAX_MISSING, "wait_workers": _WAIT_WORKERS}
_NAMES = ("paths", *FORM_NAMES, *_HERE)
