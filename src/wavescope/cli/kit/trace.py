"""What the verbs about thread traces have in common: the path, the choice of waves and rows, how much to show."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavescope.base.bounds import ENGINE, ID, ITEM, TOP
from wavescope.cli.kit.io import (
    code_object_option,
    console,
    emit_json,
    json_option,
    progress,
    resources_option,
    with_options,
)
from wavescope.cli.kit.numbers import Whole

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl
    from rich.console import RenderableType

    from wavescope.analysis.trace.selection import Selection
    from wavescope.model.answer import Answer
    from wavescope.model.trace import ThreadTrace

DEFAULT_TOP = 20


@dataclass(frozen=True)
class Asked:
    """What the user asked of one trace: the trace, cut down to the chosen part, and how to show the answer."""

    path: Path
    trace: ThreadTrace
    rows: pl.Series | None  #: Code rows of the chosen file and line; None = all.
    selection: Selection
    top: int | None  #: Rows to show; None = not said.
    as_json: bool

    @property
    def limit(self) -> int:
        """Rows to show in text; 0 asked for means all."""
        if self.top is None:
            return DEFAULT_TOP
        return self.top or 1 << 62

    def require_instructions(self) -> ThreadTrace:
        """The trace, if it has instructions; else an error that names the verb that fits what is there."""
        from wavescope.errors import UsageError

        if self.trace.instruction_count:
            return self.trace
        where, source = str(self.path), self.trace.source
        asked = f"{where} --dispatch {source.dispatch}" if source.other_dispatches else where
        if self.trace.samples.height:
            what = "these are PC samples: they know how often a row was seen, not when"
            raise UsageError(what, where=where, advice=f"wavescope hotspots {asked}")
        if "placeholder" in self.trace.losses["kind"]:
            number = "" if source.dispatch is None else f"dispatch {source.dispatch} is "
            what = f"{number}an empty placeholder: nothing was captured"
            raise UsageError(what, where=where, advice=f"wavescope info {where} says what else is there")
        if self.trace.stored_totals["hit_count"].sum():
            what = "the wave files are missing: there are sums per instruction, but no instructions"
            advice = f"copy the whole directory; wavescope hotspots {asked} and stalls --classic use the sums"
            raise UsageError(what, where=where, advice=advice)
        what = "no wave ran on the traced CU, so there are no instructions to ask about"
        if self.trace.occupancy.height:
            raise UsageError(what, where=where, advice=f"wavescope occupancy {asked} shows the waves of the other CUs")
        raise UsageError(what, where=where, advice=f"wavescope info {asked}")

    def emit(self, answer: Answer | dict[str, Any], **more: Any) -> None:
        """The answer as one JSON object, with where it came from and what was lost."""
        from wavescope.model.answer import to_builtins

        source = to_builtins(self.trace.source)
        body = to_builtins(answer, top=self.top or None)
        emit_json({"input": str(self.path), "source": source, **more, **body, "losses": _losses(self.trace)})

    def show_by_row(self, *parts: RenderableType) -> None:
        """As `show`, for what is told by instruction or line: where no code is known, that is all there is to say."""
        from rich.text import Text

        from wavescope.analysis.trace.overview import unknown_code

        unknown = unknown_code(self.trace)
        self.show(*((Text(unknown),) if unknown else parts))

    def show(self, *parts: RenderableType) -> None:
        """Print parts of the answer in order, then the losses: one line each, never hidden."""
        from wavescope.analysis.trace.overview import losses_of
        from wavescope.report.kit.losses import loss_lines

        out = console()
        for part in parts:
            out.print(part)
        for line in loss_lines(losses_of(self.trace)):
            out.print(line)


def trace_verb(verb: Callable[..., None]) -> click.Command:
    """A click command that takes PATH and the common options, and hands them to `verb` as one `Asked`."""
    return _command(verb, _PATH, lambda common: _asked(**common))


def trace_sums_verb(verb: Callable[..., None]) -> click.Command:
    """As `trace_verb`, for answers that are sums: of a large capture one shader engine after the other is decoded."""
    return _command(verb, _PATH, lambda common: _asked(**common, in_parts=True))


def whole_trace_verb(verb: Callable[..., None]) -> click.Command:
    """As `trace_verb`, but the trace is not cut down to the selection, and without PATH the verb gets None."""

    def asked(common: dict[str, Any]) -> Asked | None:
        return None if common["path"] is None else _asked(**common, cut=False)

    return _command(verb, _OPTIONAL_PATH, asked)


def _command(
    verb: Callable[..., None], path: Callable[[Any], Any], asked: Callable[[dict[str, Any]], Asked | None]
) -> click.Command:
    @wraps(verb)
    def run(**options: Any) -> None:
        common = {name: options.pop(name) for name in _NAMES}
        verb(asked(common), **options)

    decorated: Callable[..., None] = run
    for option in (*reversed(_OPTIONS), path):
        decorated = option(decorated)
    return click.command()(decorated)


def selection_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Options that choose waves, time and code rows, handed to `verb` as one `Selection`."""

    @wraps(verb)
    def run(**options: Any) -> None:
        from wavescope.analysis.trace.selection import Selection

        kernel, se, simd, wave, (begin, end), file, (first, last) = (options.pop(name) for name in _CHOICES)
        verb(selection=Selection(kernel, se, simd, wave, begin, end, file, first, last), **options)

    return with_options(run, _SELECTION)


def open_trace(
    path: Path,
    *,
    dispatch: int | None = None,
    code_objects: tuple[str, ...] = (),
    resources: tuple[Path, ...] = (),
    in_parts: bool = False,
) -> ThreadTrace:
    """Open anything that holds a thread trace, with progress on a terminal; `in_parts` as in `readers.opening`."""
    from wavescope.readers.opening import open_trace as open_path

    with progress(f"reading {path.name}"):
        return open_path(path, dispatch=dispatch, code_objects=code_objects, resources=resources, in_parts=in_parts)


def _asked(
    path: Path,
    kernel: str | None,
    se: tuple[int, ...],
    simd: tuple[int, ...],
    wave: tuple[int, ...],
    time: tuple[int | None, int | None],
    file: str | None,
    line: tuple[int | None, int | None],
    dispatch: int | None,
    code_objects: tuple[str, ...],
    resources: tuple[Path, ...],
    as_json: bool,
    top: int | None = None,
    *,
    cut: bool = True,
    in_parts: bool = False,
) -> Asked:
    from wavescope.analysis.trace.selection import Selection, select, selected_rows

    selection = Selection(kernel, se, simd, wave, *time, file, *line)
    trace = open_trace(path, dispatch=dispatch, code_objects=code_objects, resources=resources, in_parts=in_parts)
    trace = select(trace, selection) if cut else trace
    return Asked(path, trace, selected_rows(trace, selection), selection, top, as_json)


def _losses(trace: ThreadTrace) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = trace.losses.to_dicts()
    return rows


class _Span(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in newer versions of click only
    """`A:B`, `A:`, `:B` or `A` alone."""

    def __init__(self, name: str) -> None:
        self.name = name

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int | None, int | None]:
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


_TOP = click.option("--top", type=Whole(TOP), metavar="N", help="Rows to show; 0 = all. Default: 20.")
_PATH = click.argument("path", type=click.Path(path_type=Path))
_OPTIONAL_PATH = click.argument("path", type=click.Path(path_type=Path), required=False)
_SELECTION: tuple[Callable[[Any], Any], ...] = (
    click.option("--kernel", metavar="NAME", help="Only waves of kernels whose name contains NAME."),
    click.option("--se", type=Whole(ENGINE), multiple=True, help="Only this shader engine; may be repeated."),
    click.option("--simd", type=Whole(ENGINE), multiple=True, help="Only this SIMD; may be repeated."),
    click.option("--wave", type=Whole(ITEM), multiple=True, help="Only this wave (waves.wave); may be repeated."),
    click.option(
        "--time",
        type=_Span("A:B"),
        default=(None, None),
        metavar="A:B",
        help="Only instructions tried in these cycles.",
    ),
    click.option("--file", metavar="FILE", help="Only instructions from this source file (the end of its path)."),
    click.option(
        "--line", type=_Span("N[:M]"), default=(None, None), metavar="N[:M]", help="Only instructions of these lines."
    ),
)
_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    _TOP,
    *_SELECTION,
    click.option("--dispatch", type=Whole(ID), help="Which dispatch of a folder with several; default: the fullest."),
    code_object_option,
    resources_option,
    json_option,
)
_CHOICES = ("kernel", "se", "simd", "wave", "time", "file", "line")
_NAMES = (
    "path",
    "top",
    *_CHOICES,
    "dispatch",
    "code_objects",
    "resources",
    "as_json",
)
