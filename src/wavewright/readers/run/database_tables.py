"""Sizes of the files of a run, and the tables that a database stores: rows, columns, pages."""

from __future__ import annotations

import re
from contextlib import closing, suppress
from typing import NamedTuple

from wavewright.base.sql import quoted
from wavewright.errors import WavewrightError
from wavewright.model.run import RunSource
from wavewright.readers.files.kinds import Kind, sniff
from wavewright.readers.files.sqlite import Database
from wavewright.readers.files.unpacked_folder import file_of

_KINDS = (Kind.ROCPD, Kind.RPD, Kind.ROCPROF_DATABASE)
_GUID = re.compile(r"_[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12}$", re.IGNORECASE)


def plain_name(table: str) -> str:
    """The name of a table of ROCpd without the GUID of its run.

    >>> plain_name("rocpd_region_00004086_215a_715a_a78f_cb5ee180a0f9")
    'rocpd_region'
    """
    return _GUID.sub("", table)


class StoredRows(NamedTuple):
    """A table of a file; of the runs in a ROCpd file, the tables of all together."""

    table: str
    row_count: int
    column_count: int
    size_bytes: int | None  #: Size of its pages; None = unknown.
    file_count: int
    columns: str  #: Their names.


def size_bytes(source: RunSource) -> int | None:
    """Size of the file of a source; None = there is no such file."""
    path = file_of(source.path)
    return path.stat().st_size if path.is_file() else None


def database_tables(source: RunSource) -> list[StoredRows]:
    """The tables of a database; none for other files and for files that were not read."""
    path = file_of(source.path)
    if any(loss.kind == "unreadable_source" for loss in source.losses):  # perhaps a link that is not to be followed
        return []
    if not path.is_file() or sniff(path) not in _KINDS:
        return []
    tables: dict[str, StoredRows] = {}
    with closing(Database(path)) as database:
        sizes: dict[str, int] = {}
        with suppress(WavewrightError):  # not every SQLite can tell, and no damaged file
            sizes = dict(database.query("SELECT name, SUM(pgsize) FROM dbstat GROUP BY name"))
        for name, columns in database.tables.items():
            if name.startswith("sqlite_"):
                continue
            plain = plain_name(name)
            rows, size = _row_count(database, name), sizes.get(name)
            if plain in tables:
                earlier = tables[plain]
                rows += earlier.row_count
                size = None if size is None or earlier.size_bytes is None else size + earlier.size_bytes
            tables[plain] = StoredRows(plain, rows, len(columns), size, 1, ", ".join(columns))
    return list(tables.values())


def _row_count(database: Database, table: str) -> int:
    with suppress(WavewrightError):
        return int(database.query(f"SELECT COUNT(*) FROM {quoted(table)}")[0][0])  # noqa: S608 - quoted
    return 0
