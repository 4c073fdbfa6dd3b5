"""The keys of a jobs file, which keys.toml declares, and the types of their values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from wavewright.capture.kinds import KINDS
from wavewright.capture.rocprofv3.grammar import read_launches
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged

_LAUNCHES_MAX = 10_000  #: Of one job.
_UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_Text = Annotated[str, Meta(max_length=128 * 1024)]  # patterns of msgspec 0.22 are freed too often
_Texts = Annotated[list[_Text], Meta(max_length=4096)]
_TYPES: dict[str, Any] = {
    "text": _Text,
    "line": Annotated[str, Meta(max_length=200)],
    "kind": Literal[tuple(KINDS)],
    "words": _Texts | _Text,
    "names": _Texts | _Text,
    "passes": Annotated[list[Annotated[_Texts, Meta(min_length=1)]], Meta(min_length=1)],
    "variables": dict[str, _Text],
    "launches": int | str | list[int],
    "size": int | str,
    "flag": bool,
    "seconds": Annotated[float, Meta(ge=0.01, le=1e7)],
}


class WrongValueError(Exception):
    """The reason why a value is refused, and what it may be."""


@dataclass(frozen=True, kw_only=True)
class Key:
    """One key of a job, as keys.toml declares it."""

    name: str
    type: str  #: Of `_TYPES`; empty = an integer within bounds, or one of some words.
    values: Any  #: The type of its values, for msgspec.
    form: str  #: What it may be, for people.
    meaning: str
    field: str = ""  #: Of a recording, of limits or of a job; empty = the key's name.
    kinds: tuple[str, ...] = tuple(KINDS)
    is_for_defaults: bool = True

    def read(self, value: Any) -> Any:
        """The value as a job takes it; WrongValueError when it cannot."""
        try:
            plain = msgspec.convert(value, self.values)
        except msgspec.ValidationError:
            raise WrongValueError(self.form) from None
        if "\\x00" in ascii(plain):
            raise WrongValueError("a text without NUL characters")
        reader = _READERS.get(self.type)
        return reader(plain) if reader else plain


def words(value: list[str] | str) -> tuple[str, ...]:
    """A list of words, or a text that is split like a line of a shell."""
    try:
        parts = shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        raise WrongValueError(f"a line that a shell could split ({error})") from error
    if not parts:
        raise WrongValueError("a text, or a list of 1 to 4,096 texts")
    return tuple(parts)


def launches(value: int | str | list[int]) -> tuple[int, ...]:
    """Launches of the kernel, from 1.

    >>> launches("7-9,12"), launches([7, 8]), launches(3)
    ((7, 8, 9, 12), (7, 8), (3,))
    """
    texts = value if isinstance(value, list) else [value]
    try:
        numbers = read_launches(" ".join(map(str, texts))).numbers
    except UsageError:
        numbers = ()
    if not numbers or numbers[0] < 1 or len(numbers) > _LAUNCHES_MAX:
        raise WrongValueError(f"numbers from 1 on, at most {_LAUNCHES_MAX:,}: 7, [7, 8] or '7-8'")
    return numbers


def size(value: int | str) -> int:
    """Bytes, with or without a unit.

    >>> size("256 MiB"), size(4096)
    (268435456, 4096)
    """
    form = re.fullmatch(r"(\d{1,15})\s*([A-Za-z]{0,3})", str(value))
    count = int(form[1]) * _UNITS.get(form[2], 0) if form else 0
    if not 1 <= count < 1 << 50:
        raise WrongValueError(f"a number of bytes, or a text with a unit ({', '.join(list(_UNITS)[1:])})")
    return count


def _line(value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise WrongValueError("a printable line of 1 to 200 characters")
    return value


def _variables(value: dict[str, str]) -> dict[str, str]:
    for variable in value:
        if not re.fullmatch(r"[^=\0\s][^=\0]*", variable):
            raise WrongValueError(f"a table of names and texts; {variable!r} cannot be the name of a variable")
    return value


_READERS: dict[str, Callable[[Any], Any]] = {
    "line": _line,
    "words": words,
    "variables": _variables,
    "names": lambda value: (value,) if isinstance(value, str) else tuple(value),
    "passes": lambda value: tuple(map(tuple, value)),
    "launches": launches,
    "size": size,
}


def _key(name: str, row: dict[str, Any]) -> Key:
    kind, choices, (low, high) = row.pop("type", ""), row.pop("choices", ()), row.pop("bounds", (0, 0))
    own_type = Literal[tuple(choices)] if choices else Annotated[int, Meta(ge=low, le=high)]
    kinds = tuple(row.pop("kinds", KINDS))
    return Key(name=name, type=kind, values=_TYPES.get(kind, own_type), kinds=kinds, **row)


KEYS = {name: _key(name, dict(row)) for name, row in packaged("keys.toml", __package__).items()}
