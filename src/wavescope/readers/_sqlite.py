"""SQLite files as columns: opened read-only, never changed, read in pieces."""

from __future__ import annotations

import gzip
import sqlite3
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavescope.errors import NotATraceError
from wavescope.model.losses import Loss

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

__all__ = ["CHUNK_ROWS", "MAGIC", "Database"]

MAGIC = b"SQLite format 3\0"
CHUNK_ROWS = 1 << 20
"""Rows of a piece."""


class Database:
    """A SQLite file (or a gzip file of one), for reading only.

    Raises
    ------
    NotATraceError
        When it is not a database, or so damaged that its list of tables cannot be read.

    Examples
    --------
    >>> Database(Path("run.db")).tables  # doctest: +SKIP
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.losses: list[Loss] = []
        self._unpacked: tempfile._TemporaryFileWrapper[bytes] | None = None
        file = self._plain(path)
        try:
            self._connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
            self._connection.execute("PRAGMA trusted_schema=OFF")
            rows = self._connection.execute("SELECT type, name FROM sqlite_master ORDER BY rowid").fetchall()
            self.tables: dict[str, tuple[str, ...]] = {
                name: tuple(row[1] for row in self._connection.execute(f"PRAGMA table_info({_quoted(name)})"))
                for kind, name in rows
                if kind == "table"
            }
            """Stored tables -> names of their columns."""
            self.views: tuple[str, ...] = tuple(name for kind, name in rows if kind == "view")
        except sqlite3.Error as error:
            what = f"not a readable SQLite database ({error})"
            raise NotATraceError(what, where=str(path), advice="check that the file was copied whole") from error

    def frame(self, table: str, columns: Mapping[str, pl.DataType | type[pl.DataType]]) -> pl.DataFrame:
        """These columns of a table as Int64, Float64, String or Categorical; see `chunks`."""
        import polars as pl

        return pl.concat([pl.DataFrame(schema=dict(columns)), *self.chunks(table, columns)], rechunk=True)

    def chunks(
        self, table: str, columns: Mapping[str, pl.DataType | type[pl.DataType]], rows: int = CHUNK_ROWS
    ) -> Iterator[pl.DataFrame]:
        """The rows of a stored table in the order of their row ids, in pieces of at most `rows`.

        Columns that the table lacks are null. A value that does not fit the type asked for becomes null and is
        counted as a loss (`mixed_values`); a page that cannot be read ends the table with a loss (`unreadable_rows`).
        """
        import polars as pl

        present = [name for name in columns if name in self.tables.get(table, ())]
        if table not in self.tables:
            return
        chosen = ", ".join(_quoted(name) for name in present) or "1"
        try:
            cursor = self._connection.execute(f"SELECT {chosen} FROM {_quoted(table)} ORDER BY rowid")  # noqa: S608 - quoted
            while found := cursor.fetchmany(rows):
                lists: Sequence[Sequence[Any]] = list(zip(*found, strict=True))
                made = {
                    name: pl.Series(name, lists[present.index(name)], dtype=dtype, strict=False)
                    if name in present
                    else pl.Series(name, [None] * len(found), dtype=dtype)
                    for name, dtype in columns.items()
                }
                yield pl.DataFrame(made)
        except sqlite3.Error as error:
            self.losses.append(Loss("unreadable_rows", detail=f"{table}: {error}"))

    def query(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Rows of a small query of our own."""
        return self._connection.execute(sql, parameters).fetchall()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
        if self._unpacked:
            with suppress(OSError):
                self._unpacked.close()

    def _plain(self, path: Path) -> Path:
        with path.open("rb") as file:
            if file.read(2) != b"\x1f\x8b":
                return path
        self._unpacked = tempfile.NamedTemporaryFile(prefix="wavescope-", suffix=".db")  # noqa: SIM115 - until close
        with gzip.open(path) as packed:
            while block := packed.read(1 << 20):
                self._unpacked.write(block)
        self._unpacked.flush()
        return Path(self._unpacked.name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
