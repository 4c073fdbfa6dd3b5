"""Origins of the columns of a `Run` in a ROCpd file (facts/rocpd/columns.toml)."""

from __future__ import annotations

from typing import TypeAlias

from wavewright.facts.loader import Fact, FactTable


class Stored(Fact, frozen=True, tag_field="as", tag="stored"):
    """The stored value; see `joins` for names with a dot."""

    column: str


class Text(Fact, frozen=True, tag_field="as", tag="text"):
    """The string whose id is stored."""

    column: str


class MappedRow(Fact, frozen=True, tag_field="as", tag="row"):
    """The number of the row of `table` whose id is stored."""

    table: str
    column: str


class Json(Fact, frozen=True, tag_field="as", tag="json"):
    """The value of a key of stored JSON, times `factor`."""

    column: str
    key: str
    factor: int = 1


class End(Fact, frozen=True, tag_field="as", tag="end"):
    """The stored end of an event, never before its start."""

    begin: str = "start"
    end: str = "end"


class First(Fact, frozen=True, tag_field="as", tag="first"):
    """The first of two origins that is not null."""

    origin: Stored | Text
    other: Stored | Text


Origin: TypeAlias = Stored | Text | MappedRow | Json | End | First


class MappedTable(Fact, frozen=True):
    """A table of a `Run`: the stored table, and where its columns come from; `source` makes those not stored."""

    name: str
    stored: str
    columns: dict[str, Origin]


TABLES = FactTable("rocpd/columns.toml", MappedTable)  #: By the name of the table of a `Run`.
