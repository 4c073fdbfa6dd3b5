"""The keys of a jobs file, which keys.toml declares, and the readers of their values."""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.base.bounds import Bounds
from wavewright.capture.jobs.stored import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

NAME_LETTERS_MAX = 200
_WORDS_MAX, _WORD_LETTERS_MAX = 4096, 128 * 1024
_LAUNCHES_MAX = 10_000
_SECONDS = Bounds(0.01, 1e7)
_UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class WrongValueError(Exception):
    """What is wrong with a value, and what it may be."""


@dataclass(frozen=True)
class Key:
    """One key of a job, as keys.toml declares it."""

    name: str
    read: Callable[[Any], Any]  #: Raises WrongValueError.
    form: str  #: What it may be, for people.
    meaning: str
    field: str = ""  #: Of Wanted, Limits or Job; empty = the key's name.
    kinds: tuple[str, ...] = tuple(KINDS)
    is_for_defaults: bool = True


def text(value: Any) -> str:
    """A text without control characters."""
    if not isinstance(value, str):
        raise WrongValueError("a text in quotes")
    if "\0" in value or len(value) > _WORD_LETTERS_MAX:
        raise WrongValueError(f"a text without NUL characters, at most {_WORD_LETTERS_MAX:,} characters long")
    return value


def name(value: Any) -> str:
    """The name of a job: one printable line."""
    line = text(value)
    if not line.strip() or len(line) > NAME_LETTERS_MAX or not line.isprintable():
        raise WrongValueError(f"a printable line of 1 to {NAME_LETTERS_MAX} characters")
    return line


def kind(value: Any) -> str:
    """The kind of a job."""
    if not isinstance(value, str) or value not in KINDS:
        raise WrongValueError(" or ".join(KINDS))
    return str(value)


def words(value: Any) -> tuple[str, ...]:
    """A list of words, or a text that is split like a line of a shell.

    Examples
    --------
    >>> words("python 'a b.py'"), words(["python", "a b.py"])
    (('python', 'a b.py'), ('python', 'a b.py'))
    """
    if isinstance(value, str):
        try:
            value = shlex.split(text(value))
        except ValueError as error:
            raise WrongValueError(f"a line that a shell could split ({error})") from error
    if not isinstance(value, list) or not value or len(value) > _WORDS_MAX:
        raise WrongValueError(f"a text, or a list of 1 to {_WORDS_MAX:,} texts")
    return tuple(text(word) for word in value)


def names(value: Any) -> tuple[str, ...]:
    """One text, or a list of texts."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or len(value) > _WORDS_MAX:
        raise WrongValueError("a text, or a list of texts")
    return tuple(text(word) for word in value)


def passes(value: Any) -> tuple[tuple[str, ...], ...]:
    """Lists of counters, one per run of the program."""
    if not isinstance(value, list) or not value or not all(isinstance(part, list) and part for part in value):
        raise WrongValueError("a list of lists of names of counters")
    return tuple(tuple(text(word) for word in part) for part in value)


def variables(value: Any) -> dict[str, str]:
    """Variables for the program."""
    if not isinstance(value, dict):
        raise WrongValueError('a table, as { OMP_NUM_THREADS = "1" }')
    for variable, content in value.items():
        if not isinstance(content, str) or "\0" in content:
            raise WrongValueError(f"a table of texts; {variable!r} is none")
        if not re.fullmatch(r"[^=\0\s][^=\0]*", variable):
            raise WrongValueError(f"a table of names and texts; {variable!r} cannot be the name of a variable")
    return dict(value)


def launches(value: Any) -> tuple[int, ...]:
    """Launches of the kernel, from 1.

    Examples
    --------
    >>> launches("7-9,12"), launches([7, 8]), launches(3)
    ((7, 8, 9, 12), (7, 8), (3,))
    """
    wrong = WrongValueError(f"numbers from 1 on, at most {_LAUNCHES_MAX:,}: 7, [7, 8] or '7-8'")
    if isinstance(value, str):
        numbers: list[int] = []
        for part in value.split(","):
            form = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", part)
            if not form:
                raise wrong
            first, last = int(form[1]), int(form[2] or form[1])
            if last < first or last - first >= _LAUNCHES_MAX:
                raise wrong
            numbers += range(first, last + 1)
        value = numbers
    value = value if isinstance(value, list) else [value]
    if not value or len(value) > _LAUNCHES_MAX:
        raise wrong
    if not all(type(number) is int and 1 <= number < 1 << 31 for number in value):
        raise wrong
    return tuple(sorted(set(value)))


def size(value: Any) -> int:
    """Bytes, with or without a unit.

    Examples
    --------
    >>> size("256 MiB"), size(4096)
    (268435456, 4096)
    """
    form = re.fullmatch(r"(\d{1,15})\s*([A-Za-z]{0,3})", value) if isinstance(value, str) else None
    count = int(form[1]) * _UNITS.get(form[2], 0) if form else value
    if type(count) is not int or not 1 <= count < 1 << 50:
        raise WrongValueError(f"a number of bytes, or a text with a unit ({', '.join(list(_UNITS)[1:])})")
    return count


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise WrongValueError("true or false")
    return value


def whole(low: int, high: int) -> Callable[[Any], int]:
    """A reader of integers within bounds."""

    def read(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise WrongValueError(f"an integer from {low:,} to {high:,}")
        return value

    return read


def seconds(value: Any) -> float:
    """A time."""
    if type(value) not in (int, float) or not _SECONDS.holds(value):
        raise WrongValueError(f"a number of seconds, from {_SECONDS.low:g} to {_SECONDS.high:g}")
    return float(value)


def word(*choices: str) -> Callable[[Any], str]:
    """A reader of one of some words."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise WrongValueError(" or ".join(choices))
        return str(value)

    return read


_READERS: dict[str, Callable[[Any], Any]] = {
    "text": text,
    "line": name,
    "kind": kind,
    "words": words,
    "names": names,
    "passes": passes,
    "variables": variables,
    "launches": launches,
    "size": size,
    "flag": flag,
    "seconds": seconds,
}


def _key(name: str, row: dict[str, Any]) -> Key:
    bounds, choices, reader = row.pop("bounds", None), row.pop("choices", None), row.pop("reader", "")
    read = whole(*bounds) if bounds else word(*choices) if choices else _READERS[reader]
    return Key(name, read, **{**row, "kinds": tuple(row.get("kinds", KINDS))})


KEYS = {
    name: _key(name, row)
    for name, row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}
