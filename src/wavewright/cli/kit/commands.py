"""Commands by kind of document: the arguments and options that all have, passed to a verb as one request.

Requests are imported when a command runs: its `--help` needs none.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.form import FORM_NAMES
from wavewright.cli.kit.options import group, groups, path_type, with_parameters, without_letter
from wavewright.cli.kit.verbs import read_declaration

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

        verb(run_request(options, is_whole=is_whole), **options)

    cut_events = "kept whole" if is_whole else "cut at its borders, and shares of time are of the window"
    choosing = group("run-selection", cut_events=cut_events)
    return _after_its_options(
        run, [*groups(*_FORMS, "names"), *choosing, *groups("captures"), *groups(*(["spreading"] if is_spread else []))]
    )


def _after_its_options(verb: Callable[..., None], options: list[click.Parameter]) -> Callable[..., None]:
    """The verb with these options after those that it declares itself, in `--help` too."""
    declared = getattr(verb, "__click_params__", [])
    verb.__click_params__ = [*reversed(options), *declared]  # type: ignore[attr-defined]  # click reads it from its end
    return verb


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


class CommandOfKinds(click.Command):
    """A verb about several kinds of documents: shows the options of all, and runs the command of the one that is meant.

    Parameters
    ----------
    commands
        By kind of document.
    choose
        Takes the arguments, and the kinds that alone have an option which is given (beside kinds before them); returns
        the kind that is meant.
    """

    def __init__(
        self, name: str, commands: dict[str, click.Command], choose: Callable[[list[str], set[str]], str], **how: Any
    ) -> None:
        params: list[click.Parameter] = [click.Argument(["paths"], nargs=-1, required=True, type=click.Path(), **how)]
        self.kind_of_option: dict[str, str] = {}
        for kind, command in commands.items():
            options = [each for each in command.params if isinstance(each, click.Option)]
            more = [each for each in options if not self.kind_of_option.keys() & {*each.opts}]
            params += more
            self.kind_of_option |= {option: kind for each in more for option in each.opts}
        super().__init__(name, params=params, help=read_declaration("cli", "options", name)["help"])
        self.commands, self.choose = commands, choose

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the command that is meant."""
        if {"-h", "--help"} & set(args):
            return super().make_context(info_name, args, parent, **extra)
        kinds = {self.kind_of_option.get(word.partition("=")[0], "") for word in args}
        kind = self.choose(self._arguments(args), kinds)
        try:
            return self.commands[kind].make_context(info_name, args, parent=parent, **extra)
        except click.NoSuchOption as error:
            if error.option_name not in self.kind_of_option:
                raise
            from wavewright.errors import UsageError

            what = f"{error.option_name} does not apply to {KINDS[kind]}"
            raise UsageError(what, advice=f"`wavewright {info_name} --help` says which options are for what") from error

    def _arguments(self, args: list[str]) -> list[str]:
        """The words that are arguments, neither options nor their values; none if there are mistakes."""
        context = click.Context(self, resilient_parsing=True)
        try:
            values, _, _ = self.make_parser(context).parse_args(list(args))
        except click.UsageError:  # the command of the kind reports it
            return []
        return list(values.get("paths") or ())


#: Kinds of documents, in words.
KINDS = {"trace": "thread traces", "run": "runs", "counters": "counter captures"}
