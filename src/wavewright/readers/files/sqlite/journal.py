"""Rollback journals: pages as they were before a transaction that never ended; SQLite puts them back, in a copy.

SQLite must not see a stranger's journal as it lies there: the journal may name a super-journal, any file at all, and
SQLite removes that file when it has rolled back. Layout and rules: https://www.sqlite.org/fileformat2.html, section 3.
"""

from __future__ import annotations

import os
import struct

JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_HEADER = struct.Struct(">8s5I")  #: Magic, records, nonce, pages of the database before, bytes of a sector and a page.


class JournalError(Exception):
    """A journal that is not applied; says why."""


def check_journal(journal: int, database_bytes: int) -> None:
    """Refuse a journal, open as a descriptor, that SQLite must not roll back even in a copy.

    Raises
    ------
    JournalError
        When it names a file outside of it, or asks for a database of impossible size.
    """
    size, mark = os.fstat(journal).st_size, len(JOURNAL_MAGIC)
    if size > _HEADER.size + mark and os.pread(journal, mark, size - mark) == JOURNAL_MAGIC:
        raise JournalError("its journal belongs to a transaction over several databases and names a file outside of it")
    header = os.pread(journal, _HEADER.size, 0)
    page_count, page_bytes = _HEADER.unpack(header)[3::2] if len(header) == _HEADER.size else (0, 0)
    # Pages beyond the file can only come out of the journal.
    if page_count * page_bytes > database_bytes + size:
        raise JournalError(f"its journal is of a database of {page_count:,} pages, more than it and the journal hold")
