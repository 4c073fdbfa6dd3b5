"""The last section of a report: definitions of its numbers and of the columns of its data tables."""

from __future__ import annotations

from collections.abc import Sequence

from wavewright.model.blocks import Column, Table
from wavewright.model.report import Section

NAME, TITLE = "definitions", "Definitions"
QUESTION = "How are the numbers made, and what do the columns mean?"


def definitions_section(sections: Sequence[Section]) -> Section | None:
    """The definitions of sections and of the columns of their tables; None = there are none."""
    definitions = tuple((each.title, " ".join(each.definition.split())) for each in sections if each.definition)
    meanings = dict.fromkeys(
        (section.title, table.name, column.name, column.unit, column.meaning)
        for section in sections
        for table in section.data
        for column in table.spec.columns
        if column.name in table.frame.columns
    )
    blocks = []
    if definitions:
        blocks.append(Table("how numbers are made", (Column("section"), Column("definition")), definitions))
    if meanings:
        columns = (Column("section"), Column("table"), Column("column"), Column("unit"), Column("meaning"))
        blocks.append(Table("columns of the tables of data (workbook, JSON, CSV)", columns, tuple(meanings)))
    return Section(NAME, TITLE, QUESTION, tuple(blocks)) if blocks else None
