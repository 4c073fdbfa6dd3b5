"""Views, tables and columns, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from wavewright.analysis.run.query.catalog import Catalog
from wavewright.facts.loader import packaged
from wavewright.model.blocks import GAP, AnyBlock, headline, sentence
from wavewright.words.kit.declared_tables import declared_table

_TITLES: dict[str, str] = packaged("texts.toml", "wavewright.words.run")["catalog"]


def catalog_report(answer: Catalog, *, is_whole: bool) -> Iterator[AnyBlock]:
    """The report of `wavewright schema`: an overview, or all columns of one requested view or table."""
    if not is_whole:
        name, _, row, _ = answer.relations.row(0)
        yield headline(f"{name}: one row is {row}")
        yield declared_table("run/data_catalog/columns", answer.columns)
        return
    yield sentence(
        ("tables and columns for `wavewright query`; `wavewright schema --view NAME` explains the columns", "bold")
    )
    for kind, title in _TITLES.items():
        rows = answer.relations.filter(pl.col("kind") == kind)
        if rows.height:
            yield GAP
            yield declared_table("run/data_catalog/catalog", rows, title=title)
