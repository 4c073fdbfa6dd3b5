"""The words of an answer, by its type: those of its topic, of the verb that prints it, or the tables it declares."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from wavewright.base.words import counted
from wavewright.model.report import Column, Sentence, Table
from wavewright.report.kit.blocks import blocks_of
from wavewright.report.kit.tables import printable, truncation
from wavewright.report.kit.topic import Wording, data_tables
from wavewright.report.topics import TOPICS

if TYPE_CHECKING:
    from wavewright.model.answer import Answer
    from wavewright.model.report import Block, DataTable
    from wavewright.report.kit.topic import Topic

_PACKAGE = "wavewright."
_ANALYSES = "analysis."
#: Answers that are not the answer of a topic: type -> the words of the verb that prints it, which needs nothing else.
_WORDS = {
    "code.overview.CodeOverview": "code.overview:overview_report",
    "counters.compare.CounterComparison": "counters.compare:counter_comparison_report",
    "run.compare.RunComparison": "run.compare:comparison_report",
    "run.contents.Contents": "run.contents:contents_report",
    "run.gemms.Gemms": "run.gemms:gemms_report",
    "run.top.Top": "run.top:top_report",
    "trace.compare.Comparison": "trace.compare:compare_report",
    "trace.floors.Floors": "trace.floors:floors_report",
    "trace.lanes.answer.Lanes": "trace.lanes:lanes_report",
    "trace.lanes.pattern.RowPattern": "trace.lane_pattern:pattern_report",
    "trace.slow_waves.SlowWaves": "trace.waves:waves_report",
    "trace.stalls.classic.Classic": "trace.stalls:classic_report",
}


def answer_blocks(answer: Answer, wording: Wording) -> tuple[Block, ...]:
    """The words of an answer: never none."""
    topic = _topic_of(answer)
    blocks = blocks_of(topic.words(answer, wording)) if topic else _of_verb(answer, wording)
    return blocks or _of_fields(answer, wording)


def _name_of(answer: Answer) -> str:
    """Where its type is, below `wavewright.analysis`."""
    kind = type(answer)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix(_PACKAGE + _ANALYSES)


def _topic_of(answer: Answer) -> Topic | None:
    """The topic whose answers are of this type; a name says what it is only together with its kind of document."""
    kind, _, _ = _name_of(answer).partition(".")
    topics = TOPICS.get(kind, {}).values()
    return next((topic for topic in topics if type(answer).__name__ in topic.answer_types), None)


def _of_verb(answer: Answer, wording: Wording) -> tuple[Block, ...]:
    reference = _WORDS.get(_name_of(answer))
    if reference is None:
        return ()
    module, _, name = reference.partition(":")
    words = getattr(import_module(f"{_PACKAGE}report.{module}"), name)
    asked = {"limit": wording.limit, "width": wording.width}
    return blocks_of(
        words(answer, **{key: value for key, value in asked.items() if key in signature(words).parameters})
    )


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
    """What an answer is, and how many rows its tables have.

    Examples
    --------
    >>> from wavewright.analysis.run.overlap import overlap
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
