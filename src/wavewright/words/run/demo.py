"""The report of `wavewright demo --run`: questions about a run, each with the verb that answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.model.blocks import AnyBlock, Rule, Sentence, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def run_story(outputs: Sequence[str], chapters: Sequence[tuple[str, str, Iterator[AnyBlock]]]) -> Iterator[AnyBlock]:
    """The outputs, and for each question the command that answers it and the start of its report.

    A chapter is a question, a command, and the report of the answer, whose first part is the verdict.

    Examples
    --------
    >>> parts = list(run_story(["two files"], [("Busy?", "wavewright busy run", iter([Sentence("90 % of the time")]))]))
    >>> parts[-1]
    Sentence(text='90 % of the time', style='plain', marks=(), indent=0)
    """
    yield Rule("1  What was recorded")
    yield from (Sentence(f"  {line}") for line in outputs)
    for number, (question, command, report) in enumerate(chapters, start=2):
        yield Rule(f"{number}  {question}")
        yield sentence((f"$ {command}", "bold cyan"))
        yield next(report)
