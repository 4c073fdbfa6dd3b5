"""Words of a command line as the script of a release reads them: which options, with which values."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wavewright.capture.rocprofv3.options import Kind, Option, Version, option_named, options_in, version_of
from wavewright.capture.rocprofv3.releases import first_release_with, has_trap
from wavewright.errors import UsageError

_YES = frozenset({"y", "yes", "t", "true", "on", "1"})
_NO = frozenset({"n", "no", "f", "false", "off", "0"})
_NEGATIVE = re.compile(r"-\d+|-\d*\.\d+")
_INTEGER = re.compile(r"[+-]?\d+(?:_\d+)*")
_HEXADECIMAL = re.compile(r"[+-]?0x[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*")
_SHOWN = 60  #: Characters of a word that a message repeats.
#: What an option takes, for sentences.
_TAKES = {Kind.TEXT: "a value", Kind.CHOICE: "a value"}
_TAKES |= {Kind.WORDS: "at least one value", Kind.CHOICES: "at least one value"}
_TAKES |= {Kind.FILE: "the name of a file", Kind.INTEGER: "an integer", Kind.NUMBER: "a number"}


@dataclass(frozen=True)
class Given:
    """An option with its values on a command line."""

    option: Option
    name: str  #: As it was written.
    values: tuple[str, ...]

    @property
    def is_on(self) -> bool:
        """True for an option with an effect: of those that take yes or no, yes."""
        if self.option.kind in (Kind.BOOLEAN, Kind.ANY_WORDS) and len(self.values) == 1:
            return self.values[0].strip().lower() not in _NO
        return True


def option_words(name: str, *values: str) -> tuple[str, ...]:
    """The words that give an option values, also where one starts with a hyphen.

    >>> option_words("-d", "out"), option_words("--kernel-include-regex", "-x")
    (('-d', 'out'), ('--kernel-include-regex=-x',))
    """
    if len(values) == 1 and _looks_like_an_option(values[0]):
        return (f"{name}={values[0]}" if name.startswith("--") else f"{name}{values[0]}",)
    return (name, *values)


def read_words(
    words: Sequence[str], version: Version, names: Mapping[str, Option] | None = None, *, where: str = "rocprofv3"
) -> tuple[Given, ...]:
    """The options that words give, as the script of a release would read them.

    `words` are without the program and the `--` before it; `names` are the options that are there, by every name (None
    = those that our table knows of the release); `where` is what an error calls the words.
    """
    known_names = options_in(version) if names is None else names
    queue = list(words)
    given: list[Given] = []
    while queue:
        name, attached = _split(queue.pop(0), known_names, version, where)
        option = known_names[name]
        values = [attached] if attached is not None else []
        if attached is None:
            while queue and _takes_more(option, len(values), version) and not _looks_like_an_option(queue[0]):
                values.append(queue.pop(0))
        _check_values(option, name, values, version, where)
        given.append(Given(option, name, tuple(values)))
    return tuple(given)


def _looks_like_an_option(word: str) -> bool:
    """True for a word that argparse takes for an option: not numbers, a single hyphen, or anything with a space."""
    return len(word) > 1 and word.startswith("-") and not _NEGATIVE.fullmatch(word) and " " not in word


def _split(word: str, names: Mapping[str, Option], version: Version, where: str) -> tuple[str, str | None]:
    """The name in a word, and the value that is attached to it: --name=value, -nvalue."""
    if word in names:
        return word, None
    name, equals, value = word.partition("=")
    if equals and name in names:
        return name, value
    short = word[:2]
    if _looks_like_an_option(word) and not word.startswith("--") and short in names:
        if names[short].kind in (Kind.NOTHING, Kind.BOOLEAN):
            raise UsageError(f"{word[:_SHOWN]!r} joins several options", where=where, advice="write them apart")
        return short, word[2:]
    if not _looks_like_an_option(word):
        advice = "options for rocprofv3 come first, and the program after --"
        raise UsageError(f"{word[:_SHOWN]!r} belongs to no option", where=where, advice=advice)
    what = f"rocprofv3 of ROCm {'.'.join(map(str, version))} does not have {name[:_SHOWN]}"
    raise UsageError(what, where=where, advice=_other(name, names, version))


def _other(name: str, names: Mapping[str, Option], version: Version) -> str:
    """The advice about an option that is not there."""
    option = option_named(name)
    if option is not None:
        if option.last and version > version_of(option.last):
            return f"ROCm {option.last} was the last that did"
        return f"the first release that does is ROCm {first_release_with(name)}"
    similar = difflib.get_close_matches(name, sorted(names), n=1)
    return f"did you mean {similar[0]}?" if similar else "rocprofv3 --help lists what it has"


def _takes_more(option: Option, count: int, version: Version) -> bool:
    if option.kind in (Kind.WORDS, Kind.ANY_WORDS, Kind.CHOICES):
        return True
    if option.kind is Kind.NOTHING or (option.kind is Kind.BOOLEAN and has_trap(version, "no boolean values")):
        return False
    return count == 0


def _check_values(option: Option, name: str, values: Sequence[str], version: Version, where: str) -> None:
    """Refuse values that the script would refuse."""
    if option.kind is Kind.NOTHING or (option.kind is Kind.BOOLEAN and has_trap(version, "no boolean values")):
        if values:
            raise UsageError(f"{name} takes no value in this release", where=where, advice=f"write {name} alone")
        return
    if not values and option.kind in _TAKES:
        raise UsageError(f"{name} needs {_TAKES[option.kind]}", where=where)
    choices = option.choices_in(version)
    is_one_of_any = option.kind is Kind.ANY_WORDS and len(values) == 1  # one yes or no for all categories of OpenMP
    for value in values:
        shown = value[:_SHOWN]
        if option.kind is Kind.BOOLEAN and value.lower() not in _YES | _NO:
            advice = "put -- before the program's name"
            raise UsageError(f"{name} takes yes or no, not {shown!r}", where=where, advice=advice)
        if option.kind is Kind.INTEGER and not _INTEGER.fullmatch(value.strip()):
            raise UsageError(f"{name} takes an integer, not {shown!r}", where=where)
        if option.kind is Kind.NUMBER and number_of(value) is None:
            advice = "decimal or 0x..., without a unit"
            raise UsageError(f"{name} takes a number, not {shown!r}", where=where, advice=advice)
        if choices and value not in choices and not (is_one_of_any and value in _YES | _NO):
            later = option.choices.get(value)
            advice = f"the first release that takes it is ROCm {later}" if later else f"it takes {', '.join(choices)}"
            raise UsageError(f"{name} does not take {shown!r} in this release", where=where, advice=advice)


def number_of(text: str) -> int | None:
    """A number as the options of thread traces take it; None = they do not."""
    stripped = text.strip()
    if "0x" in stripped:
        return int(stripped, 16) if _HEXADECIMAL.fullmatch(stripped) else None
    return int(stripped) if _INTEGER.fullmatch(stripped) else None
