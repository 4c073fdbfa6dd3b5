"""The contents of a run: its tables, tables of its format, stored tables of its files, and the environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.base.shown import shown
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.run_tables import RUN
from wavewright.model.schema import empty_frame
from wavewright.readers.run.database_tables import database_tables, size_bytes


@dataclass(frozen=True)
class Contents(Answer, package=__package__):
    """The tables of one or many runs."""

    files: pl.DataFrame
    tables_found: pl.DataFrame
    stored: pl.DataFrame
    environment: pl.DataFrame


def contents(run: Run) -> Contents:
    """The contents of a run."""
    return combine_contents([partial_contents(part) for part in run.parts])


def partial_contents(run: Run) -> Contents:
    """The contents of one run, before tables that several files have are added up."""
    tables = []
    for table in RUN:
        if table != "losses":
            rows = run.count(table)
            tables.append((table, "run", rows, len(RUN[table].columns), int(rows > 0)))
    for name in run.extra_names:
        frame = run.table(name)
        tables.append((name, "extra", frame.height, frame.width - 1, int(frame.height > 0)))  # without `source`
    files = [(shown(file.path), file.format, file.version, size_bytes(file)) for file in run.origins]
    processes = run.read("processes", ["process", "pid", "rank"])
    environment = run.read("environment").join(processes, on="process", how="left", maintain_order="left")
    stored = [row for source in run.origins for row in database_tables(source)]
    specs = Contents.tables
    return Contents(
        pl.DataFrame(files, schema=specs["files"].dtypes, orient="row"),
        pl.DataFrame(tables, schema=specs["tables_found"].dtypes, orient="row"),
        pl.DataFrame(stored, schema=specs["stored"].dtypes, orient="row"),
        environment.select(specs["environment"].names),
    )


def combine_contents(partials: Sequence[Contents]) -> Contents:
    """The contents of many runs."""
    specs = Contents.tables

    def together(table: str) -> pl.DataFrame:
        frames: list[pl.DataFrame] = [getattr(partial, table) for partial in partials]
        return pl.concat([empty_frame(specs[table]), *frames])

    sums = [pl.col("row_count").sum(), pl.col("column_count").max(), pl.col("file_count").sum()]
    tables = together("tables_found").group_by("table", "kind", maintain_order=True).agg(sums)
    stored = together("stored")
    pages = pl.when(pl.col("size_bytes").is_not_null().all()).then(pl.col("size_bytes").sum()).alias("size_bytes")
    stored = stored.group_by("table", maintain_order=True).agg(*sums, pages, pl.col("columns").first())
    stored = stored.select(specs["stored"].names)
    largest_first = stored.sort("size_bytes", "row_count", descending=True, nulls_last=True, maintain_order=True)
    tables = tables.select(specs["tables_found"].names)
    return Contents(together("files"), tables, largest_first, together("environment"))
