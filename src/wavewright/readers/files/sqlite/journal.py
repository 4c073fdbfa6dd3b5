"""Rollback journals, applied without SQLite: pages as they were before a transaction that never ended.

SQLite must not see a stranger's journal: the journal may name a super-journal, any file at all, and SQLite removes
that file when it has rolled back. Layout and rules: https://www.sqlite.org/fileformat2.html, section 3.
"""

from __future__ import annotations

import os
import struct
from typing import NamedTuple

JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_HEADER = struct.Struct(">8s5I")
_NUMBER = struct.Struct(">I")
_ALL_RECORDS = 0xFFFFFFFF
_LOCKED_AT = 0x40000000  #: The page that holds this byte is never written.


class JournalError(Exception):
    """A journal that is not applied; says why."""


class _Header(NamedTuple):
    """One of the headers of a journal, each followed by records."""

    magic: bytes
    record_count: int
    nonce: int
    page_count: int  #: Of the database before the transaction.
    sector_size: int
    page_size: int

    @property
    def is_sound(self) -> bool:
        return (
            self.magic == JOURNAL_MAGIC
            and _is_power(self.page_size, 512, 1 << 16)
            and _is_power(self.sector_size, 32, 1 << 16)
        )


def roll_back(journal: int, database: int) -> None:
    """Put the pages of a journal back; both are descriptors, and the database is a copy of our own.

    A record whose checksum is wrong ends it, as in SQLite: what follows was never relied upon.

    Raises
    ------
    JournalError
        When the journal names a file outside of it, or asks for a database of impossible size.
    """
    size = os.fstat(journal).st_size
    first = _header(journal, 0)
    if first is None:
        return
    if os.pread(journal, len(JOURNAL_MAGIC), max(0, size - len(JOURNAL_MAGIC))) == JOURNAL_MAGIC:
        raise JournalError("its journal belongs to a transaction over several databases and names a file outside of it")
    # Pages beyond the file can only come out of the journal.
    if first.page_count * first.page_size > os.fstat(database).st_size + size:
        problem = f"its journal is of a database of {first.page_count:,} pages, more than it and the journal hold"
        raise JournalError(problem)
    os.ftruncate(database, first.page_count * first.page_size)
    at = 0
    header: _Header | None = first
    while header is not None:
        begin = at + first.sector_size
        record = first.page_size + 2 * _NUMBER.size
        count = (size - begin) // record if header.record_count == _ALL_RECORDS else header.record_count
        for number in range(count):
            if not _put_back(os.pread(journal, record, begin + number * record), header.nonce, first, database):
                return
        at = -(-(begin + count * record) // first.sector_size) * first.sector_size
        header = _header(journal, at, first) if at < size else None


def _header(journal: int, at: int, first: _Header | None = None) -> _Header | None:
    """The header at an offset; None when there is none. Later headers need not repeat the sizes."""
    data = os.pread(journal, _HEADER.size, at)
    if len(data) < _HEADER.size:
        return None
    header = _Header(*_HEADER.unpack(data))
    if first is not None:
        header = header._replace(sector_size=first.sector_size, page_size=first.page_size)
    return header if header.is_sound else None


def _put_back(record: bytes, nonce: int, first: _Header, database: int) -> bool:
    """One page; False at the end of what can be relied upon."""
    if len(record) < first.page_size + 2 * _NUMBER.size:
        return False
    number, page = _NUMBER.unpack_from(record)[0], record[_NUMBER.size : -_NUMBER.size]
    is_never_written = number in (0, _LOCKED_AT // first.page_size + 1)
    if is_never_written or _checksum(page, nonce) != _NUMBER.unpack(record[-_NUMBER.size :])[0]:
        return False
    if number <= first.page_count:
        os.pwrite(database, page, (number - 1) * first.page_size)
    return True


def _checksum(page: bytes, nonce: int) -> int:
    return (nonce + sum(page[len(page) - 200 : 0 : -200])) & 0xFFFFFFFF


def _is_power(number: int, least: int, most: int) -> bool:
    return least <= number <= most and number & (number - 1) == 0
