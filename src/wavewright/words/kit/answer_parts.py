"""Parts of an answer that a section needs beside its words: the verdict first, its declared tables, its definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from wavewright.model.answer import Answer
from wavewright.model.blocks import Block, Sentence
from wavewright.model.report import DataTable


def headed(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks; the first sentence is the verdict, however a terminal shows it."""
    first = blocks[0] if blocks else None
    has_headline = any(isinstance(block, Sentence) and block.style == "headline" for block in blocks)
    if isinstance(first, Sentence) and first.style == "plain" and not has_headline:
        return (replace(first, style="headline"), *blocks[1:])
    return blocks


def data_tables(answer: Any) -> tuple[DataTable, ...]:
    """The frames of an answer that declare their columns, and those of the answers that it is made of."""
    import polars as pl

    tables: dict[str, DataTable] = {}
    for part in _answers(answer):
        for name, spec in part.tables.items():
            frame = getattr(part, name, None)
            if isinstance(frame, pl.DataFrame):
                unique = name if name not in tables else f"{type(part).__name__.lower()}_{name}"
                tables[unique] = DataTable(unique, spec, frame)
    return tuple(tables.values())


def definition_of(answer: Any) -> str:
    """Definitions of the numbers of an answer, and of those of the answers that it is made of."""
    return " ".join(dict.fromkeys(part.definition for part in _answers(answer) if part.definition))


def _answers(answer: Any) -> Iterator[Answer]:
    """The answer, then the answers among its fields."""
    if not isinstance(answer, Answer):
        return
    yield answer
    if is_dataclass(answer):
        for field in fields(answer):
            yield from _answers(getattr(answer, field.name))
