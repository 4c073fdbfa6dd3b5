"""Input and output of every verb: data on stdout, messages on stderr, one JSON object on request, exit codes."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, cast

import click

from wavewright.base.bounds import integer_of
from wavewright.base.shown import json_bytes, printable
from wavewright.cli.kit.form import asked_top, current_brief, is_compact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import polars as pl
    from rich.console import Console

    from wavewright.analysis.trace.about.overview import LossLine
    from wavewright.cli.kit.brief import Brief
    from wavewright.errors import WavewrightError
    from wavewright.model.blocks import AnyBlock, Sentence

BUG_EXIT_CODE = 70
JSON_SCHEMA_VERSION = 1

_FILE_WIDTH = 120  #: Characters per line where there is no terminal.
_SILENT_TERMINAL = 80  #: Characters per line of a terminal that does not say how wide it is.
_HEIGHT = 25  #: Lines of a console; nothing depends on it.
_PADDING = re.compile(r" +(?=\n)")
_NARROWEST, _WIDEST = 20, 1000  #: Tables cannot be laid out in less, and nobody reads more.
_BRIEF_WIDTH = 140  #: Characters per line of what becomes a brief: all columns.
COMPACT_TOP = 20  #: Rows of a table in compact JSON, if nothing else is asked for.


def console(*, stderr: bool = False) -> Console:
    """A rich console; colours only on a terminal, and NO_COLOR is respected.

    Into files and pipes, sentences are written on one line each, unless COLUMNS says how wide lines are.
    """
    from rich.console import Console
    from rich.text import Text

    from wavewright.model.blocks import Finding
    from wavewright.writers.terminal.blocks import BLOCKS, finding_blocks, keeps_lines, renderable

    if not stderr and (brief := current_brief()) is not None:
        return _collecting(brief)
    stream = sys.stderr if stderr else sys.stdout
    terminal_width = _terminal_width(stream)
    width = width_of(os.environ.get("COLUMNS", ""), terminal_width)
    wraps = terminal_width is not None or bool(integer_of(os.environ.get("COLUMNS")))

    class Piped(Console):
        def print(self, *objects: Any, **how: Any) -> None:
            if objects and isinstance(objects[0], Finding):  # its sentences are lines of their own
                for block in finding_blocks(objects[0]):
                    self.print(block, **how)
                return
            parts = [renderable(each) if isinstance(each, BLOCKS) else each for each in objects]
            is_text = not wraps and all(isinstance(each, str | Text) for each in parts)
            if is_text or any(map(keeps_lines, objects)):
                how["soft_wrap"] = True
            super().print(*parts, **how)

        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError  # rich would leave with status 1; `main` knows better

    # Names and paths are untrusted: markup in them is printed as it is.
    # With a height, which nothing here depends on, rich does not ask the environment for sizes once more.
    return Piped(
        file=stream if terminal_width is not None else cast("TextIO", _Unpadded(stream)),
        stderr=stderr,
        highlight=False,
        markup=False,
        emoji=False,
        width=width,
        height=_HEIGHT,
        soft_wrap=False,
    )


def _collecting(brief: Brief) -> Console:
    """A console whose parts become a brief."""
    from rich.console import Console

    class Collecting(Console):
        def print(self, *objects: Any, **_how: Any) -> None:
            brief.parts.extend(objects)

    return Collecting(file=sys.stdout, width=_BRIEF_WIDTH, height=_HEIGHT, color_system=None)


class _Unpadded:
    """A stream without the spaces with which tables fill their lines."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding
        self.flush = stream.flush
        self.isatty = stream.isatty

    def write(self, text: str) -> int:
        return self._stream.write(_PADDING.sub("", text))


def line_width() -> int:
    """Characters per line of standard output; the width of its console, without importing rich."""
    if current_brief() is not None:
        return _BRIEF_WIDTH
    return width_of(os.environ.get("COLUMNS", ""), _terminal_width(sys.stdout))


def width_of(columns: str, terminal: int | None) -> int:
    """Characters per line: COLUMNS, else the terminal, else the width for files; within what can be laid out."""
    return min(max(integer_of(columns) or terminal or _FILE_WIDTH, _NARROWEST), _WIDEST)


def _terminal_width(stream: TextIO) -> int | None:
    """Columns of the terminal behind a stream; None = there is none, or it does not say."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or _SILENT_TERMINAL if stream.isatty() else None
    except (OSError, ValueError):
        return _SILENT_TERMINAL


def emit_json(answer: dict[str, Any], *, inputs: Iterable[object] = (), losses: Sequence[object] = ()) -> None:
    """Print one JSON object: the inputs, the answer, the losses."""
    import msgspec

    head = {"schema_version": JSON_SCHEMA_VERSION, "inputs": [str(path) for path in inputs]}
    body = head | answer | {"losses": losses}
    if is_compact():
        from wavewright.model.compact import compacted

        top = asked_top()
        rows = COMPACT_TOP if top is None else top or None  # --top 0 = all
        click.echo(json_bytes({"form": "compact"} | compacted(msgspec.to_builtins(body), rows)).decode())
        return
    click.echo(msgspec.json.format(json_bytes(body), indent=2).decode())


def show(report: Callable[[int], Iterable[AnyBlock]], *, stderr: bool = False) -> None:
    """Print the parts of a report, which is called with the width of the console."""
    out = console(stderr=stderr)
    for part in report(out.width):
        out.print(part)


def emit_event(event: dict[str, Any]) -> None:
    """Print one JSON object on one line, at once: one of many while something goes on."""
    click.echo(json_bytes(event).decode())
    sys.stdout.flush()


def fail(error: WavewrightError) -> NoReturn:
    """Say what went wrong on stderr and leave with the error's exit status."""
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    head = "error:" if is_plain else click.style("error:", fg="red", bold=True)
    place = f"{error.where}: " if error.where else ""
    click.echo(f"{head} {printable(f'{place}{error.what}')}", err=True)
    for label, text in (("still read", error.kept), ("try", error.advice)):
        if text:
            click.echo(f"  {label}: {printable(text)}", err=True)
    sys.exit(error.exit_code)


def show_losses(losses: pl.DataFrame | Sequence[LossLine], *, stderr: bool = False) -> None:
    """Print losses of a trace, a run or counters, one line each."""
    from wavewright.words.kit.losses import loss_lines

    tell_losses(loss_lines(losses), stderr=stderr)


def tell_losses(lines: Iterable[Sentence], *, stderr: bool = False) -> None:
    """Print lines about losses; a brief has a place for them."""
    brief = current_brief()
    if brief is not None:
        brief.losses += [line.text for line in lines]
        return
    out = console(stderr=stderr)
    for line in lines:
        out.print(line)


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Show `what` with a spinner while the block runs, if somebody watches stderr."""
    with console(stderr=True).status(what) if sys.stderr.isatty() else nullcontext():
        yield
