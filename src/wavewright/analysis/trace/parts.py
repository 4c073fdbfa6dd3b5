"""Sums over all instructions, made part by part: of a large capture only one shader engine is in memory at a time.

A question is a function of a part, of the whole trace, and of further arguments that can be hashed. What the parts
answer is small and cached with the trace, so that several questions can be asked in one pass (`ask`) and each of them
combined later (`answers`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from typing import Any, Final

import polars as pl

from wavewright.analysis.common.stop import at_once
from wavewright.base.once import once
from wavewright.model.trace import ThreadTrace

_PIECE_ROWS: Final = 4_000_000  #: Instructions of a piece: what is made of each of them is large.

Question = tuple[Callable[..., Any], *tuple[Hashable, ...]]  #: A function, and its further arguments.


def ask(trace: ThreadTrace, questions: Iterable[Question]) -> None:
    """Ask every part all questions that were not asked before, in one pass over the parts."""
    new = {_key(question): question for question in questions if _key(question) not in trace.answers}
    if trace.parts is None:  # `once`: threads that ask the same question wait for one pass
        at_once([partial(once, trace.answers, key, partial(_alone, trace, *question)) for key, question in new.items()])
    elif new:
        results: dict[Hashable, list[Any]] = {key: [] for key in new}
        for part in trace.each_part():
            answers_of_part = at_once([partial(ask_part, part, trace, *rest) for ask_part, *rest in new.values()])
            for result, answer in zip(results.values(), answers_of_part, strict=True):
                result.append(answer)
            del part  # before the next one is decoded
        trace.answers.update(results)


def _alone(trace: ThreadTrace, question: Callable[..., Any], *arguments: Hashable) -> list[Any]:
    return [question(trace, trace, *arguments)]


def answers(trace: ThreadTrace, question: Callable[..., Any], *arguments: Hashable) -> list[Any]:
    """The results of every part for a question."""
    ask(trace, [(question, *arguments)])
    results: list[Any] = trace.answers[_key((question, *arguments))]
    return results


def added(frames: list[pl.DataFrame], keys: list[str]) -> pl.DataFrame:
    """Frames of parts as one: rows with the same keys added up; columns `*_max` and `*_min` keep the extreme.

    Keys stand in the order in which they come first, as in a pass over all parts.
    """
    if len(frames) == 1:
        return frames[0]
    both = pl.concat(frames)
    sums = []
    for name in both.columns:
        column = pl.col(name)
        if name not in keys:
            sums.append(
                column.max() if name.endswith("_max") else column.min() if name.endswith("_min") else column.sum()
            )
    return both.group_by(keys, maintain_order=True).agg(sums).select(both.columns)


def _key(question: Question) -> Hashable:
    return ("parts", *question)


def pieces_of_waves(trace: ThreadTrace, *columns: str) -> Iterator[pl.DataFrame]:
    """Columns of all instructions, `wave` among them, some whole waves at a time; one piece where waves are mixed."""
    table = trace.instructions.select(columns)
    begin, is_sorted = 0, table["wave"].is_sorted()
    table = table.with_columns(pl.col("wave").set_sorted()) if is_sorted else table
    while is_sorted and begin + _PIECE_ROWS < table.height:
        end = int(table["wave"].search_sorted(table["wave"][begin + _PIECE_ROWS - 1], side="right"))
        yield table[begin:end]
        begin = end
    if begin < table.height or begin == 0:
        yield table[begin:]
