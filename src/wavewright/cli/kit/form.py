"""The form of an answer: text, one JSON object, its compact form, CSV, or a brief in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wavewright.base.bounds import TOP
from wavewright.cli.kit.numbers import Whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.cli.kit.brief import Brief

DEFAULT_TOP = 20
FORM_NAMES = ("top", "as_csv", "as_json")  #: Of the options of every verb that prints an answer.
_CHOSEN, _COMPACT, _BRIEF = "wavewright.forms", "wavewright.compact", "wavewright.brief"  #: Keys in click's context.


def current_brief() -> Brief | None:
    """The brief that is being made; None = another form was asked for."""
    context = click.get_current_context(silent=True)
    brief: Brief | None = context.meta.get(_BRIEF) if context else None
    return brief


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
    top: int | None = context.params.get("top") if context else None
    return top


def refuse_with_brief(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Callback of options that choose a form: none of them goes with --brief.

    Raises
    ------
    UsageError
        When --brief is given as well.
    """
    if value:
        _choose(context, parameter.opts[-1])
    return value


def refuse_format_with_brief(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """The same for --format, which may ask for text."""
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


#: --json alone, for what goes on until somebody stops it.
json_flag = click.option(
    "--json", "as_json", is_flag=True, callback=_as_json, help="Print one JSON object instead of text."
)
_compact_option = click.option(
    "--compact",
    is_flag=True,
    is_eager=True,  # before --json, which it implies
    expose_value=False,
    callback=_as_compact,
    help="JSON on one line, for programs with little room: columns and rows, at most --top rows (20), no definitions.",
)
_brief_option = click.option(
    "--brief",
    is_flag=True,
    expose_value=False,
    callback=_as_brief,
    help="Markdown within 2,000 tokens, for agents and tickets; ends with what to ask next.",
)


def json_option(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb --json, passed on as `as_json`, its compact form, and --brief."""
    for option in (_brief_option, _compact_option, json_flag):
        verb = option(verb)
    return verb


def events_option(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb that goes on for long --json, which prints events, passed on as `as_json`; and --brief."""
    return _events_flag(_brief_option(verb))


_events_flag = click.option(
    "--json",
    "as_json",
    is_flag=True,
    callback=refuse_with_brief,
    help="Print events, one JSON object per line.",
)

top_option = click.option("--top", type=Whole(TOP), metavar="N", help=f"Rows to show; 0 = all. Default: {DEFAULT_TOP}.")
csv_option = click.option(
    "--csv",
    "as_csv",
    is_flag=True,
    callback=refuse_with_brief,
    help="Print the main table as CSV instead of text.",
)
