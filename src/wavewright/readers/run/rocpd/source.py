"""A ROCpd file as the tables of a `Run`: run by run, in chunks, only the columns that are requested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from wavewright.model.losses import Loss
from wavewright.model.run_tables import NUMBERED, RUN
from wavewright.readers.files.sqlite import Database
from wavewright.readers.run.rocpd.columns import RunColumns
from wavewright.readers.run.rocpd.environment import MASKED, rank_of, variables
from wavewright.readers.run.rocpd.extras import RocpdExtras
from wavewright.readers.run.rocpd.joins import joined_chunks
from wavewright.readers.run.rocpd.mapping import TABLES
from wavewright.readers.run.rocpd.requirements import note_missing_in_run
from wavewright.readers.run.rocpd.runs import DataType, RocpdRun, rocpd_runs
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
        self.extras: Mapping[str, pl.DataFrame] = RocpdExtras(database)
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
        for whole in joined_chunks(run.run, stored_table, needs):
            is_row = sampled.kept(table, whole) if sampled else None
            piece = whole if is_row is None else whole.filter(is_row)
            selected = []
            for name in columns:
                if name in origins:
                    series = run.column(origins[name], piece, dtypes[name], losses[name])
                elif name == NUMBERED.get(table):
                    series = pl.int_range(number, number + piece.height, dtype=pl.UInt32, eager=True)
                else:
                    series = _of_run(run.run, name, piece)
                selected.append(series.cast(dtypes[name]).alias(name))
            number += piece.height
            yield pl.DataFrame(selected)
        if table in NUMBERED and any(loss.kind == "unreadable_rows" for loss in self.losses):
            # Damage ends the reading of one column earlier than that of another; row numbers hold for all of them.
            row_count = run.run.frame(stored_table, {"id": pl.Int64}).height
            yield _without_values(table, columns, range(number, first + row_count))
        for name, counts in losses.items():
            for kind, count in counts.items():
                self._note(kind, count, f"{table}.{name}" if kind == "dangling_rows" else table)

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

    def _note(self, kind: str, count: int, detail: str) -> None:
        """A loss, once however often a table is read."""
        if count:
            self.database.lose(Loss(kind, count=count, detail=detail))


def _of_run(run: RocpdRun, name: str, piece: pl.DataFrame) -> pl.Series:
    """Columns of `processes` that no column stores."""
    if name == "rank":
        return pl.Series([rank_of(variables(text)) for text in piece["environment"]], dtype=pl.Int32)
    value = {"guid": run.guid, "source": 0}.get(name)
    return pl.Series([value]).new_from_index(0, piece.height)


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
