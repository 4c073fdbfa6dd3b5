"""What to ask next after each verb, as commands that can be copied."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.core import ParameterSource

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import click

    from wavewright.model.report import NextQuestion

_HANDLE = "{handle}"  #: The first instruction that the answer names; without one, the command is left out.
_MOST = 3

#: (verb, kind of document; empty = any) -> verb and options of what to ask next, the most useful first.
NEXT: dict[tuple[str, str], tuple[str, ...]] = {
    ("barriers", ""): (f"source --at {_HANDLE}", "waves", "diagnose"),
    ("baseline", ""): ("info",),
    ("busy", ""): ("gaps", "overlap", "summary"),
    ("collectives", ""): ("ranks", "overlap", "path"),
    ("compare", "counters"): ("diagnose", "roofline"),
    ("compare", "run"): ("summary", "diagnose --run"),
    ("compare", "trace"): ("diagnose", "hotspots"),
    ("counters", ""): ("diagnose", "roofline", "memory-chart"),
    ("coverage", ""): ("diagnose", "hotspots"),
    ("diagnose", "counters"): ("counters", "roofline", "l2"),
    ("diagnose", "run"): ("summary", "gaps", "path"),
    ("diagnose", "trace"): (f"source --at {_HANDLE}", "waits", "hotspots --by line"),
    ("disassemble", ""): ("occupancy",),
    ("gaps", ""): ("launches", "path", "regions"),
    ("gate", ""): ("diagnose", "info"),
    ("hotspots", ""): (f"source --at {_HANDLE}", "waits", "diagnose"),
    ("info", "counters"): ("diagnose", "counters", "roofline"),
    ("info", "run"): ("diagnose --run", "summary", "gaps"),
    ("info", "trace"): ("diagnose", "hotspots", "coverage"),
    ("kernels", ""): ("summary", "gaps", "diagnose --run"),
    ("l2", ""): ("memory-chart", "diagnose", "roofline"),
    ("lanes", ""): (f"source --at {_HANDLE}", "latency", "diagnose"),
    ("latency", ""): (f"source --at {_HANDLE}", "waits", "diagnose"),
    ("launches", ""): ("gaps", "regions", "path"),
    ("loops", ""): (f"source --at {_HANDLE}", "hotspots --by line", "waits"),
    ("memory", ""): ("regions", "summary"),
    ("memory-chart", ""): ("l2", "roofline", "diagnose"),
    ("occupancy", "trace"): ("diagnose", "states", "waves"),
    ("overlap", ""): ("busy", "gaps", "collectives"),
    ("path", ""): ("gaps", "launches", "diagnose --run"),
    ("query", ""): ("schema", "tables"),
    ("ranks", ""): ("collectives", "steps", "gaps"),
    ("regions", ""): ("launches", "summary", "path"),
    ("roofline", ""): ("diagnose", "memory-chart", "counters"),
    ("schema", ""): ("tables", "summary"),
    ("source", ""): ("waits", "latency", "diagnose"),
    ("stalls", ""): ("waits", "hotspots", "diagnose"),
    ("states", ""): ("occupancy", "stalls", "diagnose"),
    ("steps", ""): ("path", "gaps", "ranks"),
    ("summary", ""): ("diagnose --run", "gaps", "kernels ''"),
    ("tables", ""): ("schema", "summary", "info"),
    ("top", ""): ("summary", "kernels ''", "diagnose --run"),
    ("waits", ""): (f"source --at {_HANDLE}", "latency", "diagnose"),
    ("waves", ""): ("barriers", "hotspots", "diagnose"),
}

#: Commands of verbs without a path of data.
_ALONE = {
    "doctor": ("wavewright capture discover --dry-run -- ./program"),
    "metrics": ("wavewright metrics --brief", "wavewright metrics --target gfx942 --panel l2 --brief"),
    "schema": ("wavewright schema --view kernels --brief",),
}
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


def next_commands(
    context: click.Context, verb: str, kind: str, paths: Sequence[str], handles: Sequence[str]
) -> list[str]:
    """The commands to be offered after a verb about these paths, whose answer names these handles."""
    if not paths:
        return list(_ALONE.get(verb, ()))
    if verb == "compare":
        paths = paths[-1:]  # what is new
    offered = []
    for template in NEXT.get((verb, kind), NEXT.get((verb, ""), ())):
        if _HANDLE in template and not handles:
            continue
        words = template.replace(_HANDLE, handles[0] if handles else "").split()
        offered.append(command_line(words, paths, _carried(context, words[0])))
    return offered[:_MOST]


def asked_next(context: click.Context, kind: str, paths: Sequence[str], questions: Sequence[NextQuestion]) -> list[str]:
    """The commands that ask these questions."""
    from wavewright.base.shown import quoted
    from wavewright.report.kit.brief import command_of
    from wavewright.report.topics import TOPICS

    asked = []
    for question in questions[:_MOST]:
        verb = TOPICS[kind][question.topic].verb or question.topic
        line = command_of(question, paths, verb=verb, kind=kind)
        more = _carried(context, verb, {f"--{name}" for name in question.parameters})
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
