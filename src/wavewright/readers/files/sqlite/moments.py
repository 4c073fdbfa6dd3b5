"""A database file and the files next to it, as they are at one moment.

A file at rest is whole. Beside others lies a log (-wal) with newer pages, or a journal (-journal) with older ones of a
transaction that did not end: those are copied into a folder that only this user can enter, and brought to rest there.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import struct
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from wavewright.errors import NotATraceError
from wavewright.readers.files.sqlite.locks import checkpoint_lock, is_reserved

_READ_VERSION_AT, _WAL = 19, bytes([2])  #: Offset of the byte that says how to read a database; 2 = with a log.
_WAL_HEADER = struct.Struct(">8I")  #: Magic, version, page size, checkpoint, 2 salts, 2 checksums.
_WAL_FRAME = struct.Struct(">6I")  #: Page number, size after a commit, 2 salts, 2 checksums; the page follows.
_WAL_MAGICS = (0x377F0682, 0x377F0683)
_BLOCK = 1 << 20
_ADVICE = "ask for the database alone, closed by the program that wrote it; move the files next to it away"


def open_descriptor(path: Path, flags: int = 0) -> int:
    """Open a regular file for reading, without waiting for whoever holds it.

    Raises `OSError` when it cannot be opened, or is something else than a regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "no regular file")
    return descriptor


def is_pending(descriptor: int, path: Path) -> bool:
    """True if a part of the content is in a log, or may have to be taken back with a journal.

    Raises `NotATraceError` when a link, or anything else than a file, lies where the log or the journal should.
    """
    if os.fstat(descriptor).st_size == 0:
        return False  # then SQLite ignores them too
    with _beside(path, "-journal") as journal:
        if journal is not None and os.pread(journal, len(JOURNAL_MAGIC), 0) == JOURNAL_MAGIC:
            return True
    if os.pread(descriptor, 1, _READ_VERSION_AT) != _WAL:
        return False
    with _beside(path, "-wal") as log:
        return log is not None and _log_bytes(log) > 0


def copy_moment(descriptor: int, path: Path, target: Path, seconds: float) -> None:
    """Copy a database to `target`, with its log or journal worked off; the caller holds its shared lock.

    Raises `NotATraceError` when a journal or a log is not to be trusted; `BusyError` when somebody moves pages out of
    the log for longer than `seconds`; `OSError, sqlite3.Error` when there is no room, or SQLite cannot work off the
    log.
    """
    with target.open("x+b") as output, ExitStack() as stack:
        copy = output.fileno()
        journal, index = (stack.enter_context(_beside(path, ending)) for ending in ("-journal", "-shm"))
        if index is not None:
            stack.enter_context(checkpoint_lock(index, seconds))
        _copy(descriptor, copy, os.fstat(descriptor).st_size)
        has_journal = journal is not None and not is_reserved(descriptor)
        if journal is not None and has_journal:
            if problem := _journal_problem(journal, os.fstat(copy).st_size):
                raise NotATraceError(problem, where=str(path), advice=_ADVICE)
            _copy_beside(journal, target, "-journal", os.fstat(journal).st_size)
        log = stack.enter_context(_beside(path, "-wal")) if os.pread(copy, 1, _READ_VERSION_AT) == _WAL else None
        log_bytes = 0 if log is None else _log_bytes(log)
        if log is not None and log_bytes:
            _copy_beside(log, target, "-wal", log_bytes)
    if has_journal or log_bytes:
        _work_off(target)


def _copy_beside(source: int, target: Path, ending: str, size: int) -> None:
    with target.with_name(target.name + ending).open("xb") as copy:
        _copy(source, copy.fileno(), size)


def _work_off(target: Path) -> None:
    """Let SQLite put pages of a journal back, and move those of a log into the database: all of it ours."""
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _log_bytes(log: int) -> int:
    """Bytes of a log up to the end of its last frame; what an earlier use of it left after them does not count."""
    header = os.pread(log, _WAL_HEADER.size, 0)
    if len(header) < _WAL_HEADER.size:
        return 0
    magic, _, page_size, _, *salts, _, _ = _WAL_HEADER.unpack(header)
    if magic not in _WAL_MAGICS or not 512 <= page_size <= 1 << 16:
        return 0
    end = _WAL_HEADER.size
    while len(frame := os.pread(log, _WAL_FRAME.size, end)) == _WAL_FRAME.size:
        number, _, *frame_salts, _, _ = _WAL_FRAME.unpack(frame)
        if number == 0 or frame_salts != salts:
            break
        end += _WAL_FRAME.size + page_size
    return end if end > _WAL_HEADER.size else 0


def _copy(source: int, target: int, size: int) -> None:
    """The first `size` bytes of a file; its holes stay holes, so that they need no room."""
    at = 0
    while at < size:
        try:
            at = os.lseek(source, at, os.SEEK_DATA)
            end = min(os.lseek(source, at, os.SEEK_HOLE), size)
        except OSError:  # nothing but a hole up to the end
            break
        while at < end and (block := os.pread(source, min(_BLOCK, end - at), at)):
            at += os.pwrite(target, block, at)
        if at < end:
            break  # it shrinks
    os.ftruncate(target, size)


@contextmanager
def _beside(path: Path, ending: str) -> Iterator[int | None]:
    """The file beside a database, open for reading; None = there is none."""
    file = path.with_name(path.name + ending)
    try:
        descriptor = open_descriptor(file, os.O_NOFOLLOW)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENAMETOOLONG):
            yield None
            return
        problem = f"{file.name} beside it cannot be used ({'a link' if file.is_symlink() else error.strerror or error})"
        raise NotATraceError(problem, where=str(path), advice=_ADVICE) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


# --- journals that SQLite must not roll back, even in a copy ---
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_HEADER = struct.Struct(">8s5I")  #: Magic, records, nonce, pages of the database before, bytes of a sector and a page.


def _journal_problem(journal: int, database_bytes: int) -> str:
    """The reason for not applying a journal, open as a descriptor; empty = it is applied.

    It names a file outside of it, or asks for a database of impossible size.
    """
    size, magic_bytes = os.fstat(journal).st_size, len(JOURNAL_MAGIC)
    if size > _HEADER.size + magic_bytes and os.pread(journal, magic_bytes, size - magic_bytes) == JOURNAL_MAGIC:
        return "its journal belongs to a transaction over several databases and names a file outside of it"
    header = os.pread(journal, _HEADER.size, 0)
    page_count, page_bytes = _HEADER.unpack(header)[3::2] if len(header) == _HEADER.size else (0, 0)
    # Pages beyond the file can only come out of the journal.
    if page_count * page_bytes > database_bytes + size:
        return f"its journal is of a database of {page_count:,} pages, more than it and the journal hold"
    return ""
