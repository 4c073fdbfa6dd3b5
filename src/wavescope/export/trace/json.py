"""A thread trace as one JSON object: table -> column -> values."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, TYPE_CHECKING, overload

from wavescope.export.kit.description import describe
from wavescope.export.kit.json_text import encode
from wavescope.export.kit.staging import staged
from wavescope.model.schema import THREAD_TRACE

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from wavescope.model.trace import ThreadTrace

_CHUNK_ROWS = 1 << 16


@overload
def write_json(trace: ThreadTrace, output: str | os.PathLike[str], *, force: bool = False) -> Path: ...
@overload
def write_json(trace: ThreadTrace, output: IO[bytes], *, force: bool = False) -> None: ...
def write_json(trace: ThreadTrace, output: str | os.PathLike[str] | IO[bytes], *, force: bool = False) -> Path | None:
    """Write `{"format", "version", "source", "tables": {table: {column: [...]}}}` to a file or a binary stream.

    A file appears whole or not at all. Values are written in pieces, so the text is never in memory at once.

    Parameters
    ----------
    force
        Replace an existing file.

    Returns
    -------
    The path of the file; None for a stream.

    Raises
    ------
    UsageError
        When the file exists and `force` is not given.
    WavescopeError
        When the file cannot be written.
    """
    if not isinstance(output, (str, os.PathLike)):
        output.writelines(_pieces(trace))
        return None
    target = Path(output)
    with staged([target], force=force) as (twin,), twin.open("wb") as stream:
        stream.writelines(_pieces(trace))
    return target


def _pieces(trace: ThreadTrace) -> Iterator[bytes]:
    yield encode(describe(trace)).removesuffix(b"}") + b',"tables":{'
    for number, name in enumerate(THREAD_TRACE):
        yield (b"," if number else b"") + encode(name) + b":{"
        yield from _columns(trace.table(name))
        yield b"}"
    yield b"}}\n"


def _columns(table: pl.DataFrame) -> Iterator[bytes]:
    for number, series in enumerate(table.iter_columns()):
        yield (b"," if number else b"") + encode(series.name) + b":["
        for start in range(0, series.len(), _CHUNK_ROWS):
            values = encode(series.slice(start, _CHUNK_ROWS).to_list())
            yield (b"," if start else b"") + values[1:-1]
        yield b"]"
