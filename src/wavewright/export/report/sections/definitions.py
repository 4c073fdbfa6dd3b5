"""The end of a report: how the numbers of each section are made, and what the columns of its tables mean."""

from __future__ import annotations

from collections.abc import Sequence

from wavewright.model.blocks import Column, Table
from wavewright.model.report import Section

NAME, TITLE = "definitions", "Definitions"
QUESTION = "How are the numbers made, and what do the columns mean?"


def definitions_section(sections: Sequence[Section]) -> Section | None:
    """Definitions of the answers and of the columns of their tables; None = there are none."""
    definitions = tuple(
        (section.title, " ".join(section.definition.split())) for section in sections if section.definition
    )
    meanings = tuple(_meanings(sections))
    blocks = []
    if definitions:
        blocks.append(Table("how numbers are made", (Column("section"), Column("definition")), definitions))
    if meanings:
        columns = (Column("section"), Column("table"), Column("column"), Column("unit"), Column("meaning"))
        blocks.append(Table("columns of the tables of data (workbook, JSON, CSV)", columns, meanings))
    return Section(NAME, TITLE, QUESTION, tuple(blocks)) if blocks else None


def _meanings(sections: Sequence[Section]) -> list[tuple[str, ...]]:
    rows: dict[tuple[str, ...], None] = {}
    for section in sections:
        for table in section.data:
            for column in table.spec.columns:
                if column.name in table.frame.columns:
                    rows[section.title, table.name, column.name, column.unit, column.meaning] = None
    return list(rows)
