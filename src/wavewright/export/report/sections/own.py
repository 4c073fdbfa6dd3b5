"""Sections of the user: titles with text, or with one SELECT over the stable views of runs, declared in TOML."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl
from msgspec import Meta

from wavewright.base.toml import read_toml
from wavewright.errors import WavewrightError
from wavewright.facts.loader import Fact, decoded
from wavewright.model.blocks import Block, Sentence, readable
from wavewright.model.document import Document
from wavewright.model.report import DataTable, Section
from wavewright.model.schema import ColumnSpec, TableSpec
from wavewright.questions.kit.question import WIDTH

_MOST_SECTIONS = 50
_LIMITS = {"rows": 100_000, "mib": 64, "seconds": 60.0}
_Text = Annotated[str, Meta(min_length=1, max_length=100_000)]


class OwnSection(Fact, frozen=True):
    """One section as the file declares it: a text or an SQL query."""

    title: _Text
    text: _Text | None = None
    sql: _Text | None = None

    def __post_init__(self) -> None:
        """Raise ValueError, which `decoded` words, for keys that do not go together."""
        if (self.sql is None) == (self.text is None):
            raise ValueError("a section has either sql or text")


class _SectionsFile(Fact, frozen=True):
    section: Annotated[tuple[OwnSection, ...], Meta(min_length=1, max_length=_MOST_SECTIONS)]


def read_own_sections(path: Path) -> tuple[OwnSection, ...]:
    """The sections that a TOML file declares; UsageError when it cannot be read, or declares something else."""
    declared = read_toml(path, advice="give a TOML file with tables [[section]]")
    advice = f"declare 1 to {_MOST_SECTIONS} [[section]], each with title, and sql or text"
    return decoded(declared, _SectionsFile, where=str(path), advice=advice).section


def own_section(document: Document, declared: OwnSection, number: int, *, limit: int) -> Section:
    """A section of the user about a document; SQL that cannot be answered makes it a skipped one."""
    name, question = f"own-{number}", "What the reader's own query or text says."
    if declared.text:
        paragraphs = tuple(Sentence(" ".join(part.split())) for part in declared.text.split("\n\n") if part.strip())
        return Section(name, declared.title, question, paragraphs)
    if document.kind != "run":
        return Section(name, declared.title, question, skipped="SQL can be asked about runs only")
    try:
        rows = _rows(document, declared.sql or "")
    except WavewrightError as error:
        return Section(name, declared.title, question, skipped=f"the query cannot be answered: {error.what}")
    data = DataTable("rows", _spec(rows), rows)
    return Section(name, declared.title, question, _words(rows, limit), (data,), definition=f"SQL: {declared.sql}")


def _rows(document: Document, sql: str) -> pl.DataFrame:
    from wavewright.analysis.run.query import query
    from wavewright.analysis.run.query.result import QueryLimits

    limits = QueryLimits(**_LIMITS)  # type: ignore[arg-type]
    # SQLite is always there: reports of two machines are the same, whether DuckDB is installed or not
    return query(document.run, sql, engine="sqlite", limits=limits)


def _words(rows: pl.DataFrame, limit: int) -> tuple[Block, ...]:
    from wavewright.words.run.data.query import query_report

    return readable(query_report(rows.head(limit), rows.height, width=WIDTH))


def _spec(rows: pl.DataFrame) -> TableSpec:
    columns = tuple(
        ColumnSpec(name, dtype.__class__.__name__, "-", "as the query names it", is_optional=True)
        for name, dtype in rows.schema.items()
    )
    return TableSpec("rows", "one row of the query", columns)


def sections_of(document: Document, declared: Sequence[OwnSection], *, limit: int) -> list[Section]:
    """All sections of the user about a document."""
    return [own_section(document, each, number, limit=limit) for number, each in enumerate(declared, 1)]
