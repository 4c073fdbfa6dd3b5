"""Answers about runs that are more than an analysis of the chosen part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.errors import UsageError
from wavewright.questions.run.run_question import asked

if TYPE_CHECKING:
    from wavewright.analysis.run.diagnose.budget import TimeBudget
    from wavewright.analysis.run.gpu_time.busy import Busy
    from wavewright.analysis.run.memory.memory import Memory
    from wavewright.analysis.run.ranks.ranks import Ranks
    from wavewright.model.document import Document

_DRAWN_BINS = 240  #: Points of curves, as `words.run.pictures` draws them: words and picture take the same answer.


def busy_as_drawn(document: Document, **choice: Any) -> Busy:
    """Busy time of each GPU, over time as the picture has it."""
    from wavewright.analysis.run.gpu_time.busy import busy

    if _is_part(choice):
        return asked(document, "busy", busy, **choice)
    return document.kept(("plot", "busy"), lambda: busy(document.run, bins=_DRAWN_BINS))


def memory_as_drawn(document: Document, **choice: Any) -> Memory:
    """Memory in use, over time as the picture has it."""
    from wavewright.analysis.run.memory.memory import memory

    if _is_part(choice):
        return asked(document, "memory", memory, **choice)
    return document.kept(("plot", "memory"), lambda: memory(document.run, bins=_DRAWN_BINS))


def _is_part(choice: dict[str, Any]) -> bool:
    return any(value is not None for value in choice.values())


def several_ranks(document: Document, **choice: Any) -> Ranks:
    """Work of each rank, compared. Raises `UsageError` when there is one process only."""
    from wavewright.analysis.run.ranks.ranks import ranks

    if document.run.count("processes") < 2:
        raise UsageError("one process: there is nothing to compare it with", where=document.label)
    return asked(document, "ranks", ranks, **choice)


def time_budget(document: Document, **choice: Any) -> TimeBudget:
    """The time budget, of the same numbers as the diagnosis."""
    from wavewright.analysis.run.diagnose import diagnose_run
    from wavewright.analysis.run.diagnose.budget import budget_of

    return budget_of(asked(document, "diagnose", diagnose_run, **choice))
