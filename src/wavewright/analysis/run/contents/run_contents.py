"""The contents of a run: its tables, tables of its format, stored tables of its files, and the environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from wavewright.base.shown import shown
from wavewright.model.answer import Answer
from wavewright.model.run_tables import RUN
from wavewright.model.schema import empty_frame, table_spec
from wavewright.readers.run.database_tables import database_tables, size_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavewright.model.run import Run
    from wavewright.model.schema import TableSpec

_TABLES = table_spec(
    "tables",
    "one table of the run, of all files together",
    """
    table         String  -      | its name: `run.<table>` in a query
    kind          String  -      | run = as every format has it, extra = of this format only
    row_count     Int64   -      | rows
    column_count  Int64   -      | columns
    file_count    Int64   -      | files that have rows of it
    """,
)
_STORED = table_spec(
    "stored",
    "one table as databases store it; the tables of the runs in them count as one",
    """
    table         String  -      | its name, without the guid of the run
    row_count     Int64   -      | rows
    column_count  Int64   -      | columns
    size_bytes    Int64   bytes  | pages that it takes; null = unknown
    file_count    Int64   -      | files that have it
    columns       String  -      | names of the columns
    """,
)
_FILES = table_spec(
    "files",
    "one file or folder that was read",
    """
    path        String  -      | where it is
    format      String  -      | ROCpd, RPD, ...
    version     String  -      | version of its schema or writer
    size_bytes  Int64   bytes  | its size; null for folders
    """,
)
_ENVIRONMENT = table_spec(
    "environment",
    "one environment variable of a process",
    """
    pid    Int64   -  | the process
    rank   Int32   -  | its rank; null = unknown
    name   String  -  | name of the variable
    value  String  -  | its value; *** unless asked for
    """,
)


@dataclass(frozen=True)
class Contents(Answer):
    """The tables of one or many runs."""

    files: pl.DataFrame
    tables_found: pl.DataFrame
    stored: pl.DataFrame
    environment: pl.DataFrame

    definition: ClassVar[str] = (
        "Rows are counted in the files themselves; views that a database holds are not looked at. Sizes of stored "
        "tables are those of their pages."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "files": _FILES,
        "tables_found": _TABLES,
        "stored": _STORED,
        "environment": _ENVIRONMENT,
    }


@dataclass(frozen=True)
class PartialContents:
    """The contribution of one run."""

    files: pl.DataFrame
    tables_found: pl.DataFrame
    stored: pl.DataFrame
    environment: pl.DataFrame


def contents(run: Run) -> Contents:
    """The contents of a run."""
    return combine_contents([partial_contents(part) for part in run.parts])


def partial_contents(run: Run) -> PartialContents:
    """The contribution of one run."""
    tables = []
    for table in RUN:
        if table != "losses":
            rows = run.count(table)
            tables.append((table, "run", rows, len(RUN[table].columns), int(rows > 0)))
    for name in run.extra_names:
        frame = run.table(name)
        tables.append((name, "extra", frame.height, frame.width - 1, int(frame.height > 0)))
    files = [(shown(each.path), each.format, each.version, size_bytes(each)) for each in run.origins]
    processes = run.read("processes", ["process", "pid", "rank"])
    environment = run.read("environment").join(processes, on="process", how="left", maintain_order="left")
    return PartialContents(
        pl.DataFrame(files, schema=_FILES.dtypes, orient="row"),
        pl.DataFrame(tables, schema=_TABLES.dtypes, orient="row"),
        pl.DataFrame(
            [row for source in run.origins for row in database_tables(source)],
            schema=_STORED.dtypes,
            orient="row",
        ),
        environment.select(_ENVIRONMENT.names),
    )


def combine_contents(partials: Sequence[PartialContents]) -> Contents:
    """The contents of many runs.

    Examples
    --------
    >>> combine_contents([]).stored.columns[0]
    'table'
    """

    def together(field: str, table: TableSpec) -> pl.DataFrame:
        frames: list[pl.DataFrame] = [getattr(partial, field) for partial in partials]
        return pl.concat([empty_frame(table), *frames])

    sums = [pl.col("row_count").sum(), pl.col("column_count").max(), pl.col("file_count").sum()]
    tables = together("tables_found", _TABLES).group_by("table", "kind", maintain_order=True).agg(sums)
    stored = together("stored", _STORED)
    pages = pl.when(pl.col("size_bytes").is_not_null().all()).then(pl.col("size_bytes").sum()).alias("size_bytes")
    stored = stored.group_by("table", maintain_order=True).agg(*sums, pages, pl.col("columns").first())
    return Contents(
        together("files", _FILES),
        tables.select(_TABLES.names),
        stored.select(_STORED.names).sort(
            "size_bytes", "row_count", descending=True, nulls_last=True, maintain_order=True
        ),
        together("environment", _ENVIRONMENT),
    )
