"""Floors in words: what this code needs at least, and what a change of its accesses could gain."""

from __future__ import annotations

from typing import Any

from wavewright.analysis.trace.floors import Floor, Floors
from wavewright.base.words import counted, percent
from wavewright.model.blocks import GAP, AnyBlock, Sentence, headline, sentence
from wavewright.words.kit.declared_tables import declared_table

_WORTH_SAYING = 1.005  #: Times that a change gains at least to be worth a sentence.


def floors_report(answer: Floors, *, limit: int) -> list[AnyBlock]:
    """The sentences, the floor of each pipe, and the instructions that could cost less."""
    if answer.largest is None:
        return [headline("nothing is known about floors: no instruction was traced"), *_notes(answer)]
    first, *others = floor_sentences(answer)
    parts: list[AnyBlock] = [headline(first), *(sentence((words, "bold")) for words in others)]
    span = f"span: {answer.span_cycles_total:,} cycles of {counted(answer.cu_count, 'traced CUs')}"
    parts += [sentence((f"{span} with {counted(answer.wave_count, 'waves')}", "dim")), *_notes(answer), GAP]
    parts.append(declared_table("trace/floors/pipes", answer.pipes, executions=_counted))
    if answer.changes.height:
        parts += [
            GAP,
            declared_table(
                "trace/floors/changes",
                answer.changes,
                limit=limit,
                then=lambda row: f"{row['next_pipe']} {row['next_floor_cycles_total']:,}",
            ),
        ]
    return parts


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


def _notes(answer: Floors) -> list[Sentence]:
    return [sentence((note, "bold yellow")) for note in answer.notes]


def _counted(row: dict[str, Any]) -> str:
    if row["counted_count"] == row["execution_count"]:
        return f"{row['execution_count']:,}"
    return f"{row['counted_count']:,} of {row['execution_count']:,}"
