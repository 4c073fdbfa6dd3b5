"""The loader of declared data: TOML files of this package, read at first use and decoded into strict structs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeVar

import msgspec

from wavewright.base.toml import packaged as packaged  # with which facts are read everywhere
from wavewright.base.toml import packaged_text as packaged_text
from wavewright.errors import UsageError

T = TypeVar("T")
_TEXT_MAX = 2_000  #: Letters of a text in a user's file.
_WHAT_LETTERS_MAX = 200  #: Letters of an error.
_WORDS = (  #: Words in errors of msgspec -> words in ours.
    ("Object missing required field", "has no"),
    ("Object contains unknown field", "unknown key"),
    ("Invalid enum value", "no such value:"),
    ("Expected", "expected"),
)


class Fact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A declared value; its fields are the keys of its table in the file."""


class UserFact(Fact, frozen=True):
    """A value that a user declares: its texts can be printed, and those that it needs are not empty."""

    def __post_init__(self) -> None:
        """Raise ValueError, which `decoded` words, for a text that will not do."""
        needed = self.__struct_fields__[: len(self.__struct_fields__) - len(self.__struct_defaults__)]
        for key in self.__struct_fields__:
            text = getattr(self, key)
            if not isinstance(text, str):
                continue
            if len(text) > _TEXT_MAX or not text.isprintable():
                raise ValueError(f"{key} is longer than {_TEXT_MAX:,} characters, or holds some that cannot be printed")
            if key in needed and not text.strip():
                raise ValueError(f"{key} is empty")


F = TypeVar("F", bound=Fact)


def decoded(declared: object, kind: type[T], *, where: str, advice: str = "") -> T:
    """Plain values of a file as a type. Raises `UsageError`, which names file and key, where they do not fit."""
    try:
        return msgspec.convert(declared, kind)
    except msgspec.ValidationError as error:
        problem, _, key = str(error).partition(" - at `$")
        for theirs, ours in _WORDS:
            problem = problem.replace(theirs, ours)
        name = f"{key.strip('.`')}: " if key else ""
        raise UsageError((name + problem)[:_WHAT_LETTERS_MAX], where=where, advice=advice) from None


class FactTable(Mapping[str, F]):
    """Facts by their first field, which names their table in the file; `section` names the table around all of them."""

    def __init__(self, file: str, kind: type[F], section: str = "") -> None:
        self._file, self._kind, self._section = file, kind, section

    @cached_property
    def _facts(self) -> dict[str, F]:
        tables = packaged(self._file)
        tables = tables[self._section] if self._section else tables
        key = self._kind.__struct_fields__[0]
        rows = {name: {key: name, **row} for name, row in tables.items()}
        return {name: decoded(row, self._kind, where=f"{self._file}, {name}") for name, row in rows.items()}

    def __getitem__(self, name: str) -> F:
        return self._facts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)
