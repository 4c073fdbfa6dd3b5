"""A new SQLite file, written in one go."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from wavewright.errors import OutputError, UsageError


def check_beside(target: Path) -> None:
    """Refuse an output next to the log or the journal of another database: SQLite would apply it to this one.

    Raises `UsageError` when there is one.
    """
    for ending in ("-journal", "-wal"):
        if os.path.lexists(leftover := target.with_name(target.name + ending)):
            problem = f"{leftover.name} is next to the output; SQLite would apply it to the new database"
            raise UsageError(problem, where=str(target), advice="move it away, or choose another path")


@contextmanager
def new_database(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a new file, inside a transaction that ends with the block.

    The file is renamed when it is complete: until then nobody reads it, so it needs neither journal nor flushes. Raises
    `WavewrightError` when the file cannot be written.
    """
    try:
        with closing(sqlite3.connect(path.absolute().as_uri(), isolation_level=None, uri=True)) as connection:
            connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN")
            yield connection
            connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        problem = f"cannot write the output: {error}"
        raise OutputError(problem, where=path.name, advice="check free space and permissions") from error
