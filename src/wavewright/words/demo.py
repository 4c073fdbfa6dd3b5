"""The stories of `wavewright demo`: the questions in order, each with the verb that answers it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wavewright.analysis.trace.about.overview import Overview
from wavewright.analysis.trace.costs.hotspots import Hotspots
from wavewright.analysis.trace.diagnose import Diagnosis
from wavewright.analysis.trace.waits import Waits
from wavewright.analysis.trace.waves.resident import Residency
from wavewright.model.blocks import AnyBlock, Drawn, Rule, Sentence, sentence
from wavewright.words.kit.losses import loss_lines
from wavewright.words.trace.diagnose import finding_block
from wavewright.words.trace.hotspots import hotspot_table
from wavewright.words.trace.waits import waits_table
from wavewright.writers.terminal.bars import share_bar, sparkline


@dataclass(frozen=True)
class Answers:
    """The results in the story."""

    facts: Overview
    curves: Sequence[Residency]
    hot: Hotspots
    waited: Waits
    plan: Diagnosis


def short_story(gpu: str, facts: Overview, plan: Diagnosis, seconds: float) -> Iterator[AnyBlock]:
    """The capture, its hotspots and the first thing to change, followed by the verbs for the rest."""
    yield sentence((f"A raw thread trace of {gpu}, made here and decoded:", "bold"))
    yield _decoded(facts, seconds)
    yield from loss_lines(facts.losses)
    yield sentence("  ", share_bar(facts.state_cycles))
    for finding in plan.findings[:1]:
        yield sentence(("What to change first:", "bold"))
        yield finding_block(1, finding)


def story(
    gpu: str, files: Sequence[tuple[str, int]], answers: Answers, seconds: float, *, where: str
) -> Iterator[AnyBlock]:
    """The demo's text, part by part: what was captured, where time goes, which row waits, for what, what to do."""
    facts = answers.facts
    yield Rule(f"1  A raw thread trace of {gpu}")
    for name, size in files:
        yield Sentence(f"  {name}  {size:,} bytes")
    yield Rule("2  Decoded")
    yield _decoded(facts, seconds)
    yield from loss_lines(facts.losses)
    for curve in answers.curves:
        peak = max(curve.waves_mean)
        yield sentence(f"  SE {curve.se} waves resident (peak {peak:.0f})  ", Drawn(sparkline(curve.waves_mean)))
    yield Rule(f"3  Where the waves' time goes: wavewright states {where}")
    yield sentence("  ", share_bar(facts.state_cycles))
    yield Rule(f"4  Which instruction costs most: wavewright hotspots {where}")
    yield hotspot_table(answers.hot, limit=6)
    yield Rule(f"5  For what it waits: wavewright waits {where}")
    yield waits_table(answers.waited, limit=2)
    yield Rule(f"6  What to change first: wavewright diagnose {where}")
    for number, finding in enumerate(answers.plan.findings[:2], 1):
        yield finding_block(number, finding)
    rest = len(answers.plan.findings) - 2
    if rest > 0:
        yield sentence((f"  showing 2 of {rest + 2} findings", "dim"))


def _decoded(facts: Overview, seconds: float) -> Sentence:
    kernel = facts.kernels[0] if facts.kernels else "no kernel"
    return Sentence(
        f"  {facts.waves:,} waves of {kernel}: {facts.instructions:,} instructions in {facts.span_cycles:,} cycles, "
        f"{facts.unresolved:,} without PC; {seconds:.2f} s"
    )


def run_story(outputs: Sequence[str], chapters: Sequence[tuple[str, str, Iterator[AnyBlock]]]) -> Iterator[AnyBlock]:
    """The outputs, and for each question the command that answers it and the start of its report.

    A chapter is a question, a command, and the report of the answer, whose first part is the verdict.
    """
    yield Rule("1  What was recorded")
    yield from (Sentence(f"  {line}") for line in outputs)
    for number, (question, command, report) in enumerate(chapters, start=2):
        yield Rule(f"{number}  {question}")
        yield sentence((f"$ {command}", "bold cyan"))
        yield next(report)
