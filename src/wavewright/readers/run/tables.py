"""Folders of tables that `wavewright convert -f parquet` or `-f arrow` wrote: only requested columns are read."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import polars as pl

from wavewright.base.files import not_read, read_regular
from wavewright.base.shown import is_text
from wavewright.errors import NotATraceError, UnsupportedError, WavewrightError
from wavewright.model.losses import LOSSES, Loss
from wavewright.model.run_tables import NUMBERED, REFERENCES, RUN
from wavewright.model.stored_tables import RUN_FORMAT, RUN_MANIFEST, RUN_VERSION, TablesByName, crc32_of

CHUNK_ROWS = 1 << 20
_SCANS = {"parquet": "scan_parquet", "arrow": "scan_ipc"}
_AGAIN = "check the copy, or convert the run again"


def read_run_tables(folder: Path) -> TablesSource:
    """The run in a folder of tables; each table is checked when it is first used.

    Raises `NotATraceError` when the manifest cannot be read; `UnsupportedError` when another version of wavewright
    wrote other tables.
    """
    try:
        if reason := not_read(folder / RUN_MANIFEST, folder):
            raise OSError(reason)
        manifest = msgspec.json.decode(read_regular(folder / RUN_MANIFEST))
    except (OSError, ValueError, RecursionError) as error:
        problem = f"the manifest {RUN_MANIFEST} cannot be read ({error})"
        raise NotATraceError(problem, where=str(folder), advice=_AGAIN) from error
    if not isinstance(manifest, dict) or manifest.get("format") != RUN_FORMAT:
        raise NotATraceError(f"{RUN_MANIFEST} is not a manifest of a run", where=str(folder), advice=_AGAIN)
    if manifest.get("version") != RUN_VERSION or manifest.get("encoding") not in _SCANS:
        problem = f"tables of version {manifest.get('version')!r:.40}; this wavewright reads version {RUN_VERSION}"
        raise UnsupportedError(problem, where=str(folder), advice="convert the run again with this version")
    return TablesSource(folder, manifest)


class _Files:
    """The files of one folder, each checked when it is first used."""

    def __init__(self, folder: Path, encoding: str) -> None:
        self._folder, self._encoding = folder, encoding
        self._checked: dict[str, pl.LazyFrame] = {}  #: By the name of the file.

    def scan(self, entry: Mapping[str, Any]) -> pl.LazyFrame:
        """A file of the folder, after its checksum was compared."""
        name = str(entry["file"])
        if name not in self._checked:
            path = self._folder / name
            if path.parent != self._folder or not os.path.lexists(path):
                self.refuse("the file is missing", entry)
            if reason := not_read(path, self._folder):
                self.refuse(reason, entry)
            if crc32_of(path) != entry.get("crc32"):
                self.refuse("the file is not what was written: its checksum differs", entry)
            source = path if is_text(path) else io.BytesIO(read_regular(path))
            frame: pl.LazyFrame = getattr(pl, _SCANS[self._encoding])(source, glob=False)
            rows = self.collected(frame.select(pl.len()), entry).item()
            if rows != entry["row_count"]:
                self.refuse(f"{rows:,} rows where the manifest says {entry['row_count']:,}", entry)
            self._checked[name] = frame
        return self._checked[name]

    def collected(self, frame: pl.LazyFrame, entry: Mapping[str, Any]) -> pl.DataFrame:
        try:
            return frame.collect()
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            self.refuse(f"the table cannot be read ({str(error)[:200]})", entry)

    def refuse(self, problem: str, entry: Mapping[str, Any]) -> NoReturn:
        raise WavewrightError(problem, where=f"{self._folder}/{entry['file']}", advice=_AGAIN)


class TablesSource:
    """The tables of one folder as a `RunSource`."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self.path = str(folder)
        self._files = _Files(folder, manifest["encoding"])
        self._tables = _entries(manifest.get("tables"))
        origins = [origin for origin in manifest.get("sources") or [] if isinstance(origin, dict)]
        only = origins[0] if len(origins) == 1 else {}
        self.format = str(only.get("format", "wavewright tables"))
        self.version = str(only.get("version", ""))
        self.losses: list[Loss] = [loss for origin in origins for loss in _losses(origin)]
        extras = _entries(manifest.get("extras"))
        self.extras: Mapping[str, pl.DataFrame] = TablesByName(extras, partial(_extra, self._files, extras))

    def chunks(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The rows of a table in chunks; missing columns are null. WavewrightError when the table is damaged."""
        entry = self._tables.get(table)
        if entry is None or not entry["row_count"]:
            return
        frame, dtypes = self._files.scan(entry), RUN[table].dtypes
        schema = frame.collect_schema()
        expressions = [  # all rows are of this one source, so it is number 0; columns that the table lacks are null
            (pl.lit(0, pl.UInt32) if name == "source" else pl.col(name).cast(dtypes[name])).alias(name)
            if name in schema
            else pl.lit(None, dtypes[name]).alias(name)
            for name in columns
        ]
        for first in range(0, entry["row_count"], CHUNK_ROWS):
            part = frame.slice(first, CHUNK_ROWS).with_columns(*expressions).select(*columns)
            piece = self._files.collected(part, entry)
            self._check_references(table, piece)
            yield piece

    def _check_references(self, table: str, piece: pl.DataFrame) -> None:
        for column in piece.columns:
            target = REFERENCES.get(column)
            if target is None or target == "sources" or piece.schema[column] != pl.UInt32:
                continue
            largest, row_count = piece[column].max(), self._tables.get(target, {}).get("row_count", 0)
            if isinstance(largest, int) and largest >= row_count:
                problem = f"{column} reaches to {largest:,}; {target} has {row_count:,} rows"
                self._files.refuse(problem, self._tables[table])
            if NUMBERED.get(table) == column and piece[column].null_count():
                self._files.refuse("the rows are not numbered", self._tables[table])


def _extra(files: _Files, entries: Mapping[str, Mapping[str, Any]], name: str) -> pl.DataFrame:
    """A table that only the format of the run has."""
    return files.collected(files.scan(entries[name]), entries[name]).drop("source", strict=False)


def _entries(value: Any) -> dict[str, dict[str, Any]]:
    """The valid entries of the manifest about tables."""
    return {
        name: entry
        for name, entry in (value.items() if isinstance(value, dict) else ())
        if isinstance(entry, dict) and isinstance(entry.get("file"), str) and isinstance(entry.get("row_count"), int)
    }


def _losses(origin: dict[str, Any]) -> Iterator[Loss]:
    """Losses of the origin; kinds of newer versions are left out."""
    for row in origin.get("losses") or []:
        if isinstance(row, dict) and row.get("kind") in LOSSES and isinstance(row.get("count"), int):
            yield Loss(row["kind"], row["count"], str(row.get("detail", "")))
