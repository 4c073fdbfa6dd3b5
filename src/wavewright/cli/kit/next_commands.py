"""What to ask next after each verb, as commands that can be copied."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.core import ParameterSource

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import click

    from wavewright.model.next_question import NextQuestion

_MOST = 3
_BEFORE_PATHS = ("kernels",)  #: Verbs whose words come before the paths.
#: Options that choose what an answer is about, which stay where the next verb has them.
CARRIED = (
    "--dispatch",
    "--kernel",
    "--code-object",
    "--resources",
    "--target",
    "--amd",
    "--pid",
    "--rank",
    "--gpu",
    "--stream",
    "--time",
    "--percent",
    "--source-root",
)


def next_commands(context: click.Context, verb: str, kind: str, paths: Sequence[str]) -> list[str]:
    """The commands to be offered after a verb about these paths, whatever it answered."""
    from wavewright.cli.kit.verbs import OWN_VERBS
    from wavewright.questions.catalog import QUESTIONS

    other = next((each for each in OWN_VERBS if each.name == verb), None)
    if other is None:
        kinds = [kind] if kind else QUESTIONS
        questions = [each for name in kinds for each in QUESTIONS.get(name, {}).values() if each.verb_name == verb]
        is_one_kind = len({each.kind for each in questions}) == 1  # then the verb need not say which
        return asked_next(context, questions[0].kind, paths, questions[0].next_always) if is_one_kind and paths else []
    if not paths:
        return list(other.then_alone)
    if verb == "compare":
        paths = paths[-1:]  # what is new
    offered = [template.split() for template in other.then_by_kind.get(kind, other.then)]
    return [command_line(words, paths, _carried(context, words[0])) for words in offered[:_MOST]]


def asked_next(context: click.Context, kind: str, paths: Sequence[str], questions: Sequence[NextQuestion]) -> list[str]:
    """The commands that ask these questions."""
    from wavewright.base.shown import quoted
    from wavewright.questions.catalog import QUESTIONS

    asked = []
    for each in questions[:_MOST]:
        question = QUESTIONS[kind][each.topic]
        line = question.command(paths, each.parameters)
        more = _carried(context, question.verb_name, {f"--{name}" for name in each.parameters})
        asked.append(" ".join([line.removesuffix(" --brief"), *map(quoted, more), "--brief"]))
    return list(dict.fromkeys(asked))


def command_line(words: Sequence[str], paths: Sequence[str], more: Sequence[str] = ()) -> str:
    """A command about the paths, for a shell.

    Examples
    --------
    >>> command_line(["source", "--at", "i0x1814"], ["my trace"])
    "wavewright source 'my trace' --at i0x1814 --brief"
    >>> command_line(["kernels", "''"], ["run.db"])
    "wavewright kernels '' run.db --brief"
    """
    from wavewright.base.shown import quoted

    verb, *rest = words
    if verb == "capture":
        verb, *rest = f"{verb} {rest[0]}", *rest[1:]
    named = [*rest, *map(quoted, paths)] if verb in _BEFORE_PATHS else [*map(quoted, paths), *rest]
    return " ".join(["wavewright", verb, *named, *map(quoted, more), "--brief"])


def _carried(context: click.Context, verb: str, without: Collection[str] = ()) -> list[str]:
    """Options of the command line that the next verb takes as well, with their values."""
    options = _options_of(context, verb) - set(without)
    words: list[str] = []
    for parameter in context.command.params:
        option = next((each for each in parameter.opts if each in CARRIED and each in options), None)
        name = parameter.name or ""
        if option is None or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params.get(name)
        if parameter.multiple:  # type: ignore[attr-defined,unused-ignore]
            words += [word for each in value or () for word in (option, _as_typed(each))]
        else:
            words += [option] if value is True else [option, _as_typed(value)]
    return words


def _as_typed(value: Any) -> str:
    if isinstance(value, tuple):  # a range A:B
        return ":".join("" if end is None else str(end) for end in value)
    return str(value) if isinstance(value, str | int | float | Path) else ""


def _options_of(context: click.Context, verb: str) -> set[str]:
    group = context.find_root().command
    command = group.get_command(context, verb)  # type: ignore[attr-defined]
    return {option for parameter in command.params for option in parameter.opts} if command else set()
