"""The tables that a database stores: rows, columns, pages."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from wavescope.errors import WavescopeError
from wavescope.readers._sqlite import Database
from wavescope.readers.sniff import Kind, sniff

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["stored_tables"]

_KINDS = (Kind.ROCPD, Kind.RPD, Kind.ROCPROF_DATABASE)
_GUID = re.compile(r"_[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12}$", re.IGNORECASE)


def stored_tables(path: Path) -> list[tuple[str, int, int, int | None, int, str]]:
    """Name, rows, columns, bytes (None = not known), 1 and names of columns of the tables of a file.

    The tables of the runs of a ROCpd file count as one; files that are no databases have none.
    """
    if not path.is_file() or sniff(path) not in _KINDS:
        return []
    database = Database(path)
    sizes: dict[str, int] = {}
    with suppress(WavescopeError):  # not every SQLite can tell, and no damaged file
        sizes = dict(database.query("SELECT name, SUM(pgsize) FROM dbstat GROUP BY name"))
    found: dict[str, tuple[str, int, int, int | None, int, str]] = {}
    for name, columns in database.tables.items():
        if name.startswith("sqlite_"):
            continue
        plain = _GUID.sub("", name)
        rows, size = _row_count(database, name), sizes.get(name)
        if plain in found:
            rows += found[plain][1]
            size = None if size is None or found[plain][3] is None else size + (found[plain][3] or 0)
        found[plain] = (plain, rows, len(columns), size, 1, ", ".join(columns))
    database.close()
    return list(found.values())


def _row_count(database: Database, table: str) -> int:
    quoted = table.replace('"', '""')
    with suppress(WavescopeError):
        return int(database.query(f'SELECT COUNT(*) FROM "{quoted}"')[0][0])  # noqa: S608 - quoted
    return 0
