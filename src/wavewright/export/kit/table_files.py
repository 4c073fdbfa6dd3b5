"""Tables as files: columnar files of a folder with their entries in its manifest, or one JSON object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl
from polars.io.plugins import register_io_source

from wavewright.base.shown import is_text, shown
from wavewright.errors import OutputError
from wavewright.export.kit.json_text import encode
from wavewright.model.stored_tables import crc32_of

Encoding = Literal["parquet", "arrow"]
_COLUMNS_AT_ONCE = 8  #: JSON has whole columns: a few at a time are read, so that a long table need not be in memory.
_CHUNK_ROWS = 1 << 16  #: Values that become JSON at once.


@dataclass(frozen=True)
class ExportTable:
    """A table that is read when it is written."""

    name: str
    schema: Mapping[str, Any]
    chunks: Callable[[Sequence[str]], Iterable[pl.DataFrame]]  #: The rows of these columns, in chunks.
    file: str = ""  #: Name of its file without the ending; empty = the name of the table.


def write_files(tables: Iterable[ExportTable], folder: Path, encoding: Encoding) -> dict[str, dict[str, Any]]:
    """Write a file per table; gives table -> its entry of the manifest (see `_write_file`). Raises `OutputError`."""
    return {table.name: _write_file(table, folder, encoding) for table in tables}


def row_counts(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Table -> number of rows, of the tables that have rows."""
    return {name: entry["row_count"] for name, entry in entries.items() if entry["row_count"]}


def _write_file(table: ExportTable, folder: Path, encoding: Encoding) -> dict[str, Any]:
    """Stream the chunks into a file, and give its entry; an error of the reader of the chunks is raised unchanged."""
    rows, reader_errors = 0, list[BaseException]()
    columns = list(table.schema)
    file = f"{table.file or table.name}.{encoding}"

    def produced(*_: object) -> Iterator[pl.DataFrame]:
        nonlocal rows
        try:
            for chunk in table.chunks(columns):
                rows += chunk.height
                yield chunk
        except BaseException as error:
            reader_errors.append(error)
            raise

    frame = register_io_source(produced, schema=dict(table.schema))
    try:
        # polars itself opens only names that are UTF-8
        with nullcontext(folder / file) if is_text(folder) else (folder / file).open("wb") as target:
            if encoding == "parquet":
                frame.sink_parquet(target, compression="zstd")
            else:
                frame.sink_ipc(target)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        if reader_errors:
            raise reader_errors[0] from None
        message = f"cannot write the output: {str(error)[:200]}"
        raise OutputError(message, where=file, advice="check free space and permissions") from error
    return {"file": file, "row_count": rows, "columns": columns, "crc32": crc32_of(folder / file)}


class JsonTables:
    """`{fact: value, ..., section: {table: {column: [...]}}}` as bytes, generated while they are written."""

    def __init__(self, facts: Mapping[str, Any], sections: Mapping[str, Sequence[ExportTable]]) -> None:
        self._facts, self._sections = facts, sections
        self.counts: dict[str, int] = {}  #: Table -> number of rows written, of the tables that have rows.

    def __iter__(self) -> Iterator[bytes]:
        yield encode(self._facts).removesuffix(b"}")
        for section, tables in self._sections.items():
            yield b"," + encode(section) + b":{"
            for number, table in enumerate(tables):
                yield (b"," if number else b"") + encode(table.name) + b":{"
                yield from self._columns(table)
                yield b"}"
            yield b"}"
        yield b"}\n"

    def _columns(self, table: ExportTable) -> Iterator[bytes]:
        names = list(table.schema)
        for start in range(0, len(names), _COLUMNS_AT_ONCE):
            group = names[start : start + _COLUMNS_AT_ONCE]
            chunks = list(table.chunks(group))
            if rows := sum(chunk.height for chunk in chunks):
                self.counts[table.name] = rows
            for name in group:
                yield (b"" if name == names[0] else b",") + encode(shown(name)) + b":["
                yield from _values(chunk[name] for chunk in chunks)
                yield b"]"


def _values(chunks: Iterable[pl.Series]) -> Iterator[bytes]:
    separator = b""
    for chunk in chunks:
        for start in range(0, chunk.len(), _CHUNK_ROWS):
            yield separator + encode(chunk.slice(start, _CHUNK_ROWS).to_list())[1:-1]
            separator = b","
