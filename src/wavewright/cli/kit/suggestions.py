"""Verbs and options that were meant by ones that do not exist: words of other tools, and slips of the keyboard."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from wavewright.cli.kit.verbs import read_declaration

if TYPE_CHECKING:
    from collections.abc import Collection

_MOST = 3  #: Suggestions at once.


def commands_meant(word: str, commands: Collection[str], of: str = "verb") -> list[str]:
    """Verbs, or kinds of capture, that may have been meant, the likeliest first.

    >>> commands_meant("isa", ["source", "stalls"]), commands_meant("Stall", ["source", "stalls"])
    (['source'], ['stalls'])
    >>> commands_meant("pmc", ["att", "counters"], "capture")
    ['counters']
    """
    typed = word.lower().replace("_", "-")
    declared = read_declaration("cli", "options", "suggestions")[f"{of}s"]
    meant = [verb for verb in declared.get(typed, ()) if verb in commands]
    starts = [verb for verb in commands if len(typed) > 1 and (verb.startswith(typed) or typed.startswith(verb))]
    near = get_close_matches(typed, commands, n=_MOST, cutoff=0.7)
    exact = [typed] if typed in commands else []  # but for capitals and underscores
    return list(dict.fromkeys([*exact, *meant, *starts, *([] if meant else near)]))[:_MOST]


def options_meant(word: str, options: Collection[str]) -> list[str]:
    """Options that may have been meant, the likeliest first.

    >>> options_meant("--limit", ["--top", "--time"]), options_meant("--disptach", ["--dispatch", "--time"])
    (['--top'], ['--dispatch'])
    """
    same: str | None = read_declaration("cli", "options", "suggestions")["options"].get(word)
    if same is not None and same in options:
        return [same]
    return get_close_matches(word, options, n=_MOST, cutoff=0.7)
