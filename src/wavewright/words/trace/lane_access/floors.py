"""Floors in words: what this code needs at least, and what a change of its accesses could gain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wavewright.analysis.trace.floors import Floor, Floors
from wavewright.base.words import counted, percent
from wavewright.model.blocks import AnyBlock, headline, sentence
from wavewright.words.kit.declared_tables import table_below

_WORTH_SAYING = 1.005  #: Times that a change gains at least to be worth a sentence.


def floors_report(answer: Floors, *, limit: int) -> Iterator[AnyBlock]:
    """The sentences, the floor of each pipe, and the instructions that could cost less."""
    first, *others = floor_sentences(answer) or ["nothing is known about floors: no instruction was traced"]
    yield headline(first)
    yield from (sentence((words, "bold")) for words in others)
    if answer.largest is not None:
        span = f"span: {answer.span_cycles_total:,} cycles of {counted(answer.cu_count, 'traced CUs')}"
        yield sentence((f"{span} with {counted(answer.wave_count, 'waves')}", "dim"))
    yield from (sentence((note, "bold yellow")) for note in answer.notes)
    if answer.largest is not None:
        yield from table_below("trace/floors/pipes", answer.pipes, executions=_counted)
        then = lambda row: f"{row['next_pipe']} {row['next_floor_cycles_total']:,}"  # noqa: E731
        yield from table_below("trace/floors/changes", answer.changes, limit=limit, then=then)


def floor_sentences(answer: Floors) -> list[str]:
    """The floors in words; empty = nothing is known.

    A floor of a part of the instructions is said to be one.
    """
    largest = answer.largest
    if largest is None:
        return []
    first = f"this code cannot be faster than {_words(largest)}"
    if answer.next:
        first += f"; the next floor is {_words(answer.next)}"
    sentences = [f"{first}; no reordering gains more than {largest.speedup_max:.2f} times"]
    best = answer.best
    if best and largest.cycles > best.cycles and best.speedup_max > _WORTH_SAYING * largest.speedup_max:
        sentences.append(
            f"with no bank conflict and every access coalesced, the largest floor is {_words(best)}: "
            f"at most {best.speedup_max:.2f} times faster"
        )
    return sentences


def _words(floor: Floor) -> str:
    part = "" if floor.is_whole else ", over the known accesses"
    caveat = ", a hypothesis" if floor.confidence == "hypothesis" else ""
    return f"{floor.cycles:,} cycles ({floor.pipe}: {percent(floor.share, 0)} of the span{part}{caveat})"


def _counted(row: dict[str, Any]) -> str:
    if row["counted_count"] == row["execution_count"]:
        return f"{row['execution_count']:,}"
    return f"{row['counted_count']:,} of {row['execution_count']:,}"
