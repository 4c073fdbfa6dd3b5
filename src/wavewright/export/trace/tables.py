"""The tables of a thread trace: a folder of Parquet files, or one JSON object."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import IO, Any, overload

import polars as pl

from wavewright.base.shown import shown
from wavewright.export.kit.json_text import encode
from wavewright.export.kit.staging import staged
from wavewright.export.kit.table_files import ExportTable, JsonTables, write_files
from wavewright.model.schema import THREAD_TRACE
from wavewright.model.stored_tables import FORMAT, MANIFEST, VERSION
from wavewright.model.trace import ThreadTrace


def write_parquet(trace: ThreadTrace, directory: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write `<table>.parquet` for every table of `trace`, and `wavewright.json` with their row counts and checksums.

    The directory and its parents are made; with `force` an earlier export is replaced.
    """
    target = Path(directory)
    with staged([target], force=force, mark=MANIFEST) as (twin,):
        twin.mkdir()
        tables = write_files(_tables(trace), twin, "parquet")
        (twin / MANIFEST).write_bytes(encode(_facts(trace) | {"tables": tables}))
    return target


@overload
def write_json(trace: ThreadTrace, output: str | os.PathLike[str], *, force: bool = False) -> Path: ...
@overload
def write_json(trace: ThreadTrace, output: IO[bytes], *, force: bool = False) -> None: ...
def write_json(trace: ThreadTrace, output: str | os.PathLike[str] | IO[bytes], *, force: bool = False) -> Path | None:
    """Write `{"format", "version", "source", "tables": {table: {column: [...]}}}` to a file or a binary stream.

    Returns the path of the file, None for a stream. A file appears complete or not at all; `force` replaces an existing
    one. Values are written in chunks, so the JSON is never in memory at once.
    """
    content = JsonTables(_facts(trace), {"tables": _tables(trace)})
    if not isinstance(output, (str, os.PathLike)):
        output.writelines(content)
        return None
    target = Path(output)
    with staged([target], force=force) as (twin,), twin.open("wb") as stream:
        stream.writelines(content)
    return target


def _facts(trace: ThreadTrace) -> dict[str, Any]:
    """Format, version and source of `trace`, as JSON can hold them."""
    source = {key: shown(value) if isinstance(value, str) else value for key, value in asdict(trace.source).items()}
    return {"format": FORMAT, "version": VERSION, "source": source}


def _tables(trace: ThreadTrace) -> list[ExportTable]:
    return [ExportTable(name, spec.dtypes, partial(_selected, trace, name)) for name, spec in THREAD_TRACE.items()]


def _selected(trace: ThreadTrace, name: str, columns: Sequence[str]) -> list[pl.DataFrame]:
    return [trace.table(name).select(columns)]
