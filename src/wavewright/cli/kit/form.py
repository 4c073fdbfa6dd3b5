"""The form of an answer: text, one JSON object, its compact form, CSV, or a brief in Markdown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from wavewright.cli.kit.brief import Brief

DEFAULT_TOP = 20  #: Rows of a table in text without --top.
_CHOSEN, _COMPACT, _BRIEF = "wavewright.forms", "wavewright.compact", "wavewright.brief"  #: Keys in click's context.


def current_brief() -> Brief | None:
    """The brief that is being made; None = another form was asked for."""
    context = click.get_current_context(silent=True)
    return context.meta.get(_BRIEF) if context else None


def ended_brief(context: click.Context) -> Brief | None:
    """The brief that was asked for, if one was, with all that belongs to it; standard output is itself again."""
    brief: Brief | None = context.meta.pop(_BRIEF, None)
    if brief is not None:
        brief.end()
    return brief


def is_about(kind: str) -> None:
    """Say for a brief what the answer is about: a trace, a run or counters."""
    if brief := current_brief():
        brief.kind = kind


def is_compact() -> bool:
    """True if the compact form of JSON was asked for."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(_COMPACT))


def asked_top() -> int | None:
    """The number of --top, where a verb has it; None = not given."""
    context = click.get_current_context(silent=True)
    return context.params.get("top") if context else None


def refuse_with_brief(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Callback of options that choose a form. Raises `UsageError` when --brief is given as well."""
    if value:
        _choose(context, parameter.opts[-1])
    return value


def refuse_format_with_brief(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Callback of --format: every form but text is refused together with --brief."""
    refuse_with_brief(context, parameter, value != "text")
    return value


def _choose(context: click.Context, name: str) -> None:
    chosen: list[str] = context.meta.setdefault(_CHOSEN, [])
    if chosen and "--brief" in (name, *chosen):
        from wavewright.errors import UsageError

        raise UsageError(f"{chosen[0]} and {name} ask for different forms", advice="give one of them")
    chosen.append(name)


def _as_json(context: click.Context, parameter: click.Parameter, value: bool) -> bool:
    return bool(refuse_with_brief(context, parameter, value)) or bool(context.meta.get(_COMPACT))


def _as_compact(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if refuse_with_brief(context, parameter, value):
        context.meta[_COMPACT] = True


def _as_brief(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        _choose(context, "--brief")
        from wavewright.cli.kit.brief import Brief  # few need it, and `--help` must stay fast

        brief = context.meta[_BRIEF] = Brief(context)
        brief.start()


def typed_again(*without: str, is_from_anywhere: bool = False) -> str:
    """The command line that was typed, without some options; with whole paths if it is to be typed in any folder."""
    from wavewright.base.shown import command_line  # few need it, and `--help` must stay fast

    context = click.get_current_context()
    words: list[str] = ["wavewright", str(context.info_name)]
    for parameter in context.command.params:
        name = parameter.name or ""
        # Options such as --brief have no value: they do not change what is made.
        is_given = name in context.params and context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not is_given or name in without:
            continue
        value = context.params[name]
        option = [parameter.opts[0]] if isinstance(parameter, click.Option) else []
        for item in value if isinstance(value, tuple) else (value,):
            is_path = is_from_anywhere and isinstance(item, os.PathLike)
            words += option if item is True else [*option, os.path.abspath(item) if is_path else str(item)]  # noqa: PTH100 - no pathlib in `--help`
    return command_line(words)


def _set_names_form(_context: click.Context, _parameter: click.Parameter, form: str) -> None:
    from wavewright.base.names_form import NAMES_FORM

    NAMES_FORM.set(form)


#: Word of the key `callback` in declarations of options -> the function that click calls.
CALLBACKS = {"json": _as_json, "compact": _as_compact, "brief": _as_brief, "names": _set_names_form}
