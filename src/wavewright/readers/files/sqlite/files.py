"""Opening a database file that must not change: as it lies there, unpacked, or a copy of it brought to rest."""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from wavewright import _core
from wavewright.base.compression import PackedError, packing_of, unpacked_head, unpacked_stream
from wavewright.base.files import open_regular
from wavewright.base.scratch import make_scratch, scratch_folder
from wavewright.errors import NotATraceError, UsageError
from wavewright.readers.files.sqlite.locks import BusyError, shared_lock
from wavewright.readers.files.sqlite.moments import copy_moment, is_pending, open_descriptor
from wavewright.readers.files.sqlite.permits import permit_reading
from wavewright.readers.files.text import SQLITE, most_unpacked

#: What calls of SQLite raise: its messages quote the file, and what they quote need not be text.
ERRORS = (sqlite3.Error, UnicodeDecodeError)
MAX_UNPACKED_BYTES = 16 << 30  #: Bytes that a packed database may unpack to.
LOCK_SECONDS = 2.0  #: How long to wait for a database that another process holds locked.
_CHANGE_COUNTER_AT, _PAGE_COUNT_AT = 24, 28  #: Offsets in the header of a database.
_BEGINNING = 1 << 18  #: Bytes of a packed database that are unpacked to find its tables.
_MAGIC_BYTES = 8
_WAIT = "wait until the process that writes it has ended"


class OpenFile:
    """A database file, open: for the native core (`pages`) and for SQLite (`connect`).

    SQLite never sees a file that could change, nor what lies beside one: it would lock it, make files beside it, or
    apply an untrusted journal. A file at rest is opened as one that cannot change; of any other, and of one that
    somebody begins to write, a copy of one moment is read.
    """

    pages: _core.SqliteFile | None = None  #: Its pages, when the native core reads such files.

    def __init__(self, path: Path) -> None:
        self._named = path
        self._path = path
        self._descriptor = -1
        self._is_ours = False
        self._opened_as: tuple[object, ...] = ()
        self._cleanups: list[weakref.finalize[..., OpenFile]] = []
        try:
            self._path = path.resolve()  # logs and journals lie beside the file itself, not beside a link to it
            self._open()
        except OSError as error:
            self.close()
            raise UsageError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
        except BaseException:
            self.close()
            raise

    @property
    def uri(self) -> str:
        """URI that SQLite may open: the file, or our copy of it, as one that cannot change."""
        return f"{self._path.absolute().as_uri()}?mode=ro&immutable=1"

    def connect(self) -> sqlite3.Connection:
        """A connection that neither changes the file nor leaves anything beside it.

        Raises `sqlite3.Error, UnicodeDecodeError` when SQLite cannot open it.
        """
        connection = sqlite3.connect(self.uri, uri=True, check_same_thread=False)
        connection.text_factory = lambda text: text.decode(errors="replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        try:
            for setting in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON"):
                connection.execute(f"PRAGMA {setting}")
            connection.set_authorizer(permit_reading)
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        except ERRORS:
            connection.close()
            raise
        return connection

    def has_changed(self) -> bool:
        """True if somebody wrote to the file since it was opened; never so for a copy of ours."""
        return not self._is_ours and self._stamp() != self._opened_as

    def reopen(self) -> None:
        """Go over to a copy of this moment, which can no longer change.

        Raises `NotATraceError` when somebody writes the file for too long, or it cannot be copied.
        """
        with self._unchanging():
            self._take_copy()

    def close(self) -> None:
        """Let go of the file, and of what was unpacked or copied."""
        self.pages = None
        while self._cleanups:
            self._cleanups.pop()()

    def _open(self) -> None:
        self._use(open_descriptor(self._path))
        if packing_of(os.pread(self._descriptor, _MAGIC_BYTES, 0)):
            target = self._temporary()
            self._unpack_to(target)
            self._use_copy(target)
            return
        with self._unchanging():
            if is_pending(self._descriptor, self._path):
                self._take_copy()
            else:
                self._opened_as = self._stamp()

    def _use(self, descriptor: int) -> None:
        self._cleanups.append(weakref.finalize(self, os.close, descriptor))
        self._descriptor = descriptor
        pages = _core.SqliteFile(descriptor)
        self.pages = pages if pages.is_readable else None

    def _use_copy(self, copy: Path) -> None:
        self._use(open_descriptor(copy))
        self._path = copy
        self._is_ours = True

    @contextmanager
    def _unchanging(self) -> Iterator[None]:
        """Nobody who writes through SQLite changes the file inside the block."""
        try:
            with shared_lock(self._descriptor, LOCK_SECONDS):
                yield
        except BusyError as error:
            problem = "another process holds this database locked"
            raise NotATraceError(problem, where=str(self._named), advice=_WAIT) from error

    def _take_copy(self) -> None:
        target = self._temporary()
        source, before = self._descriptor, self._stamp()
        try:
            copy_moment(source, self._path, target, LOCK_SECONDS)
        except OSError as error:
            problem = f"is being written or holds unfinished changes, and cannot be copied ({error.strerror or error})"
            advice = "set TMPDIR to a folder with more room"
            raise NotATraceError(problem, where=str(self._named), advice=advice) from error
        # Not everybody heeds the lock: some write without SQLite, and some file systems have no locks.
        if self._stamp() != before:
            raise NotATraceError("is being written", where=str(self._named), advice=_WAIT)
        self._use_copy(target)

    def _stamp(self) -> tuple[object, ...]:
        """Differs after every change of the file."""
        status = os.fstat(self._descriptor)
        counter = os.pread(self._descriptor, 4, _CHANGE_COUNTER_AT)
        return status.st_size, status.st_mtime_ns, counter, is_pending(self._descriptor, self._path)

    def _temporary(self) -> Path:
        """A name for a file of ours in a folder that others cannot enter; it goes when this is closed or forgotten."""
        folder, end = make_scratch()
        self._cleanups.append(weakref.finalize(self, end))
        return folder / "database"

    def _unpack_to(self, target: Path) -> None:
        """Write the content of a packed file.

        Raises `NotATraceError` when the file is damaged, unpacks to suspiciously much, or finds no room.
        """
        path, size = self._named, 0
        limit = most_unpacked(path.stat().st_size, MAX_UNPACKED_BYTES)
        try:
            with open_regular(path) as stream, target.open("wb") as plain:
                packing = packing_of(stream.read(_MAGIC_BYTES))
                stream.seek(0)
                for block in unpacked_stream(stream, packing):
                    size += len(block)
                    if size > limit:
                        problem = f"unpacks to more than {limit >> 20:,} MiB"
                        raise NotATraceError(problem, where=str(path), advice="unpack it yourself if you trust it")
                    plain.write(block)
        except (PackedError, OSError) as error:
            reason, advice = str(error), "check that the file was copied whole"
            if isinstance(error, OSError) and error.errno is not None:
                reason, advice = error.strerror or str(error), "set TMPDIR to a folder with more room"
            raise NotATraceError(f"cannot be unpacked ({reason})", where=str(path), advice=advice) from error


def tables_at_beginning(path: Path) -> frozenset[str] | None:
    """Names of the tables of a packed database, when the pages that say them are its first; else None."""
    with path.open("rb") as stream:
        head = stream.read(_BEGINNING)
    packing = packing_of(head)
    if not packing:
        return None
    try:
        begin = unpacked_head(head, packing, _BEGINNING)
        if not begin.startswith(SQLITE) or len(begin) < _BEGINNING:
            return None  # no database, or one that is unpacked in no time
        page_size = int.from_bytes(begin[16:18], "big")
        count = int.from_bytes(begin[_PAGE_COUNT_AT : _PAGE_COUNT_AT + 4], "big")
        with scratch_folder() as folder:
            file = folder / "database"
            file.write_bytes(begin)
            os.truncate(file, count * (1 << 16 if page_size == 1 else page_size))  # a hole: it takes no room
            with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
                connection.execute("PRAGMA trusted_schema=OFF")
                connection.set_authorizer(permit_reading)
                rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
                return frozenset(name for (name,) in rows)
    except (*ERRORS, OSError):
        return None
