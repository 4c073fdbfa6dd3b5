"""Verbs and options that were meant by ones that do not exist: words of other tools, and slips of the keyboard."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from wavewright.cli.kit.verbs import read_declaration

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

_MOST = 3  #: Suggestions at once.


def _words() -> dict[str, Any]:
    return read_declaration("cli", "options", "suggestions")


def verbs_meant(word: str, verbs: Collection[str]) -> list[str]:
    """Verbs that may have been meant, the likeliest first.

    Examples
    --------
    >>> verbs_meant("isa", ["source", "stalls"]), verbs_meant("Stall", ["source", "stalls"])
    (['source'], ['stalls'])
    """
    return _meant(word, verbs, _words()["verbs"])


def captures_meant(word: str, captures: Collection[str]) -> list[str]:
    """Kinds of capture that may have been meant, the likeliest first.

    Examples
    --------
    >>> captures_meant("pmc", ["att", "counters"]), captures_meant("discovery", ["discover", "att"])
    (['counters'], ['discover'])
    """
    return _meant(word, captures, _words()["captures"])


def _meant(word: str, verbs: Collection[str], synonyms: Mapping[str, Sequence[str]]) -> list[str]:
    typed = word.lower().replace("_", "-")
    meant = [verb for verb in synonyms.get(typed, ()) if verb in verbs]
    starts = [verb for verb in verbs if len(typed) > 1 and (verb.startswith(typed) or typed.startswith(verb))]
    near = get_close_matches(typed, verbs, n=_MOST, cutoff=0.7)
    exact = [typed] if typed in verbs else []  # but for capitals and underscores
    return list(dict.fromkeys([*exact, *meant, *starts, *([] if meant else near)]))[:_MOST]


def options_meant(word: str, options: Collection[str]) -> list[str]:
    """Options that may have been meant, the likeliest first.

    Examples
    --------
    >>> options_meant("--limit", ["--top", "--time"]), options_meant("--disptach", ["--dispatch", "--time"])
    (['--top'], ['--dispatch'])
    """
    same = _words()["options"].get(word)
    if same in options:
        return [str(same)]
    return get_close_matches(word, options, n=_MOST, cutoff=0.7)
