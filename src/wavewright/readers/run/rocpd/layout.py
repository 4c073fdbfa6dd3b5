"""The stored tables of ROCpd databases, per version of the schema (facts/rocpd/schema.toml), for reader and writer.

A stored table is called `rocpd_<name><suffix>`; the suffix is `_` and the guid of the run with `_` for `-`. All tables
but `metadata` begin with `id` (primary key) and `guid` (text). Drafts of the schema have more tables and columns; the
reader takes what a file has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from msgspec.structs import replace

from wavewright.facts.loader import Fact, decoded, packaged

PREFIX = "rocpd_"
_FILE = "rocpd/schema.toml"
#: Released versions of the schema, as metadata stores them.
VERSIONS = ("3", "3.0.0", "3.0.1", "3.0.2", "3.0.3", "3.0.4", "3.0.5")


class StoredColumn(Fact, frozen=True):
    """A column as a `CREATE TABLE` would declare it."""

    name: str
    type: str  #: INTEGER, BIGINT, REAL, TEXT, or JSONB (the stored value is JSON text).
    is_required: bool = False
    is_unique: bool = False
    default: str | None = None  #: Default value as SQL; None = none.
    target: str | None = None  #: Name of the table that it refers to.
    choices: tuple[str, ...] = ()  #: The only values that are allowed; empty = any.
    since: str = "3"  #: Version of the schema that has it first.


@dataclass(frozen=True)
class StoredTable:
    """A table with all of its columns, `id` and `guid` included."""

    name: str
    columns: tuple[StoredColumn, ...]

    @property
    def names(self) -> list[str]:
        """Names of the columns in stored order."""
        return [column.name for column in self.columns]


def stored_tables(version: str) -> dict[str, StoredTable]:
    """The tables of a version of the schema by name, in an order in which each refers only to earlier ones.

    >>> "graph_launch" in stored_tables("3.0.1"), "graph_launch" in stored_tables("3.0.2")
    (False, True)
    """
    number = _number(version)
    tables = {}
    for name, declaration in packaged(_FILE).items():
        if _number(declaration.get("since", "3")) > number:
            continue
        rows = [{"name": column, **row} for column, row in declaration["columns"].items()]
        columns = decoded(rows, tuple[StoredColumn, ...], where=f"{_FILE}, {name}")
        guid = () if name == "metadata" else (_GUID,)
        stored_columns = [column for column in columns if _number(column.since) <= number]
        if number < _NIC_SINCE:
            choices = [tuple(kind for kind in column.choices if kind != "NIC") for column in stored_columns]
            pairs = zip(stored_columns, choices, strict=True)
            stored_columns = [replace(column, choices=kinds) for column, kinds in pairs]
        tables[name] = StoredTable(name, (_ID, *guid, *stored_columns))
    return tables


def suffix_of(guid: str) -> str:
    """The suffix of the names of a run's tables.

    >>> suffix_of("0000ddb5-8903-7903-b269-cd8d3745bb8a")
    '_0000ddb5_8903_7903_b269_cd8d3745bb8a'
    """
    return "_" + guid.replace("-", "_")


def _number(version: str) -> tuple[int, ...]:
    """A version as three numbers: `3` and `3.0.0` are the same."""
    numbers = [int(part) for part in re.findall(r"\d+", version)[:3]]
    return tuple(numbers + [0] * (3 - len(numbers)))


_ID = StoredColumn("id", "INTEGER", is_required=True)
_GUID = StoredColumn("guid", "TEXT", is_required=True)
_NIC_SINCE = (3, 0, 1)  #: The first version in which network cards may be agents.
