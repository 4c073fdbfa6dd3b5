"""Sections that the user declares in a TOML file: a title with a text, or with one SELECT over a run's stable views."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from wavewright.analysis.run.query import query
from wavewright.analysis.run.query.result import QueryLimits
from wavewright.base.toml import read_toml
from wavewright.errors import WavewrightError
from wavewright.facts.loader import Fact, decoded
from wavewright.model.blocks import Sentence, readable
from wavewright.model.document import Document
from wavewright.model.report import DataTable, Section
from wavewright.model.schema import ColumnSpec, TableSpec
from wavewright.questions.kit.question import WIDTH
from wavewright.words.run.data.query import query_report

_MOST_SECTIONS = 50
_LIMITS = QueryLimits(rows=100_000, mib=64, seconds=60.0)
_Text = Annotated[str, Meta(min_length=1, max_length=100_000)]


class OwnSection(Fact, frozen=True):
    """A declared section: with a text or an SQL query."""

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
    """The sections of a TOML file; UsageError when it cannot be read, or declares something else."""
    declared = read_toml(path, advice="give a TOML file with tables [[section]]")
    advice = f"declare 1 to {_MOST_SECTIONS} [[section]], each with title, and sql or text"
    return decoded(declared, _SectionsFile, where=str(path), advice=advice).section


def own_section(document: Document, declared: OwnSection, number: int, *, limit: int) -> Section:
    """A declared section about a document; where its query fails, a skipped one with the reason."""
    name, question = f"own-{number}", "What the reader's own query or text says."
    if declared.text:
        paragraphs = tuple(Sentence(" ".join(part.split())) for part in declared.text.split("\n\n") if part.strip())
        return Section(name, declared.title, question, paragraphs)
    if document.kind != "run":
        return Section(name, declared.title, question, skipped="SQL can be asked about runs only")
    try:
        # always SQLite: reports must not differ between machines with and without DuckDB
        rows = query(document.run, declared.sql or "", engine="sqlite", limits=_LIMITS)
    except WavewrightError as error:
        return Section(name, declared.title, question, skipped=f"the query cannot be answered: {error.what}")
    columns = tuple(
        ColumnSpec(column, dtype.__class__.__name__, "-", "as the query names it", is_optional=True)
        for column, dtype in rows.schema.items()
    )
    data = DataTable("rows", TableSpec("rows", "one row of the query", columns), rows)
    blocks = readable(query_report(rows.head(limit), rows.height, width=WIDTH))
    return Section(name, declared.title, question, blocks, (data,), definition=f"SQL: {declared.sql}")


def sections_of(document: Document, declared: Sequence[OwnSection], *, limit: int) -> list[Section]:
    """All declared sections about a document."""
    return [own_section(document, section, number, limit=limit) for number, section in enumerate(declared, 1)]
