"""Names and versions of stored tables, shared by their writers and readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = "wavewright.thread_trace"
VERSION = 1  #: Goes up when a reader of the older version would misread a table.
MANIFEST = "wavewright.json"  #: The manifest of a Parquet directory.

RUN_FORMAT = "wavewright.run"
RUN_VERSION = 1  #: Goes up when a reader of the older version would misread a table.
RUN_MANIFEST = "wavewright_run.json"  #: The manifest of a folder of tables of a run.

_CHUNK_BYTES = 1 << 20


def crc32_of(content: Path | bytes) -> int:
    """Checksum of a file or of bytes: Parquet itself does not notice a flipped bit in its numbers.

    Examples
    --------
    >>> crc32_of(b"wavewright")
    1803102037
    """
    import zlib

    from wavewright.base.files import open_regular

    if isinstance(content, bytes):
        return zlib.crc32(content)
    checksum = 0
    with open_regular(content) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            checksum = zlib.crc32(chunk, checksum)
    return checksum
