"""The runs of a ROCpd file: each has its own tables, distinguished by a suffix, and its own numbering of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import polars as pl

from wavewright.readers.files.sqlite import Database
from wavewright.readers.run.rocpd.layout import PREFIX

DataType: TypeAlias = pl.DataType | type[pl.DataType]
Types: TypeAlias = Mapping[str, DataType]

_GUID = re.compile(r"_[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12}$", re.IGNORECASE)
_METADATA = PREFIX + "metadata"


@dataclass
class RocpdRun:
    """One process run in a file. Ids are unique within a run only."""

    database: Database
    suffix: str
    only_guid: str | None = None  #: The rows of this guid are the run's; None = all rows of its tables.
    metadata: dict[str, str] = field(default_factory=dict)

    @cached_property
    def guid(self) -> str:
        """The unique id of the run; empty = none stored."""
        return self.only_guid or self.metadata.get("guid") or self.suffix[1:].replace("_", "-")

    def has(self, table: str, column: str = "id") -> bool:
        """True if the file has this table with this column."""
        return column in self.database.tables.get(self._name(table), ())

    def is_empty(self, table: str) -> bool:
        """True if a stored table has no rows, or is not there."""
        return next(self.database.chunks(self._name(table), {"id": pl.Int64}, rows=1), None) is None

    def frame(self, table: str, columns: Types) -> pl.DataFrame:
        """These columns of a stored table; missing columns are null."""
        return pl.concat([pl.DataFrame(schema=dict(columns)), *self.chunks(table, columns)], rechunk=True)

    def chunks(self, table: str, columns: Types) -> Iterator[pl.DataFrame]:
        """Chunks of `frame`."""
        if self.only_guid is None:
            yield from self.database.chunks(self._name(table), columns)
            return
        for piece in self.database.chunks(self._name(table), {**columns, "guid": pl.String}):
            yield piece.filter(pl.col("guid") == self.only_guid).select(*columns)

    def _name(self, table: str) -> str:
        return PREFIX + table + self.suffix


def rocpd_runs(database: Database) -> list[RocpdRun]:
    """The runs of a file in the order in which it stores them.

    Views are not trusted: only stored tables count. Tables without a suffix are a run, or several with a `guid` each,
    when the file has no others.
    """
    suffixes = dict.fromkeys(_suffix(name) for name in database.tables if name.startswith(PREFIX))
    named = [suffix for suffix in suffixes if suffix]
    if named:
        return [RocpdRun(database, suffix, metadata=_metadata(database, suffix)) for suffix in named]
    processes = database.frame(PREFIX + "info_process", {"guid": pl.String})
    guids = processes["guid"].drop_nulls().unique(maintain_order=True).to_list()
    return [RocpdRun(database, "", guid, _metadata(database, "")) for guid in (guids if len(guids) > 1 else [None])]


def table_names(database: Database) -> dict[str, list[str]]:
    """Names of tables without prefix and suffix -> stored tables."""
    stored: dict[str, list[str]] = {}
    for name in database.tables:
        if name.startswith(PREFIX):
            stored.setdefault(name.removeprefix(PREFIX).removesuffix(_suffix(name)), []).append(name)
    return stored


def _suffix(table: str) -> str:
    match = _GUID.search(table)
    if match:
        return match.group()
    return table.removeprefix(_METADATA) if table.startswith(_METADATA) else ""


def _metadata(database: Database, suffix: str) -> dict[str, str]:
    rows = database.frame(_METADATA + suffix, {"tag": pl.String, "value": pl.String})
    return {tag: value for tag, value in rows.iter_rows() if tag and value is not None}
