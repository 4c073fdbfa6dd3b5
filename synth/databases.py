"""SQLite databases that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["new_databases"]


@contextlib.contextmanager
def new_databases(paths: list[Path]) -> Iterator[dict[Path, sqlite3.Connection]]:
    """Open databases for unfinished twins of `paths`, which replace them when the block ends well."""
    twins = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in paths}
    opened: dict[Path, sqlite3.Connection] = {}
    try:
        for path, twin in twins.items():
            twin.unlink(missing_ok=True)
            opened[path] = sqlite3.connect(twin, isolation_level=None)
            for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-16384"):
                opened[path].execute(f"PRAGMA {pragma}")
            opened[path].execute("BEGIN")
        yield opened
        for database in opened.values():
            database.execute("COMMIT")
            database.close()
        for path, twin in twins.items():
            twin.replace(path)
    finally:
        for database in opened.values():
            database.close()
        for twin in twins.values():
            twin.unlink(missing_ok=True)
