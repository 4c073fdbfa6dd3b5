"""Views, tables and columns, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright.model.blocks import GAP, AnyBlock, headline, sentence
from wavewright.words.kit.frame_tables import Column, frame_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.run.contents.catalog import Catalog

_TITLES = {
    "view": "views (SELECT ... FROM kernels)",
    "table": "tables of the run (SELECT ... FROM run.dispatches)",
    "extra": "tables that only these files have",
    "stored": "stored in these databases; the views and tables above are made of them",
}


def catalog_report(answer: Catalog, *, is_whole: bool) -> Iterator[AnyBlock]:
    """The report of `wavewright schema`: an overview, or all columns of one requested view or table."""
    if not is_whole:
        name, _, row, _ = answer.relations.row(0)
        yield headline(f"{name}: one row is {row}")
        yield frame_table(answer.columns, _COLUMNS, limit=answer.columns.height, what="columns")
        return
    yield sentence(
        ("tables and columns for `wavewright query`; `wavewright schema --view NAME` explains the columns", "bold")
    )
    for kind, title in _TITLES.items():
        rows = answer.relations.filter(pl.col("kind") == kind)
        if rows.height:
            yield GAP
            yield frame_table(
                rows,
                [
                    Column("name", lambda row: row["name"], is_text=True, is_name=True),
                    Column("columns", lambda row: str(row["column_count"])),
                    Column("one row is", lambda row: row["row"], is_text=True, takes_rest=True),
                ],
                limit=rows.height,
                what="in total",
                title=title,
            )


_COLUMNS = [
    Column("column", lambda row: row["name"], is_text=True),
    Column("type", lambda row: row["type"], is_text=True),
    Column("unit", lambda row: row["unit"], is_text=True),
    Column("meaning", lambda row: row["meaning"], is_text=True, takes_rest=True),
]
