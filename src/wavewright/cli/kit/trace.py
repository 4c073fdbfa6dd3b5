"""Requests about thread traces: one path, and the selection of waves, time and code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from wavewright.cli.kit.io import progress
from wavewright.cli.kit.options import group, with_parameters
from wavewright.cli.kit.request import FORM_NAMES, Request

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from wavewright.analysis.trace.selection import Selection
    from wavewright.analysis.trace.subject import Subject
    from wavewright.cli.kit.request import Parts, Report
    from wavewright.model.document import Document
    from wavewright.model.trace import ThreadTrace


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
    def losses(self) -> pl.DataFrame:
        """What was lost of the trace."""
        return self.trace.losses

    @property
    def origin(self) -> dict[str, Any]:
        """The source of the trace, and what it shows."""
        from wavewright.model.answer import to_builtins

        return {"subject": to_builtins(self.subject), "source": to_builtins(self.trace.source)}

    @property
    def subject(self) -> Subject:
        """What the trace shows: kernel, dispatch, GPU."""
        from wavewright.analysis.trace.subject import subject

        return subject(self.trace)

    def head(self, width: int) -> Parts:
        """The line that names kernel, dispatch and GPU."""
        from wavewright.report.kit.subject import subject_line

        return (subject_line(self.subject, width=width),)

    def require_instructions(self) -> ThreadTrace:
        """Return the trace if it has instructions; the error names the verb that fits its content."""
        from wavewright.analysis.trace.required import require_instructions

        return require_instructions(self.trace, str(self.path))

    def with_code(self, report: Report) -> Report:
        """A report by instruction or line; without code, the reason why there is none."""

        def parts() -> Parts:
            from rich.text import Text

            from wavewright.analysis.trace.overview import unknown_code

            reason = unknown_code(self.trace)
            return (Text(reason),) if reason else report()

        return parts


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CodeObjectRequest(Request):
    """A request about the kernels of one code object."""

    kind: ClassVar[str] = "code"
    path: Path
    kernel: str | None  #: Only kernels whose name contains it; None = all.


def trace_verb(verb: Callable[..., None], *, in_parts: bool = False, is_whole: bool = False) -> click.Command:
    """A click command that takes PATH and the common options, and passes them to `verb` as one `TraceRequest`.

    Parameters
    ----------
    in_parts
        Whether answers are totals: a large capture is then decoded one shader engine at a time.
    is_whole
        Whether the trace is not reduced to the selection, and PATH may be left away or a code object: the verb then
        gets a `Request`, or a `CodeObjectRequest`.
    """

    @wraps(verb)
    def run(**options: Any) -> None:
        common = {name: options.pop(name) for name in _NAMES}
        make = _any_request if is_whole else partial(_request, in_parts=in_parts)
        verb(make(**common), **options)

    path = click.Argument(["path"], type=click.Path(path_type=Path), required=not is_whole)
    groups = ("trace-selection", "dispatch", "code-object", "resources", "amd", "top", "csv", "json")
    with_parameters(run, [path, *(option for name in groups for option in group(name))])
    return click.command()(run)


def _any_request(path: Path | None, kernel: str | None, **common: Any) -> Request:
    form = {name: common[name] for name in FORM_NAMES}
    if path is None:
        return Request(**form)
    if _is_code_object(path):
        return CodeObjectRequest(paths=(path,), path=path, kernel=kernel, **form)
    return _request(path=path, kernel=kernel, **common, cut=False)


def _is_code_object(path: Path) -> bool:
    from wavewright.readers.files.kinds import Kind, sniff

    return path.is_file() and sniff(path) is Kind.CODE_OBJECT


def with_selection(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb, to which the options that select waves, time and code rows are passed as one `Selection`."""

    @wraps(verb)
    def run(**options: Any) -> None:
        from wavewright.analysis.trace.selection import Selection

        kernel, se, simd, wave, (begin, end), file, (first, last) = (options.pop(name) for name in _CHOICES)
        verb(selection=Selection(kernel, se, simd, wave, begin, end, file, first, last), **options)

    return run


def open_trace(
    path: Path,
    *,
    dispatch: str | None = None,
    kernel: str | None = None,
    code_objects: tuple[str, ...] = (),
    resources: tuple[Path, ...] = (),
    amd: bool = False,
    in_parts: bool = False,
) -> ThreadTrace:
    """Open a thread trace of any form, with progress on a terminal; `in_parts` as in `readers.opening`."""
    from wavewright.readers.opening import open_trace as open_path

    with progress(f"reading {path.name}"):
        return open_path(
            path,
            dispatch=dispatch,
            kernel=kernel,
            code_objects=code_objects,
            resources=resources,
            amd=amd,
            in_parts=in_parts,
        )


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


_CHOICES = ("kernel", "se", "simd", "wave", "time", "file", "line")
_NAMES = ("path", *_CHOICES, "dispatch", "code_objects", "resources", "amd", *FORM_NAMES)
