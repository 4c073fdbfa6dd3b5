"""The contents of runs in words: files, their tables, and the catalog of views, tables and columns for queries."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from wavewright.analysis.run.contents.run_contents import Contents
from wavewright.analysis.run.query.catalog import Catalog
from wavewright.base.words import size
from wavewright.facts.loader import packaged
from wavewright.model.blocks import GAP, AnyBlock, headline, sentence
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.words.run.place_names import process_name

_TITLES: dict[str, str] = packaged("texts.toml", "wavewright.words.run")["catalog"]


def contents_report(answer: Contents, *, limit: int = 20, show_secrets: bool = False) -> Iterator[AnyBlock]:
    """The report of `wavewright tables`."""
    if not answer.files.height:
        yield headline("nothing was read")
        return
    yield sentence((_verdict(answer), "bold"))
    yield GAP
    yield from _table_lines(answer, limit=limit)
    yield from table_below("run/data_contents/stored", answer.stored, limit=limit)
    if show_secrets:
        yield GAP
        yield declared_table(
            "run/data_contents/environment", answer.environment, pid=lambda row: process_name(None, row["pid"])
        )


def _table_lines(answer: Contents, *, limit: int) -> Iterator[AnyBlock]:
    filled = answer.tables_found.filter(pl.col("row_count") > 0)
    empty = answer.tables_found.filter(pl.col("row_count") == 0)["table"].to_list()
    yield declared_table("run/data_contents/tables", filled, limit=max(limit, filled.height))
    if empty:
        yield sentence((f"without rows: {', '.join(empty)}", "dim"))


def _verdict(answer: Contents) -> str:
    count = answer.files.height
    kinds = answer.files.select("format", "version").unique(maintain_order=True)
    named = ", ".join(f"{kind}{f' (version {version})' if version else ''}" for kind, version in kinds.iter_rows())
    total = int(answer.files["size_bytes"].sum())
    where = f"{count:,} runs" if count > 1 else str(answer.files["path"][0])
    return f"{where}: {named}" + (f", {size(total)}" if total else "")


def catalog_report(answer: Catalog, *, is_whole: bool) -> Iterator[AnyBlock]:
    """The report of `wavewright schema`: an overview, or all columns of one requested view or table."""
    if not is_whole:
        name, _, row, _ = answer.relations.row(0)
        yield headline(f"{name}: one row is {row}")
        yield declared_table("run/data_contents/columns", answer.columns)
        return
    explanation = "tables and columns for `wavewright query`; `wavewright schema --view NAME` explains the columns"
    yield sentence((explanation, "bold"))
    for kind, title in _TITLES.items():
        rows = answer.relations.filter(pl.col("kind") == kind)
        yield from table_below("run/data_contents/catalog", rows, title=title)
