"""A ROCpd file as the tables of a `Run`: run by run, in chunks, only the columns that are requested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import polars as pl

from wavewright.model.losses import Loss
from wavewright.model.run_tables import NUMBERED, RUN
from wavewright.model.stored_tables import TablesByName
from wavewright.readers.files.sqlite import Database, note_missing
from wavewright.readers.run.rocpd.columns import RunColumns
from wavewright.readers.run.rocpd.environment import MASKED, rank_of, variables
from wavewright.readers.run.rocpd.joins import JOINS, OF_TRACK, joined_chunks
from wavewright.readers.run.rocpd.layout import PREFIX, VERSIONS, stored_tables
from wavewright.readers.run.rocpd.mapping import TABLES, End, First, Origin
from wavewright.readers.run.rocpd.runs import DataType, RocpdRun, rocpd_runs, table_names
from wavewright.readers.run.rocpd.system_samples import SystemSamples

_FILTERED = ("regions", "samples", "counters")  #: Tables whose rows may be samples of rocprof-sys.


class RocpdSource:
    """The tables of a ROCpd file; nothing is read before it is used, and nothing large is cached."""

    format = "ROCpd"

    def __init__(self, database: Database, *, show_secrets: bool) -> None:
        self.path = str(database.path)
        self.database = database
        self.show_secrets = show_secrets
        runs = rocpd_runs(database)
        self.version = ", ".join(dict.fromkeys(run.metadata.get("schema_version", "") for run in runs))
        self.losses = database.losses
        self.extras: Mapping[str, pl.DataFrame] = _extras(database)
        self._runs = _numbered(runs)
        self._sampled = {run: SystemSamples(run) for run in self._runs}
        for run in runs:
            note_missing_in_run(run)

    def chunks(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """See `RunSource.chunks`."""
        for run in self._runs:
            if table == "environment":
                yield self._environment(run).select(columns)
            elif table in ("monitors", "frames"):
                yield from self._sampled_chunks(run, table, columns)
            elif table in TABLES:
                yield from self._run_chunks(run, table, columns)

    def _run_chunks(self, run: RunColumns, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        stored_table, origins = TABLES[table].stored, TABLES[table].columns
        dtypes = RUN[table].dtypes
        needs: dict[str, DataType] = {"id": pl.Int64}
        for name in columns:
            if name in origins:
                needs |= run.needs(origins[name], dtypes[name])
        number = first = run.before.get(stored_table, 0)
        if table == "processes" and "rank" in columns:
            needs["environment"] = pl.String
        sampled = self._sampled[run] if table in _FILTERED else None
        needs |= {"event_id": pl.Int64} if sampled else {}
        losses: dict[str, Counter[str]] = {name: Counter() for name in columns}
        for chunk in joined_chunks(run.run, stored_table, needs):
            is_row = sampled.mask_of(table, chunk) if sampled else None
            piece = chunk if is_row is None else chunk.filter(is_row)
            selected = []
            for name in columns:
                if name in origins:
                    series = run.column(origins[name], piece, dtypes[name], losses[name])
                elif name == NUMBERED.get(table):
                    series = pl.int_range(number, number + piece.height, dtype=pl.UInt32, eager=True)
                elif name == "rank":
                    series = pl.Series([rank_of(variables(text)) for text in piece["environment"]], dtype=pl.Int32)
                else:  # columns of `processes` that no column stores
                    value = {"guid": run.run.guid, "source": 0}.get(name)
                    series = pl.Series([value]).new_from_index(0, piece.height)
                selected.append(series.cast(dtypes[name]).alias(name))
            number += piece.height
            yield pl.DataFrame(selected)
        if table in NUMBERED and any(loss.kind == "unreadable_rows" for loss in self.losses):
            # Damage ends the reading of one column earlier than that of another; row numbers hold for all of them.
            row_count = run.run.frame(stored_table, {"id": pl.Int64}).height
            yield _without_values(table, columns, range(number, first + row_count))
        for name, counts in losses.items():
            for kind, count in counts.items():
                if count:
                    detail = f"{table}.{name}" if kind == "dangling_rows" else table
                    self.database.lose(Loss(kind, count=count, detail=detail))

    def _sampled_chunks(self, run: RunColumns, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        sampled = self._sampled[run]
        frame = sampled.monitors() if table == "monitors" else sampled.frames()
        if frame.height:
            dtypes = RUN[table].dtypes
            yield frame.select(pl.col(name).cast(dtypes[name]) for name in columns)

    def _environment(self, run: RunColumns) -> pl.DataFrame:
        texts = run.run.frame("info_process", {"environment": pl.String})["environment"]
        rows = [
            (run.before["info_process"] + number, name, value if self.show_secrets else MASKED)
            for number, text in enumerate(texts)
            for name, value in variables(text).items()
        ]
        return pl.DataFrame(rows, schema=RUN["environment"].dtypes, orient="row")


def _without_values(table: str, columns: Sequence[str], numbers: range) -> pl.DataFrame:
    """Rows of which nothing but the number is known."""
    keys = pl.Series(NUMBERED[table], numbers, dtype=pl.UInt32)
    dtypes = RUN[table].dtypes
    return pl.DataFrame(keys).select(
        keys if name == keys.name else pl.lit(None, dtypes[name]).alias(name) for name in columns
    )


def _numbered(runs: list[RocpdRun]) -> list[RunColumns]:
    """The runs with the number of rows that come before theirs in every numbered table."""
    counts = {TABLES[table].stored: 0 for table in NUMBERED if table in TABLES}
    with_counts = []
    for run in runs:
        with_counts.append(RunColumns(run, dict(counts)))
        if run is not runs[-1]:
            for table in counts:
                counts[table] += run.frame(table, {"id": pl.Int64}).height
    return with_counts


# --- tables that only some files have, under their own names: graph launches, PC samples, drafts of the schema ---


#: Stored tables that the tables of a `Run` are made of; all others are extra tables.
_READ = {"metadata", "string", "event", "track"} | {mapped.stored for mapped in TABLES.values()}


def _extras(database: Database) -> TablesByName:
    """The stored tables that are not part of a `Run`; all runs in one frame each."""
    tables_by_name = {PREFIX + name: tables for name, tables in table_names(database).items() if name not in _READ}

    def read(name: str) -> pl.DataFrame:
        frames = [database.frame(table, _declared_types(database, table)) for table in tables_by_name[name]]
        return pl.concat(frames, how="diagonal_relaxed")

    return TablesByName(tables_by_name, read)


def _declared_types(database: Database, table: str) -> dict[str, DataType]:
    """Types by the affinity of the declared types."""
    column_types = database.query("SELECT name, type FROM pragma_table_info(?)", (table,))
    types: dict[str, DataType] = {}
    for name, kind in column_types:
        is_number = "INT" in kind.upper()
        is_real = any(word in kind.upper() for word in ("REAL", "FLOA", "DOUB"))
        types[name] = pl.Int64 if is_number else pl.Float64 if is_real else pl.String
    return types


# --- the tables and columns that a ROCpd file of a version must have, because the reader needs them ---


#: Tables without which names, locations or kinds of events are missing, in a file of any version.
_NEEDED = ("string", "info_process", "info_agent", "info_kernel_symbol", "event", "region", "kernel_dispatch")
#: Columns that are read but not in `mapping`.
_ALSO = {
    "metadata": ("tag", "value"),
    "string": ("id", "string"),
    "info_process": ("environment",),
    "track": ("id", *OF_TRACK),
}


def note_missing_in_run(run: RocpdRun) -> None:
    """Record as losses the parts that a run lacks of its declared version."""
    version = run.metadata.get("schema_version", "")
    columns = {PREFIX + table + run.suffix: names for table, names in required(version).items()}
    tables = list(columns)
    if version not in VERSIONS:  # drafts: rows may take their places from their tracks
        tables = [PREFIX + name + run.suffix for name in _NEEDED]
        for table in [table for table in columns if "track_id" in run.database.tables.get(table, ())]:
            columns[table] = tuple(name for name in columns[table] if name not in OF_TRACK)
    note_missing(run.database, columns, tables, owner=f"run {run.guid or 'without guid'}", suffix=run.suffix)


@cache
def required(version: str) -> dict[str, tuple[str, ...]]:
    """Stored tables of a version, without prefix and suffix -> the columns that are read; of drafts, those of 3.

    >>> required("3")["string"]
    ('id', 'string')
    """
    layout = stored_tables(version if version in VERSIONS else VERSIONS[0])
    columns_by_table: dict[str, dict[str, None]] = {table: dict.fromkeys(names) for table, names in _ALSO.items()}
    for mapping in TABLES.values():
        table, origins = mapping.stored, mapping.columns
        columns_by_table.setdefault(table, {})["id"] = None
        for origin in origins.values():
            for name in _columns_of(origin):
                join, _, column = name.rpartition(".")
                key, other_table, joined_key = JOINS[join] if join else ("id", table, "id")
                columns_by_table.setdefault(table, {})[key] = None
                columns_by_table.setdefault(other_table, {}).update({joined_key: None, column: None})
    return {
        table: tuple(name for name in names if name in layout[table].names)
        for table, names in columns_by_table.items()
        if table in layout
    }


def _columns_of(origin: Origin) -> tuple[str, ...]:
    if isinstance(origin, First):
        return origin.origin.column, origin.other.column
    return (origin.begin, origin.end) if isinstance(origin, End) else (origin.column,)
