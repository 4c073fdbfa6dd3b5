"""Names and versions of stored tables, shared by their writers and readers; tables under names of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import polars as pl

FORMAT = "wavewright.thread_trace"
VERSION = 1  #: Goes up when a reader of the older version would misread a table.
MANIFEST = "wavewright.json"  #: The manifest of a Parquet directory.
RUN_FORMAT = "wavewright.run"
RUN_VERSION = 1  #: Goes up when a reader of the older version would misread a table.
RUN_MANIFEST = "wavewright_run.json"  #: The manifest of a folder of tables of a run.
_CHUNK_BYTES = 1 << 20


def crc32_of(content: Path | bytes) -> int:
    """Checksum of a file or of bytes: Parquet itself does not notice a flipped bit in its numbers."""
    import zlib

    from wavewright.base.files import open_regular

    if isinstance(content, bytes):
        return zlib.crc32(content)
    checksum = 0
    with open_regular(content) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            checksum = zlib.crc32(chunk, checksum)
    return checksum


class TablesByName(Mapping[str, "pl.DataFrame"]):
    """Tables that only one format has, each read when it is asked for."""

    def __init__(self, names: Iterable[str], read: Callable[[str], pl.DataFrame]) -> None:
        self._names, self._read = dict.fromkeys(names), read

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._names:
            raise KeyError(name)
        return self._read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
