"""The tables of a run: a folder of Parquet or Arrow files, or one JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.base.shown import shown
from wavewright.export.kit.json_text import encode
from wavewright.export.kit.staging import staged
from wavewright.export.kit.table_files import Encoding, ExportTable, JsonTables, row_counts, write_files
from wavewright.export.kit.writer_result import Written
from wavewright.model.run import Run
from wavewright.model.run_tables import RUN
from wavewright.model.stored_tables import RUN_FORMAT, RUN_MANIFEST, RUN_VERSION

_IN_MANIFEST = ("sources", "losses")  #: Tables whose content the manifest has.
_FACTS = {"format": RUN_FORMAT, "version": RUN_VERSION}


def write_run_parquet(run: Run, out: str | PathLike[str], *, force: bool = False) -> Written:
    """Write `<table>.parquet` for every table, and `wavewright_run.json` with row counts and checksums.

    The folder opens again with `wavewright.open_run`, and its files with every reader of Parquet.
    """
    return _write_folder(run, Path(out), "parquet", force=force)


def write_arrow(run: Run, out: str | PathLike[str], *, force: bool = False) -> Written:
    """Write `<table>.arrow` for every table, and `wavewright_run.json` with row counts and checksums.

    The folder opens again with `wavewright.open_run`, and its files with every reader of Arrow IPC (Feather 2).
    """
    return _write_folder(run, Path(out), "arrow", force=force)


def write_run_json(run: Run, out: str | PathLike[str], *, force: bool = False) -> Written:
    """Write `{"format", "version", "tables": {table: {column: [...]}}, "extras": {table: {column: [...]}}}`.

    The tables and columns are documented in `docs/reference/run-tables.md`; `extras` are the tables that only the
    format of the source has. `pandas.DataFrame(file["tables"]["dispatches"])` is a table of pandas.
    """
    target = Path(out)
    content = JsonTables(_FACTS, {"tables": _tables(run), "extras": _extras(run)})
    with staged([target], force=force) as (twin,), twin.open("wb") as stream:
        stream.writelines(content)
    return Written(target, content.counts)


def _write_folder(run: Run, target: Path, encoding: Encoding, *, force: bool) -> Written:
    with staged([target], force=force, mark=RUN_MANIFEST) as (twin,):
        twin.mkdir()
        stored = [table for table in _tables(run) if table.name not in _IN_MANIFEST]
        tables = write_files(stored, twin, encoding)
        extras = write_files(_extras(run), twin, encoding)
        facts = {"encoding": encoding, "sources": _sources(run), "tables": tables, "extras": extras}
        (twin / RUN_MANIFEST).write_bytes(encode(_FACTS | facts))
    return Written(target, row_counts(tables | extras))


def _tables(run: Run) -> list[ExportTable]:
    return [ExportTable(name, spec.dtypes, partial(run.chunks, name)) for name, spec in RUN.items()]


def _extras(run: Run) -> list[ExportTable]:
    """Tables of the source's own format; their files are numbered, because other tools chose the names."""
    frames = [(shown(name), run.table(name)) for name in run.extra_names]
    return [
        ExportTable(name, frame.schema, partial(_selected, frame), f"extra_{number}")
        for number, (name, frame) in enumerate(frames)
    ]


def _selected(frame: pl.DataFrame, columns: Sequence[str]) -> list[pl.DataFrame]:
    return [frame.select(columns)]


def _sources(run: Run) -> list[dict[str, Any]]:
    return [
        {"path": shown(source.path), "format": source.format, "version": shown(source.version)}
        | {"losses": [{"kind": loss.kind, "count": loss.count, "detail": shown(loss.detail)} for loss in source.losses]}
        for source in run.origins
    ]
