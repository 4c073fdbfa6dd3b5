"""The words of an answer, by its type: those of its question, of the verb that prints it, or its declared tables."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from wavewright.base.words import counted
from wavewright.model.report import Column, Sentence, Table
from wavewright.questions.beside import words_beside_questions
from wavewright.questions.catalog import question_answered
from wavewright.report.kit.answer_parts import data_tables
from wavewright.report.kit.blocks import blocks_of
from wavewright.report.kit.tables import printable, truncation

if TYPE_CHECKING:
    from wavewright.model.answer import Answer
    from wavewright.model.report import Block, DataTable
    from wavewright.questions.kit.question import Wording


def answer_blocks(answer: Answer, wording: Wording) -> tuple[Block, ...]:
    """The words of an answer: never none."""
    question = question_answered(answer)
    words = question.words if question else words_beside_questions(answer)
    return (blocks_of(words(answer, wording)) if words else ()) or _of_fields(answer, wording)


def _of_fields(answer: Answer, wording: Wording) -> tuple[Block, ...]:
    """Single values, then the first rows of each declared table."""
    rows = [(name, _cell(value)) for name, value in _values(answer)]
    values = [Table("", (Column("value of"), Column("value")), tuple(rows))] if rows else []
    tables = [frame_block(table, wording.limit) for table in data_tables(answer)]
    return (Sentence(title_of(answer), "headline"), *values, *tables)


def _values(answer: Answer) -> list[tuple[str, Any]]:
    if not is_dataclass(answer):
        return []
    values = [(field.name, getattr(answer, field.name)) for field in fields(answer)]
    return [(name, value) for name, value in values if isinstance(value, str | int | float) and value != ""]


def title_of(answer: Answer) -> str:
    """The class of an answer, and the number of rows of its tables.

    Examples
    --------
    >>> from wavewright.analysis.run.gpu_time.overlap import overlap
    >>> from wavewright.model.run import Run
    >>> title_of(overlap(Run([])))[:8]
    'Overlap:'
    """
    tables = ", ".join(f"{table.name} ({counted(table.frame.height, 'rows')})" for table in data_tables(answer))
    return f"{type(answer).__name__}: {tables}" if tables else type(answer).__name__


def frame_block(table: DataTable, limit: int) -> Table:
    """The first rows of a declared table, units in the headings."""
    specs = {spec.name: spec for spec in table.spec.columns}
    columns = []
    for name, dtype in table.frame.schema.items():
        unit = specs[name].unit if name in specs else ""
        columns.append(
            Column(f"{name} ({unit})" if unit else name, dtype.is_numeric(), dtype.base_type().__name__ == "String")
        )
    rows = tuple(tuple(map(_cell, row)) for row in table.frame.head(limit).iter_rows())
    title = f"{table.name}: {truncation(len(rows), table.frame.height, 'rows')}"
    return Table(title, tuple(columns), rows)


_LONGEST = 80  #: Characters of a cell.


def _cell(value: Any) -> str:
    """A value in one line.

    Examples
    --------
    >>> _cell(1234), _cell(0.5), _cell(None)
    ('1,234', '0.5', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:,}" if isinstance(value, int) else f"{value:.6g}" if isinstance(value, float) else str(value)
    text = printable(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
