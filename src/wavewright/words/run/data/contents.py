"""The contents of runs, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from wavewright.base.words import size
from wavewright.model.blocks import GAP, AnyBlock, headline, sentence
from wavewright.words.kit.frame_tables import Column, frame_table
from wavewright.words.run.place_names import process_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.run.contents.run_contents import Contents


def contents_report(answer: Contents, *, limit: int = 20, show_secrets: bool = False) -> Iterator[AnyBlock]:
    """The report of `wavewright tables`."""
    if not answer.files.height:
        yield headline("nothing was read")
        return
    yield sentence((_verdict(answer), "bold"))
    yield GAP
    yield from _table_lines(answer, limit=limit)
    if answer.stored.height:
        yield GAP
        yield frame_table(answer.stored, _STORED, limit=limit, what="stored tables")
    if show_secrets:
        count = answer.environment.height
        yield GAP
        yield frame_table(answer.environment, _ENVIRONMENT, limit=count, what="environment variables")


def _table_lines(answer: Contents, *, limit: int) -> Iterator[AnyBlock]:
    filled = answer.tables_found.filter(pl.col("row_count") > 0)
    empty = answer.tables_found.filter(pl.col("row_count") == 0)["table"].to_list()
    yield frame_table(filled, _TABLES, limit=max(limit, filled.height), what="tables with rows")
    if empty:
        yield sentence((f"without rows: {', '.join(empty)}", "dim"))


_ROWS = Column("rows", lambda row: f"{row['row_count']:,}")
_TABLES = (
    Column("table", lambda row: row["table"], is_text=True),
    _ROWS,
    Column("columns", lambda row: f"{row['column_count']}"),
    Column("files", lambda row: f"{row['file_count']:,}"),
    Column("kind", lambda row: row["kind"], is_text=True),
)
_STORED = (
    Column("stored table", lambda row: row["table"], is_text=True),
    _ROWS,
    Column("size", lambda row: size(row["size_bytes"])),
    Column("columns", lambda row: row["columns"], is_text=True, takes_rest=True),
)
_ENVIRONMENT = (
    Column("pid", lambda row: process_name(None, row["pid"])),
    Column("rank", lambda row: "" if row["rank"] is None else str(row["rank"]), handle="r"),
    Column("variable", lambda row: row["name"], is_text=True),
    Column("value", lambda row: row["value"], is_text=True, takes_rest=True),
)


def _verdict(answer: Contents) -> str:
    count = answer.files.height
    kinds = answer.files.select("format", "version").unique(maintain_order=True)
    named = ", ".join(f"{kind}{f' (version {version})' if version else ''}" for kind, version in kinds.iter_rows())
    total = int(answer.files["size_bytes"].sum())
    where = f"{count:,} runs" if count > 1 else str(answer.files["path"][0])
    return f"{where}: {named}" + (f", {size(total)}" if total else "")
