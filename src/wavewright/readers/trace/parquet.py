"""Parquet directories that `wavewright decode --format parquet` wrote, checked before they are believed."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from wavewright.base.shown import is_text
from wavewright.base.toml import packaged
from wavewright.codeobj.operands import OPERAND_COLUMNS, with_operands
from wavewright.errors import NotATraceError, UnsupportedError, WavewrightError
from wavewright.model.losses import LOSSES, Loss
from wavewright.model.schema import SAMPLE_COUNTS, THREAD_TRACE, TableSpec, empty_frame
from wavewright.model.stored_tables import FORMAT, MANIFEST, VERSION, crc32_of
from wavewright.model.trace import ThreadTrace, TraceSource
from wavewright.readers.files.folder import Folder
from wavewright.readers.trace.assemble import add_losses

MAX_RATIO = 1000  #: Bytes of a table in memory to bytes of its file: more is not a trace but a trap.
SMALL_BYTES = 1 << 30  #: Tables up to this size in memory are read however well they were packed.
_FACTS = packaged("parquet.toml", __package__)
#: table -> column -> (the table whose rows it numbers, the smallest value).
_REFERENCES: dict[str, dict[str, tuple[str, int]]] = _FACTS["references"]
#: Unlike the other references these may be null: an awaited instruction outside of the stored part.
_NULLABLE = {"producer", "producer_row"}
#: Columns without which a row means nothing: these are never null.
_FILLED: dict[str, Sequence[str]] = _FACTS["filled"] | {"samples": SAMPLE_COUNTS}


def read_parquet(folder: Folder) -> ThreadTrace:
    """The trace in a Parquet directory of ours; tables are read and checked when they are first used.

    Raises `NotATraceError` when the manifest cannot be read; `UnsupportedError` when another version of wavewright
    wrote other tables; `WavewrightError` when a table is damaged; also later, when the table is first used.
    """
    store = _Store(folder, _manifest(folder))
    trace = ThreadTrace({}, store.source(), {name: partial(store.read, THREAD_TRACE[name]) for name in THREAD_TRACE})
    notes = [note for name in THREAD_TRACE for note in store.drift(name)]
    unknown = [kind for kind in trace.losses["kind"].unique().to_list() if kind not in LOSSES]
    if unknown:
        problem = f"a loss of a kind that is not known here: {unknown[0]!r:.60}"
        advice = "a newer wavewright wrote it: update, or decode again"
        raise UnsupportedError(problem, where=folder.label, advice=advice)
    if notes:
        add_losses(trace, [Loss("parquet_columns", len(notes), notes[0])])
    return trace


def _manifest(folder: Folder) -> dict[str, Any]:
    try:
        manifest = msgspec.json.decode(folder.read(MANIFEST))
    except (OSError, ValueError, RecursionError) as error:
        problem = f"the manifest {MANIFEST} cannot be read ({error})"
        raise NotATraceError(problem, where=folder.label, advice="decode the capture again") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise NotATraceError(f"{MANIFEST} is not a manifest of a thread trace", where=folder.label)
    if manifest.get("version") != VERSION:
        problem = f"tables of version {manifest.get('version')!r:.40}; this wavewright reads version {VERSION}"
        raise UnsupportedError(problem, where=folder.label, advice="decode the capture again with this version")
    return manifest


class _Store:
    """The tables of one directory."""

    def __init__(self, folder: Folder, manifest: dict[str, Any]) -> None:
        self.folder = folder
        tables = manifest.get("tables")
        self.entries: dict[str, Any] = tables if isinstance(tables, dict) else {}
        self.described = manifest.get("source")

    def source(self) -> TraceSource:
        fields = self.described if isinstance(self.described, dict) else {}
        others = fields.get("other_dispatches")
        types = {"target": str, "target_origin": str, "dispatch_key": str, "agent": int, "dispatch": int}
        facts: dict[str, Any] = {key: fields[key] for key, kind in types.items() if isinstance(fields.get(key), kind)}
        facts["other_dispatches"] = tuple(map(str, others)) if isinstance(others, list) else ()
        return TraceSource(self.folder.label, format="parquet", amd=fields.get("amd") is True, **facts)

    def rows_of(self, name: str) -> int:
        entry = self.entries.get(name)
        count = entry.get("row_count") if isinstance(entry, dict) else 0
        if not isinstance(count, int) or count < 0:
            problem = f"{MANIFEST} says {count!r:.40} about the rows of table {name}"
            raise WavewrightError(problem, where=self.folder.label, advice="decode the capture again")
        return count

    def drift(self, name: str) -> list[str]:
        """Columns that the stored table has too many or lacks, as sentences."""
        entry = self.entries.get(name)
        if not isinstance(entry, dict):
            return [f"no table {name}"]
        columns = entry.get("columns")
        stored = {c for c in columns if isinstance(c, str)} if isinstance(columns, list) else set()
        expected = {column.name for column in THREAD_TRACE[name].columns}
        if name == "code" and stored.isdisjoint(OPERAND_COLUMNS):
            expected -= set(OPERAND_COLUMNS)  # an earlier version wrote it: they are read from the texts
        missing_columns = [f"no {name}.{column}" for column in sorted(expected - stored)]
        return missing_columns + [f"{name}.{column:.40} is not known here" for column in sorted(stored - expected)]

    def read(self, spec: TableSpec) -> pl.DataFrame:
        """One table, checked."""
        if spec.name not in self.entries:
            return empty_frame(spec)
        where = f"{self.folder.label}/{spec.name}.parquet"
        try:
            frame = self._frame(spec, where)
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise _damaged(f"the table {spec.name} cannot be read ({str(error)[:200]})", where) from error
        if frame.height != self.rows_of(spec.name):
            raise _damaged(f"{frame.height:,} rows where the manifest says {self.rows_of(spec.name):,}", where)
        self._check_references(spec.name, frame, where)
        return frame

    def _frame(self, spec: TableSpec, where: str) -> pl.DataFrame:
        name = f"{spec.name}.parquet"
        if name not in self.folder.names():
            raise _damaged(self.folder.refused().get(name, "the file is missing"), where)
        path = self.folder.path_of(name)
        self._check_sum(spec.name, path or self.folder.read(name), where)
        content: Path | io.BytesIO = path if path and is_text(path) else io.BytesIO(self.folder.read(name))
        scan = pl.scan_parquet(content, glob=False)  # a path may hold brackets
        types = scan.collect_schema()
        for column in spec.columns:
            dtype = getattr(pl, column.dtype)
            if column.name in types and types[column.name] != dtype:
                problem = f"column {column.name} is {types[column.name]}, not {dtype}"
                advice = "another version wrote it: decode the capture again"
                raise UnsupportedError(problem, where=where, advice=advice)
        rows = scan.select(pl.len()).collect().item()
        size = path.stat().st_size if path else len(self.folder.read(name))
        if rows * _width(spec) > max(SMALL_BYTES, MAX_RATIO * size):
            raise WavewrightError(f"{rows:,} rows in {size:,} bytes cannot be true", where=where)
        present = [column.name for column in spec.columns if column.name in types]
        frame = scan.select(present).collect().rechunk()
        nulls = [pl.lit(None, getattr(pl, c.dtype)).alias(c.name) for c in spec.columns if c.name not in types]
        frame = frame.with_columns(nulls)
        if spec.name == "code" and set(present).isdisjoint(OPERAND_COLUMNS):
            frame = with_operands(frame, self._target())
        return frame.select(spec.names)

    def _target(self) -> str | None:
        """The GPU, or its generation where the manifest does not say more."""
        generations = self.read(THREAD_TRACE["shader_engines"])["gfxip"].to_list()
        return self.source().target or next((f"gfx{number}-generic" for number in generations if number), None)

    def _check_sum(self, name: str, content: Path | bytes, where: str) -> None:
        """Earlier versions wrote no checksums; with one, no flipped bit becomes a wrong number."""
        entry = self.entries.get(name)
        checksum = entry.get("crc32") if isinstance(entry, dict) else None
        if checksum is not None and checksum != crc32_of(content):
            raise _damaged("the file is not what was written: its checksum differs", where)

    def _check_references(self, name: str, frame: pl.DataFrame, where: str) -> None:
        for column, (table, smallest) in _REFERENCES.get(name, {}).items():
            values = frame[column]
            lowest, highest = values.min(), values.max()
            if values.null_count() and column not in _NULLABLE:
                raise _damaged(f"{column} has empty places", where)
            if lowest is not None and (lowest < smallest or highest >= self.rows_of(table)):  # type: ignore[operator]
                reach = f"{column} reaches from {lowest!r} to {highest!r}"
                raise _damaged(f"{reach}; {table} has {self.rows_of(table):,} rows", where)
        for column in _FILLED.get(name, ()):
            if frame[column].null_count():
                raise _damaged(f"{column} has empty places", where)
        if name in ("code", "waves"):
            number = frame["row" if name == "code" else "wave"]
            if not number.is_sorted() or number.n_unique() != frame.height:
                raise _damaged("the rows are not numbered in order", where)
        if name == "waves":
            self._check_extents(frame, where)

    def _check_extents(self, waves: pl.DataFrame, where: str) -> None:
        """Refuse waves whose rows of instructions or states are not all in the tables."""
        for row, table in (("instruction", "instructions"), ("state", "states")):
            first, count = f"first_{row}", f"{row}_count"
            ends = waves[first].cast(float) + waves[count].cast(float)
            if ends.null_count() or (ends > self.rows_of(table)).any():
                raise _damaged(f"{first} and {count} are past the end of {table}", where)


def _damaged(problem: str, where: str) -> WavewrightError:
    return WavewrightError(problem, where=where, advice="check the copy, or decode the capture again")


def _width(spec: TableSpec) -> int:
    """The approximate bytes of a row in memory."""
    widths = {"Boolean": 1, "UInt8": 1, "UInt16": 2, "Int32": 4, "UInt32": 4, "Int64": 8, "UInt64": 8, "String": 16}
    return sum(widths.get(column.dtype, 8) for column in spec.columns)
