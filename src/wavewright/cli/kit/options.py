"""Options of verbs, made of what TOML files declare: beside the questions, and in `cli/options`."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from wavewright.base import bounds
from wavewright.cli.kit.form import (
    csv_option,
    json_flag,
    json_option,
    refuse_format_with_brief,
    refuse_with_brief,
    top_option,
)
from wavewright.cli.kit.numbers import DispatchKey, Real, Whole, without_letter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wavewright.questions.kit.question import Question

    Span = tuple[int | None, int | None]

_HERE = os.path.dirname(__file__)  # noqa: PTH120 - no pathlib in `--help`
_DIMENSIONS = 3


def read_declaration(*words: str) -> dict[str, Any]:
    """The TOML file at this path below the package, without its ending."""
    import tomllib

    with open(os.path.join(_HERE, "..", "..", *words) + ".toml", "rb") as file:  # noqa: PTH118, PTH123 - as above
        return tomllib.load(file)


def declaration_of(question: Question[Any]) -> dict[str, Any]:
    """The help and the options of the verb that answers a question; nothing if it has no file."""
    try:
        return read_declaration("questions", question.kind, "verbs", question.name.replace("-", "_"))
    except FileNotFoundError:
        return {}


@cache
def _shared() -> dict[str, Any]:
    return read_declaration("cli", "options", "shared")


def group(name: str, **words: str) -> list[click.Parameter]:
    """Options that several verbs have; `words` stand for names in braces in their help."""
    if name in _FORMS:
        return _parameters_of(_FORMS[name])
    parameters = options(_shared()[name])
    for parameter in parameters if words else ():
        if isinstance(parameter, click.Option) and "{" in (parameter.help or ""):
            parameter.help = str(parameter.help).format(**words)
    return parameters


def groups(*names: str) -> list[click.Parameter]:
    """The options of several groups, one after the other."""
    return [option for name in names for option in group(name)]


def options(entries: Iterable[Mapping[str, Any]]) -> list[click.Parameter]:
    """The options that entries of a TOML file declare, in their order."""
    parameters: list[click.Parameter] = []
    for entry in entries:
        if "like" in entry:
            parameters += group(entry["like"])
        else:
            parameters.append(_option(**entry))
    return parameters


def declared_options(verb: str, kind: str = "option") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a verb the help and the options of its file in `cli/options`; `kind` is the name of a part of these."""
    declared = read_declaration("cli", "options", verb)

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__doc__ = declared["help"]
        return with_parameters(function, options(declared.get(kind, ())))

    return add


def with_parameters(verb: Callable[..., Any], parameters: Sequence[click.Parameter]) -> Callable[..., Any]:
    """The verb with these parameters before those that it has, in `--help` too."""
    declared = getattr(verb, "__click_params__", [])
    verb.__click_params__ = [*declared, *reversed(parameters)]  # type: ignore[attr-defined]  # click reads it from its end
    return verb


def _parameters_of(decorator: Callable[[Callable[..., None]], Any]) -> list[click.Parameter]:
    def holder() -> None: ...

    return [*reversed(decorator(holder).__click_params__)]


def _option(
    names: str,
    *,
    type: str = "",  # noqa: A002 - click's name
    choices: Sequence[str] = (),
    excludes_brief: bool = False,
    **fields: Any,
) -> click.Option:
    if excludes_brief:
        fields["callback"] = refuse_format_with_brief if choices else refuse_with_brief
    if choices:
        fields["type"] = click.Choice(choices)
    elif type:
        name, *words = type.split()
        fields["type"] = _TYPES[name](*words)
        if name in ("span", "window"):
            fields["default"] = (None, None)
    return click.Option(names.split(), **fields)


class _Span(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in newer versions of click only
    """`A:B`, `A:`, `:B` or `A` alone: two numbers, None = not given."""

    name = "A:B"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Span:
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


class _Window(click.ParamType):  # type: ignore[type-arg,unused-ignore]
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


class _Size(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """`256`, `16,16` or `16x16x4`: one to three dimensions; those that are not given are 1."""

    name = "X[,Y[,Z]]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int, int]:
        if isinstance(value, tuple):
            return value
        words = str(value).lower().replace("x", ",").split(",")
        if not all(word.strip().isascii() and word.strip().isdigit() for word in words) or len(words) > _DIMENSIONS:
            self.fail(f"{str(value)[:40]!r} is not a size such as 256 or 16,16.", param, ctx)
        x, y, z = ([int(word) for word in words] + [1, 1])[:_DIMENSIONS]
        return x, y, z


class _Dispatches(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """`5`, `3-7`, `>10`, `<=4`: the first and the last id, None = open."""

    name = "ID"
    _FORM = r"\s*(?:(?P<first>\d{1,30})\s*(?:[-:]\s*(?P<last>\d{1,30}))?|(?P<sign>[<>]=?)\s*(?P<bound>\d{1,30}))\s*"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Span:
        if isinstance(value, tuple):
            return value
        text = without_letter(str(value), "d")
        match = re.fullmatch(self._FORM, text.replace(",", "").replace("_", ""))
        if match is None:
            self.fail(f"{str(value)[:40]!r} is not an id, a range (3-7) or a bound ('>10')", param, ctx)
        if match["sign"]:
            bound, is_open = int(match["bound"]), len(match["sign"]) == 1
            return (bound + is_open, None) if match["sign"][0] == ">" else (None, bound - is_open)
        first, last = int(match["first"]), int(match["last"] or match["first"])
        if last < first:
            self.fail(f"{value!r} is an empty range", param, ctx)
        return first, last


def path_type(**how: bool) -> click.Path:
    """The type of an argument or option that is a path."""
    from pathlib import Path  # not at the top: verbs without such options start faster

    return click.Path(path_type=Path, **how)


def _run_format() -> click.ParamType:  # type: ignore[type-arg,unused-ignore]
    from wavewright.cli.kit.run_files import FormatName

    return FormatName()


#: Word of a declaration -> type, made with the words after it; those of numbers are bounds and the letter of handles.
_TYPES: dict[str, Callable[..., Any]] = {
    "whole": lambda name, letter="": Whole(getattr(bounds, name), letter),
    "from": lambda low, high: Whole(bounds.Bounds(int(low), int(high))),
    "real": lambda name: Real(getattr(bounds, name)),
    "span": _Span,
    "window": _Window,
    "size": _Size,
    "dispatch": DispatchKey,
    "dispatches": _Dispatches,
    "run-format": _run_format,
    "name": click.Path,
    "path": path_type,
    "file": lambda: path_type(exists=True, dir_okay=False),
    "folder": lambda: path_type(exists=True, file_okay=False),
    "output-file": lambda: path_type(dir_okay=False),
    "output-folder": lambda: path_type(file_okay=False),
}
_FORMS: dict[str, Callable[..., Any]] = {
    "top": top_option,
    "csv": csv_option,
    "json": json_option,
    "json-alone": json_flag,
}
