"""Options of verbs, made of what TOML files declare: beside the questions, and in `cli/options`."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from wavewright.base import bounds
from wavewright.cli.kit.form import CALLBACKS, refuse_format_with_brief, refuse_with_brief
from wavewright.cli.kit.verbs import read_declaration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wavewright.base.bounds import Bounds
    from wavewright.questions.kit.question import Question

    Span = tuple[int | None, int | None]


class Whole(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in newer versions of click only
    """An integer within bounds; the bounds are said to who leaves them, not in the help of every verb.

    With a letter it may be written as the handle by which answers name things: r3 for rank 3.
    """

    name = "integer"
    kind = "an integer"  #: As messages call it.

    def __init__(self, bounds: Bounds, letter: str = "") -> None:
        self.bounds = bounds
        self.letter = letter

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number that was typed, within its bounds."""
        try:
            number = self.number(without_letter(str(value), self.letter))
        except ValueError:
            self.fail(f"{str(value)[:40]!r} is not {self.kind}.", param, ctx)
        if not self.bounds.holds(number):
            low, high = self.bounds
            self.fail(f"{str(value)[:40]} is not from {low:,} to {high:,}.", param, ctx)
        return number

    def number(self, text: str) -> float:
        """The number of a text."""
        return int(text)


def without_letter(text: str, letter: str) -> str:
    """The number of a handle of this letter; other texts as they are.

    >>> without_letter("r3", "r"), without_letter("3", "r"), without_letter("rank", "r")
    ('3', '3', 'rank')
    """
    rest = text.removeprefix(letter)
    return rest if rest.isascii() and rest.isdigit() else text


class Real(Whole):
    """Any number within bounds."""

    name = "float"
    kind = "a number"

    def number(self, text: str) -> float:
        """The number of a text."""
        return float(text)


class Mask(Whole):
    """A mask or a number, decimal or 0x..."""

    kind = "a number, as 17 or 0x11"

    def number(self, text: str) -> float:
        """The number of a text."""
        return int(text, 0)


def declaration_of(question: Question[Any]) -> dict[str, Any]:
    """The help and the options of the verb that answers a question; nothing if it has no file."""
    try:
        return read_declaration("questions", question.kind, "verbs", question.name.replace("-", "_"))
    except FileNotFoundError:
        return {}


@cache
def _shared_groups() -> dict[str, Any]:
    return read_declaration("cli", "options", "shared")


def options(
    entries: Iterable[Mapping[str, Any]], groups: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
) -> list[click.Parameter]:
    """Make the options that entries of a TOML file declare, in their order.

    An entry with `like` stands for all options of that group, of `groups` or of `cli/options/shared.toml`; its other
    keys are put into the braces of their help.
    """
    groups = _shared_groups() | dict(groups or {})
    parameters: list[click.Parameter] = []
    for entry in entries:
        if "like" not in entry:
            parameters.append(_parameter(click.Option, **entry))
            continue
        options_of_group = options(groups[entry["like"]], groups)
        for option in options_of_group if len(entry) > 1 else ():
            if isinstance(option, click.Option) and option.help:
                option.help = option.help.format(**entry)
        parameters += options_of_group
    return parameters


def arguments(declared: Mapping[str, Any]) -> list[click.Parameter]:
    """Make the arguments that a TOML file declares."""
    return [_parameter(click.Argument, **entry) for entry in declared.get("argument", ())]


def own_command(place: Sequence[str], function: str, *, part: str = "option", **how: Any) -> click.Command:
    """Make a click command with the help, the arguments and the options of its file in `cli/options`.

    `function` is written as module:name below `wavewright.cli` and imported when the command runs: `--help` needs only
    the file. `part` is the key of the options in that file.
    """
    declared = read_declaration("cli", "options", *place)
    parameters = [*arguments(declared), *options(declared.get(part, ()))]

    def run(**given: Any) -> None:
        module, name = function.split(":")
        getattr(import_module(f"wavewright.cli.{module}"), name)(**given)

    return click.Command(place[-1], params=parameters, help=declared["help"], callback=run, **how)


def _parameter(
    of: Callable[..., click.Parameter],
    *,
    names: str,
    type: str = "",  # noqa: A002 - click's name
    choices: Sequence[str] = (),
    excludes_brief: bool = False,
    callback: str = "",
    completes: str = "",
    **fields: Any,
) -> click.Parameter:
    if excludes_brief:
        fields["callback"] = refuse_format_with_brief if choices else refuse_with_brief
    elif callback:
        fields["callback"] = CALLBACKS[callback]
    if completes:
        fields["shell_complete"] = lambda _context, _parameter, incomplete: _completions(completes, incomplete)
    if choices:
        fields["type"] = click.Choice(choices)
    elif type:
        name, *words = type.split()
        fields["type"] = _TYPES[name](*words)
        if name in ("span", "window"):
            fields["default"] = (None, None)
    return of(names.split(), **fields)


def _completions(words: str, incomplete: str) -> list[str]:
    """Words that begin so: names of metrics, tables and panels; panels alone; targets."""
    from wavewright.facts.metrics.catalog import catalog
    from wavewright.facts.metrics.families import METRIC_TARGETS

    if words == "targets":
        names = list(METRIC_TARGETS)
    else:
        parts = ("panel_word",) if words == "panels" else ("panel_word", "table_id", "name")
        names = [getattr(entry, part) for entry in catalog() for part in parts]
    return [word for word in dict.fromkeys(names) if word.lower().startswith(incomplete.lower())]


def _span(value: Any) -> Span:
    """`A:B`, `A:`, `:B` or `A` alone: two numbers, None = not given."""
    if isinstance(value, tuple):
        return value
    first, colon, last = str(value).replace(",", "").replace("_", "").partition(":")
    try:
        begin = int(first, 0) if first else None
        end = (int(last, 0) if last else None) if colon else begin
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a number or a range A:B") from None
    if (begin is None and end is None) or (begin is not None and end is not None and end < begin):
        raise click.BadParameter(f"{value!r} is an empty range")
    return begin, end


def _window(value: Any) -> tuple[str | None, str | None]:
    """`A:B`, `A:` or `:B`; percent, times with units, or nanoseconds."""
    if isinstance(value, tuple):
        return value
    begin, colon, end = str(value).partition(":")
    if not colon or not (begin or end):
        raise click.BadParameter(f"{value!r} is not a window A:B, A: or :B")
    return begin.strip() or None, end.strip() or None


def _size(value: str) -> tuple[int, ...]:
    """`256`, `16,16` or `16x16x4`."""
    from wavewright.errors import UsageError
    from wavewright.questions.kit.parameters import size

    try:
        return size(value)
    except UsageError as error:
        raise click.BadParameter(f"{error.what}.") from None


_IDS = r"\s*(?:(?P<first>\d{1,30})\s*(?:[-:]\s*(?P<last>\d{1,30}))?|(?P<sign>[<>]=?)\s*(?P<bound>\d{1,30}))\s*"


def _dispatches(value: str) -> Span:
    """`5`, `3-7`, `>10`, `<=4`: the first and the last id, None = open."""
    match = re.fullmatch(_IDS, without_letter(value, "d").replace(",", "").replace("_", ""))
    if match is None:
        raise click.BadParameter(f"{value[:40]!r} is not an id, a range (3-7) or a bound ('>10')")
    if match["sign"]:
        bound, is_open = int(match["bound"]), len(match["sign"]) == 1
        return (bound + is_open, None) if match["sign"][0] == ">" else (None, bound - is_open)
    first, last = int(match["first"]), int(match["last"] or match["first"])
    if last < first:
        raise click.BadParameter(f"{value!r} is an empty range")
    return first, last


def _dispatch(value: str) -> str:
    """A dispatch as `wavewright info` lists it: its number, or `NUMBER@WHERE` where several have the number."""
    number, at, where = value.partition("@")
    if number or not at:
        number = str(Whole(bounds.ID, "d").convert(number, None, None))
    if at and not where:
        raise click.BadParameter(f"{value[:40]!r} names no folder or agent after @.")
    return f"{number}{at}{where}"


def _marker(value: str) -> str:
    """The name of a marker, or its pattern between slashes, before any file is read."""
    from wavewright.analysis.run.select.step_ranges import marker_pattern

    marker_pattern(value)
    return value


def _job_value(name: str) -> Callable[[Any], Any]:
    """A value that a jobs file may hold, too, read by the same function: `launches` or `size`."""

    def value_of(given: Any) -> Any:
        from wavewright.capture.pool import keys

        try:
            return getattr(keys, name)(given) if isinstance(given, str) else given
        except keys.WrongValueError as error:
            raise click.BadParameter(f"{given[:40]!r} is not {error}.") from error

    return value_of


def path_type(**how: bool) -> click.Path:
    """The type of an argument or option that is a path."""
    from pathlib import Path  # not at the top: verbs without such options start faster

    return click.Path(path_type=Path, **how)


def _run_format() -> click.ParamType:  # type: ignore[type-arg,unused-ignore]
    from wavewright.cli.kit.formats import FormatName

    return FormatName()


#: Word of a declaration -> type, made with the words after it; those of numbers are bounds and the letter of handles.
_TYPES: dict[str, Callable[..., Any]] = {
    "whole": lambda name, letter="": Whole(getattr(bounds, name), letter),
    "from": lambda low, high: Whole(bounds.Bounds(int(low), int(high))),
    "real": lambda name: Real(getattr(bounds, name)),
    "mask": lambda low, high: Mask(bounds.Bounds(int(low), int(high))),
    "span": lambda: _span,
    "window": lambda: _window,
    "size": lambda: _size,
    "dispatch": lambda: _dispatch,
    "dispatches": lambda: _dispatches,
    "marker": lambda: _marker,
    "job": _job_value,
    "run-format": _run_format,
    "name": click.Path,
    "path": path_type,
    "file": lambda: path_type(exists=True, dir_okay=False),
    "folder": lambda: path_type(exists=True, file_okay=False),
    "output-file": lambda: path_type(dir_okay=False),
    "output-folder": lambda: path_type(file_okay=False),
}
