"""Commands by kind of document: the arguments and options that all have, passed to a verb as one request.

Requests are imported when a command runs: its `--help` needs none.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.form import FORM_NAMES
from wavewright.cli.kit.numbers import without_letter
from wavewright.cli.kit.options import group, groups, path_type, with_parameters

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_FORMS = ("top", "csv", "json")
_TRACE_NAMES = (
    *("path", "kernel", "se", "simd", "wave", "time", "file", "line"),
    *("dispatch", "code_objects", "resources", "amd", *FORM_NAMES),
)


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
        common = {name: options.pop(name) for name in _TRACE_NAMES}
        from wavewright.cli.kit.trace import any_request, trace_request

        verb(any_request(**common) if is_whole else trace_request(**common, in_parts=in_parts), **options)

    path = click.Argument(["path"], type=path_type(), required=not is_whole)
    with_parameters(run, [path, *groups("trace-selection", "dispatch", "code-object", "resources", "amd", *_FORMS)])
    return click.command()(run)


def with_selection(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb, to which the options that select waves, time and code rows are passed as one `Selection`."""

    @wraps(verb)
    def run(**options: Any) -> None:
        from wavewright.cli.kit.trace import selection_of

        verb(selection=selection_of(options), **options)

    return run


def run_verb(verb: Callable[..., None], *, takes_name: bool = False) -> click.Command:
    """A click command that takes PATHS and the common options, and passes them to `verb` as one `RunRequest`.

    One about whole events takes a NAME before them.
    """
    paths = click.Argument(["paths"], nargs=-1, required=True, type=click.Path())
    arguments = [click.Argument(["name"]), paths] if takes_name else [paths]
    return click.command()(with_parameters(run_options(verb, is_whole=takes_name), arguments))


def run_options(verb: Callable[..., None], *, is_spread: bool = True, is_whole: bool = False) -> Callable[..., None]:
    """The common options without PATHS, which the verb declares itself as `paths`, passed on as one `RunRequest`.

    A verb whose work is not spread over processes has no options for them. Events that a time window cuts are cut
    for the verb, unless it is about whole ones.
    """

    @wraps(verb)
    def run(**options: Any) -> None:
        from wavewright.cli.kit.run import run_request

        names = ("paths", *FORM_NAMES, "jobs", "scheduler", "dask", "max_missing", "wait_workers")
        common = {name: options.pop(name) for name in names if name in options}
        verb(run_request(options, is_whole=is_whole, **common), **options)

    cut_events = "kept whole" if is_whole else "cut at its borders, and shares of time are of the window"
    choosing = group("run-selection", cut_events=cut_events)
    return _after_its_options(
        run, [*groups(*_FORMS), _names_option(), *choosing, *groups(*(["spreading"] if is_spread else []))]
    )


def selection_options(verb: Callable[..., None]) -> Callable[..., None]:
    """The options that choose events alone, passed on as one `RunSelection` of whole events called `selection`."""

    @wraps(verb)
    def run(**options: Any) -> None:
        from wavewright.cli.kit.run import selection_of

        verb(selection=selection_of(options, is_whole=True), **options)

    return _after_its_options(run, group("run-selection", cut_events="kept whole"))


def _after_its_options(verb: Callable[..., None], options: list[click.Parameter]) -> Callable[..., None]:
    """The verb with these options after those that it declares itself, in `--help` too."""
    declared = getattr(verb, "__click_params__", [])
    verb.__click_params__ = [*reversed(options), *declared]  # type: ignore[attr-defined]  # click reads it from its end
    return verb


def _names_option() -> click.Option:
    return click.Option(
        ["--names"],
        type=click.Choice(["short", "full"]),
        default="short",
        show_default=True,
        expose_value=False,
        callback=_set_names_form,
        help="Names of kernels in text: shortened by what differs, or full. --csv and --json have full names.",
    )


def _set_names_form(_context: click.Context, _option: click.Parameter, form: str) -> None:
    from wavewright.base.names_form import NAMES_FORM

    NAMES_FORM.set(form)


def counter_verb(verb: Callable[..., None], *, is_path_needed: bool = True) -> click.Command:
    """A click command that takes PATH and the common options, and passes them to `verb` as one `CounterRequest`."""
    path = click.Argument(["path"], type=path_type(), required=is_path_needed)
    return click.command()(with_parameters(counter_options(verb), [path]))


def counter_options(verb: Callable[..., None]) -> Callable[..., None]:
    """The common options without PATH, passed on as one `CounterRequest`; no path where a verb has PATHS."""

    @wraps(verb)
    def run(**options: Any) -> None:
        from wavewright.cli.kit.counters import CounterRequest

        common = {name: options.pop(name) for name in ("kernels", "dispatches", "gpus", "target", *FORM_NAMES)}
        common["kernels"] = tuple(without_letter(name, "k") for name in common["kernels"])
        path = options.pop("path", None)
        paths = options.get("paths", ()) if path is None else (path,)
        verb(CounterRequest(path=path, paths=paths, **common), **options)

    return with_parameters(run, groups("counter-selection", "target", *_FORMS))


def captures_verb(verb: Callable[..., None]) -> click.Command:
    """A click command about any number of captures of counters, passed to `verb` as one `Request`."""

    @wraps(verb)
    def run(paths: tuple[Path, ...], **options: Any) -> None:
        from wavewright.cli.kit.request import Request

        form = {name: options.pop(name) for name in FORM_NAMES}
        verb(Request(paths=paths, **form), **options)

    paths = click.Argument(["paths"], nargs=-1, required=True, type=path_type(), metavar="PATH...")
    return click.command()(with_parameters(_after_its_options(run, groups(*_FORMS)), [paths]))
