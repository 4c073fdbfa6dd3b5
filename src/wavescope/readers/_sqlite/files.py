"""How to open a database file that must not change: as it lies there, unpacked, or a copy of it brought to rest."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import weakref
import zlib
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from wavescope.errors import NotATraceError, UsageError
from wavescope.readers._text import GZIP, SQLITE

if TYPE_CHECKING:
    from wavescope import _core

__all__ = ["ERRORS", "OpenFile", "tables_at_beginning"]

ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What calls of SQLite raise: its messages quote the file, and what they quote need not be text."""
MAX_UNPACKED_BYTES = 16 << 30
"""Bytes that a packed database may unpack to."""
SMALL_BYTES = 256 << 20
"""Up to this much is unpacked however well it was packed; beyond it the ratio counts."""
MAX_RATIO = 200
LOCK_SECONDS = 2.0
"""How long to wait for a database that another process holds locked."""

_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_READ_VERSION_AT, _PAGE_COUNT_AT, _WAL = 19, 28, bytes([2])
_BEGINNING = 1 << 18
_WAL_HEADER_BYTES = 32
_BLOCK = 1 << 20


class OpenFile:
    """A database file, open: for the native core (`pages`) and for SQLite (`connect`)."""

    pages: _core.SqliteFile | None = None
    """Its pages, when all of its content is in them and the native core reads such files."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self._is_ours = False
        self._endings: list[weakref.finalize[..., OpenFile]] = []
        try:
            with path.open("rb") as stream:
                is_packed = stream.read(len(GZIP)) == GZIP
            if is_packed:
                self._path = self._unpacked(path)
            self._open()
        except OSError as error:
            self.close()
            what = f"cannot be read ({error.strerror or error})"
            raise UsageError(what, where=str(path)) from error
        except BaseException:
            self.close()
            raise

    def connect(self) -> sqlite3.Connection:
        """A connection that neither changes the file nor leaves anything beside it.

        Raises
        ------
        sqlite3.Error, UnicodeDecodeError
            When SQLite cannot open it.
        """
        if self._is_pending() and not self._is_ours and not self._is_shared():
            self._path = self._copied()
            self._open()
        try:
            return self._connected()
        except sqlite3.OperationalError as error:
            if self._is_ours or "locked" in str(error) or not self._is_pending():
                raise
        # Nobody writes it any more, but a log or a journal is left that SQLite would have to work off.
        self._path = self._copied()
        self._open()
        return self._connected()

    def has_changed(self) -> bool:
        """Whether somebody wrote to the file since it was opened; from then on it is read through SQLite alone."""
        if self.pages is None or self._stamp() == self._opened_as:
            return False
        self.pages = None
        return True

    def close(self) -> None:
        """Let go of the file, and of what was unpacked or copied."""
        self.pages = None
        while self._endings:
            self._endings.pop()()

    def _open(self) -> None:
        from wavescope import _core

        self._descriptor = os.open(self._path, os.O_RDONLY)
        self._endings.append(weakref.finalize(self, os.close, self._descriptor))
        self._opened_as = self._stamp()
        pages = _core.SqliteFile(self._descriptor)
        self.pages = pages if pages.is_readable and not self._is_pending() else None

    def _connected(self) -> sqlite3.Connection:
        # A file at rest is opened as one that cannot change: else SQLite locks it, and makes files beside it.
        is_at_rest = not self._is_pending() and self._stamp() == self._opened_as
        how = "immutable=1" if is_at_rest else "mode=ro"
        connection = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?{how}", uri=True, check_same_thread=False, timeout=LOCK_SECONDS
        )
        connection.text_factory = lambda text: text.decode(errors="replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        try:
            for setting in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON"):
                connection.execute(f"PRAGMA {setting}")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        except ERRORS:
            connection.close()
            raise
        return connection

    def _stamp(self) -> tuple[object, ...]:
        """Differs after every change of the file."""
        status = os.fstat(self._descriptor)
        counter = os.pread(self._descriptor, 4, 24)
        return status.st_size, status.st_mtime_ns, counter, self._is_pending()

    def _is_pending(self) -> bool:
        """Whether a part of the content is in a log (WAL) or has to be taken back with a journal."""
        if _head(self._beside("-journal")) == _JOURNAL_MAGIC:
            return True
        # Not by opening it again: closing it would give up the locks that SQLite holds for this process.
        if os.pread(self._descriptor, 1, _READ_VERSION_AT) != _WAL:
            return False
        try:
            return self._beside("-wal").stat().st_size > _WAL_HEADER_BYTES
        except OSError:
            return False

    def _is_shared(self) -> bool:
        """Whether reading through SQLite makes no new file: no log, or one with the index that its writers share."""
        return not self._beside("-wal").exists() or self._beside("-shm").exists()

    def _beside(self, ending: str) -> Path:
        return self._path.with_name(self._path.name + ending)

    def _temporary(self) -> Path:
        """A name for a file of ours, which goes when this is closed or forgotten."""
        folder = tempfile.mkdtemp(prefix="wavescope-")
        self._endings.append(weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True))
        self._is_ours = True
        return Path(folder, "database")

    def _copied(self) -> Path:
        """A copy in which SQLite has worked off the log or the journal.

        Raises
        ------
        sqlite3.Error, UnicodeDecodeError
            When SQLite cannot.
        NotATraceError
            When there is no room for it, or the file changes meanwhile.
        """
        target = self._temporary()
        before = self._stamp()
        try:
            for ending in ("", "-wal", "-journal"):
                source = self._beside(ending)
                if ending == "" or source.exists():
                    shutil.copyfile(source, target.with_name(target.name + ending))
        except OSError as error:
            what = f"holds unfinished changes and cannot be copied to work them off ({error.strerror or error})"
            advice = "set TMPDIR to a folder with more room"
            raise NotATraceError(what, where=str(self._path), advice=advice) from error
        if self._stamp() != before:
            what = "is being written"
            raise NotATraceError(what, where=str(self._path), advice="wait until the process that writes it has ended")
        connection = sqlite3.connect(target)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            connection.close()
        return target

    def _unpacked(self, path: Path) -> Path:
        """The content of a gzip file, in a temporary one.

        Raises
        ------
        NotATraceError
            When the file is damaged, unpacks to suspiciously much, or finds no room.
        """
        target = self._temporary()
        limit = min(MAX_UNPACKED_BYTES, max(SMALL_BYTES, MAX_RATIO * path.stat().st_size))
        try:
            _unpack(path, target, limit)
        except (EOFError, zlib.error, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                what = f"cannot be unpacked ({error.strerror})"
                raise NotATraceError(what, where=str(path), advice="set TMPDIR to a folder with more room") from error
            what = f"cannot be unpacked ({error})"
            raise NotATraceError(what, where=str(path), advice="check that the file was copied whole") from error
        return target


def tables_at_beginning(path: Path) -> frozenset[str] | None:
    """Names of the tables of a packed database, when the pages that say them are its first; else None."""
    with path.open("rb") as stream:
        packed = stream.read(_BEGINNING)
    if not packed.startswith(GZIP):
        return None
    try:
        begin = zlib.decompressobj(wbits=31).decompress(packed, _BEGINNING)
        if not begin.startswith(SQLITE) or len(begin) < _BEGINNING:
            return None  # no database, or one that is unpacked in no time
        page_size = int.from_bytes(begin[16:18], "big")
        count = int.from_bytes(begin[_PAGE_COUNT_AT : _PAGE_COUNT_AT + 4], "big")
        with tempfile.NamedTemporaryFile(prefix="wavescope-") as file:
            file.write(begin)
            file.truncate(count * (1 << 16 if page_size == 1 else page_size))  # a hole: it takes no room
            file.flush()
            with closing(sqlite3.connect(f"{Path(file.name).as_uri()}?immutable=1", uri=True)) as connection:
                connection.execute("PRAGMA trusted_schema=OFF")
                rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
                return frozenset(name for (name,) in rows)
    except (*ERRORS, OSError, zlib.error):
        return None


def _unpack(path: Path, target: Path, limit: int) -> None:
    import gzip

    written = 0
    with gzip.open(path) as packed, target.open("wb") as plain:
        while block := packed.read(_BLOCK):
            written += len(block)
            if written > limit:
                what = f"unpacks to more than {limit >> 20:,} MiB"
                raise NotATraceError(what, where=str(path), advice="unpack it yourself if you trust it")
            plain.write(block)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(len(_JOURNAL_MAGIC))
    except OSError:
        return b""
