"""Requests about thread traces: one path, and the selection of waves, time and code.

A verb passes the options of its command line as a dict; what a request is made of is taken out of it, and the options
that are left are those of the verb's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from wavewright.cli.kit.io import progress
from wavewright.cli.kit.request import Request, form_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from wavewright.analysis.trace.about.overview import Subject
    from wavewright.analysis.trace.selection import Selection
    from wavewright.cli.kit.request import Parts, Report
    from wavewright.model.blocks import Sentence
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
        """The document that questions are asked about."""
        from wavewright.model.document import Document

        path = str(self.path)
        return Document(0, path, path, lambda: self.trace)

    @property
    def losses(self) -> pl.DataFrame:
        """Losses of the trace."""
        return self.trace.losses

    @property
    def origin(self) -> dict[str, Any]:
        """The source of the trace, and what it shows."""
        from wavewright.model.answer import to_builtins

        return {"subject": to_builtins(self.subject), "source": to_builtins(self.trace.source)}

    @property
    def subject(self) -> Subject:
        """Subject of the trace: kernel, dispatch, GPU."""
        from wavewright.analysis.trace.about.overview import subject

        return subject(self.trace)

    def head(self, width: int) -> Sequence[Sentence]:
        """The line that names kernel, dispatch and GPU."""
        from wavewright.words.kit.subject import subject_line

        return (subject_line(self.subject, width=width),)

    def require_instructions(self) -> ThreadTrace:
        """Return the trace if it has instructions; the error names the verb that fits its content."""
        from wavewright.analysis.trace.about.overview import require_instructions

        return require_instructions(self.trace, str(self.path))

    def with_code(self, report: Report) -> Report:
        """A report by instruction or line; without code, the reason why there is none."""

        def parts() -> Parts:
            from wavewright.analysis.trace.about.overview import unknown_code
            from wavewright.model.blocks import Sentence

            reason = unknown_code(self.trace)
            return (Sentence(reason),) if reason else report()

        return parts


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CodeObjectRequest(Request):
    """A request about the kernels of one code object."""

    kind: ClassVar[str] = "code"
    path: Path
    kernel: str | None  #: Only kernels whose name contains it; None = all.


#: Options that choose waves and code rows -> fields of `Selection`; beside them the pairs `time` and `line`.
_FIELDS = {"kernel": "kernel", "se": "shader_engines", "simd": "simds", "wave": "waves", "file": "file"}
_READING = ("dispatch", "code_objects", "resources", "amd")  #: Options of `readers.opening`.


def any_request(options: dict[str, Any]) -> Request:
    """The request of a verb whose path may be a trace, a code object, or left away: a class for each of the three.

    The trace is not reduced to the selection. The options of traces are taken out, and ignored without a trace.
    """
    path = options["path"]
    if path is not None and not _is_code_object(path):
        return trace_request(options, is_reduced=False)
    path, kernel, form = options.pop("path"), options["kernel"], form_of(options)
    for name in (*_FIELDS, "time", "line", *_READING):
        del options[name]
    if path is None:
        return Request(**form)
    return CodeObjectRequest(paths=(path,), path=path, kernel=kernel, **form)


def _is_code_object(path: Path) -> bool:
    from wavewright.readers.files.kinds import Kind, sniff

    return path.is_file() and sniff(path) is Kind.CODE_OBJECT


def trace_request(options: dict[str, Any], *, is_reduced: bool = True, in_parts: bool = False) -> TraceRequest:
    """The request about a thread trace, reduced to the selection if so asked; `in_parts` as in `readers.opening`."""
    from wavewright.analysis.trace.selection import select, selected_rows

    path, form, selection = options.pop("path"), form_of(options), selection_of(options)
    reading = {name: options.pop(name) for name in _READING}
    trace = open_trace(path, kernel=selection.kernel, in_parts=in_parts, **reading)
    trace = select(trace, selection) if is_reduced else trace
    rows = selected_rows(trace, selection)
    return TraceRequest(paths=(path,), path=path, trace=trace, rows=rows, selection=selection, **form)


def selection_of(options: dict[str, Any]) -> Selection:
    """The selection of waves, time and code rows that options ask for, which are taken out."""
    from wavewright.analysis.trace.selection import Selection

    chosen = {field: options.pop(option) for option, field in _FIELDS.items()}
    chosen["start_cycles"], chosen["end_cycles"] = options.pop("time")
    chosen["first_line"], chosen["last_line"] = options.pop("line")
    return Selection(**chosen)


def open_trace(path: Path, **reading: Any) -> ThreadTrace:
    """Open a thread trace of any form, with progress on a terminal; options as of `readers.opening`."""
    from wavewright.readers.opening import open_trace as open_path

    with progress(f"reading {path.name}"):
        return open_path(path, **reading)
