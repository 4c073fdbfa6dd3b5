"""Requests about thread traces: one path, and the selection of waves, time and code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import click

from wavewright.base.bounds import ENGINE, ITEM
from wavewright.cli.kit.io import code_object_option, progress, resources_option, with_options
from wavewright.cli.kit.numbers import Whole, dispatch_option
from wavewright.cli.kit.request import FORM_NAMES, Request, amd_option, form_options
from wavewright.model.blocks import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from wavewright.analysis.trace.about.subject import Subject
    from wavewright.analysis.trace.selection import Selection
    from wavewright.cli.kit.request import Parts, Report
    from wavewright.model.document import Document
    from wavewright.model.trace import ThreadTrace
    from wavewright.readers.opening import OpenOptions


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TraceRequest(Request):
    """A request about one thread trace: the trace, reduced to the selection, and the selection itself."""

    kind: ClassVar[str] = "trace"

    path: Path
    trace: ThreadTrace
    rows: pl.Series | None  #: Code rows of the selected file and lines; None = all.
    selection: Selection

    @property
    def document(self) -> Document:
        """What topics are asked about."""
        from wavewright.model.document import Document

        path = str(self.path)
        return Document(0, path, path, lambda: self.trace)

    @property
    def origin(self) -> dict[str, Any]:
        """The source of the trace, and what it shows."""
        from wavewright.model.answer import to_builtins

        return {"subject": to_builtins(self.subject), "source": to_builtins(self.trace.source)}

    @property
    def subject(self) -> Subject:
        """What the trace shows: kernel, dispatch, GPU."""
        from wavewright.analysis.trace.about.subject import subject

        return subject(self.trace)

    def head(self, width: int) -> Sequence[Sentence]:
        """The line that names kernel, dispatch and GPU."""
        from wavewright.words.kit.subject import subject_line

        return (subject_line(self.subject, width=width),)

    def require_instructions(self) -> ThreadTrace:
        """Return the trace if it has instructions; the error names the verb that fits its content."""
        from wavewright.analysis.trace.about.requirements import require_instructions

        return require_instructions(self.trace, str(self.path))

    def with_code(self, report: Report) -> Report:
        """A report by instruction or line; without code, the reason why there is none."""

        def parts() -> Parts:

            from wavewright.analysis.trace.overview import unknown_code

            reason = unknown_code(self.trace)
            return (Sentence(reason),) if reason else report()

        return parts


def trace_verb(verb: Callable[..., None]) -> click.Command:
    """A click command that takes PATH and the common options, and passes them to `verb` as one `TraceRequest`."""
    return _command(verb, _PATH, lambda common: _request(**common))


def trace_totals_verb(verb: Callable[..., None]) -> click.Command:
    """As `trace_verb`, for answers that are totals: a large capture is decoded one shader engine at a time."""
    return _command(verb, _PATH, lambda common: _request(**common, in_parts=True))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CodeObjectRequest(Request):
    """A request about the kernels of one code object."""

    kind: ClassVar[str] = "code"
    path: Path
    kernel: str | None  #: Only kernels whose name contains it; None = all.


def whole_trace_verb(verb: Callable[..., None]) -> click.Command:
    """As `trace_verb`, but the trace is not reduced to the selection, and PATH may be left away or a code object.

    Without PATH the verb gets a `Request`, with a code object a `CodeObjectRequest`.
    """

    def request(common: dict[str, Any]) -> Request:
        form = {name: common[name] for name in FORM_NAMES}
        path = common["path"]
        if path is None:
            return Request(**form)
        if _is_code_object(path):
            return CodeObjectRequest(paths=(path,), path=path, kernel=common["kernel"], **form)
        return _request(**common, cut=False)

    return _command(verb, _OPTIONAL_PATH, request)


def _is_code_object(path: Path) -> bool:
    from wavewright.readers.files.kinds import Kind, sniff

    return path.is_file() and sniff(path) is Kind.CODE_OBJECT


def _command(
    verb: Callable[..., None], path: Callable[[Any], Any], request: Callable[[dict[str, Any]], Request]
) -> click.Command:
    @wraps(verb)
    def run(**options: Any) -> None:
        common = {name: options.pop(name) for name in _NAMES}
        verb(request(common), **options)

    decorated: Callable[..., None] = run
    for option in (*reversed(_OPTIONS), path):
        decorated = option(decorated)
    return click.command()(decorated)


def selection_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Options that select waves, time and code rows, passed to `verb` as one `Selection`."""

    @wraps(verb)
    def run(**options: Any) -> None:
        from wavewright.analysis.trace.selection import Selection

        kernel, se, simd, wave, (begin, end), file, (first, last) = (options.pop(name) for name in _CHOICES)
        verb(selection=Selection(kernel, se, simd, wave, begin, end, file, first, last), **options)

    return with_options(run, _SELECTION)


def open_trace(path: Path, **options: Unpack[OpenOptions]) -> ThreadTrace:
    """Open a thread trace of any form, with progress on a terminal; see `readers.opening`."""
    from wavewright.readers.opening import open_trace as open_path

    with progress(f"reading {path.name}"):
        return open_path(path, **options)


def _request(
    path: Path,
    kernel: str | None,
    se: tuple[int, ...],
    simd: tuple[int, ...],
    wave: tuple[int, ...],
    time: tuple[int | None, int | None],
    file: str | None,
    line: tuple[int | None, int | None],
    dispatch: str | None,
    code_objects: tuple[str, ...],
    resources: tuple[Path, ...],
    amd: bool,
    *,
    cut: bool = True,
    in_parts: bool = False,
    **form: Any,
) -> TraceRequest:
    from wavewright.analysis.trace.selection import Selection, select, selected_rows

    selection = Selection(kernel, se, simd, wave, *time, file, *line)
    trace = open_trace(
        path,
        dispatch=dispatch,
        kernel=kernel,
        code_objects=code_objects,
        resources=resources,
        amd=amd,
        in_parts=in_parts,
    )
    trace = select(trace, selection) if cut else trace
    rows = selected_rows(trace, selection)
    return TraceRequest(paths=(path,), path=path, trace=trace, rows=rows, selection=selection, **form)


class Span(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in newer versions of click only
    """`A:B`, `A:`, `:B` or `A` alone."""

    def __init__(self, name: str) -> None:
        self.name = name

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int | None, int | None]:
        """The two numbers; None = not given."""
        if isinstance(value, tuple):
            return value
        first, colon, last = str(value).replace(",", "").replace("_", "").partition(":")
        try:
            begin = int(first, 0) if first else None
            end = (int(last, 0) if last else None) if colon else begin
        except ValueError:
            self.fail(f"{value!r} is not a number or a range A:B", param, ctx)
        if (begin is None and end is None) or (begin is not None and end is not None and end < begin):
            self.fail(f"{value!r} is an empty range", param, ctx)
        return begin, end


_PATH = click.argument("path", type=click.Path(path_type=Path))
_OPTIONAL_PATH = click.argument("path", type=click.Path(path_type=Path), required=False)
_SELECTION: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--kernel", metavar="NAME", help="The dispatch, and of it only waves, of kernels whose name contains NAME."
    ),
    click.option("--se", type=Whole(ENGINE), multiple=True, help="Only this shader engine; may be repeated."),
    click.option("--simd", type=Whole(ENGINE), multiple=True, help="Only this SIMD; may be repeated."),
    click.option("--wave", type=Whole(ITEM, "w"), multiple=True, help="Only this wave (waves.wave); may be repeated."),
    click.option(
        "--time",
        type=Span("A:B"),
        default=(None, None),
        metavar="A:B",
        help="Only instructions first attempted between cycles A and B.",
    ),
    click.option("--file", metavar="FILE", help="Only instructions from this source file (the end of its path)."),
    click.option(
        "--line", type=Span("N[:M]"), default=(None, None), metavar="N[:M]", help="Only instructions of these lines."
    ),
)
_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    *_SELECTION,
    dispatch_option,
    code_object_option,
    resources_option,
    amd_option,
    *form_options,
)
_CHOICES = ("kernel", "se", "simd", "wave", "time", "file", "line")
_NAMES = ("path", *_CHOICES, "dispatch", "code_objects", "resources", "amd", *FORM_NAMES)
