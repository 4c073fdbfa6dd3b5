"""Diagnoses of thread traces and of PC samples as blocks of a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wavewright.analysis.trace.about.traced_call import launch_sentence, launch_source
from wavewright.analysis.trace.diagnose import Diagnosis
from wavewright.analysis.trace.diagnose.finding import StallFinding
from wavewright.analysis.trace.samples.diagnosis import SampleDiagnosis
from wavewright.base.words import counted, percent, short
from wavewright.model.blocks import Block, Finding, Labelled, Sentence, headline, labelled
from wavewright.model.findings import CodeEvidence
from wavewright.words.kit.frame_tables import place
from wavewright.words.kit.handles import handle, instruction_handle
from wavewright.words.kit.run_gain import calls_words
from wavewright.words.trace.diagnose import (
    context_line,
    floor_lines,
    gain_words,
    reason_words,
    remedy_words,
    run_words,
    verdict,
)

_EVIDENCE = 3
_REMEDIES = 3
_REASONS = 5


def diagnosis_parts(answer: Any, *, limit: int = 20) -> Iterator[Block]:
    """The diagnosis of a trace, or of PC samples."""
    from wavewright.analysis.trace.samples.diagnosis import SampleDiagnosis

    return _of_samples(answer, limit) if isinstance(answer, SampleDiagnosis) else _of_trace(answer, limit)


def _of_trace(answer: Diagnosis, limit: int) -> Iterator[Block]:
    yield headline(verdict(answer))
    if context := context_line(answer):
        yield Sentence(context)
    yield from map(Sentence, floor_lines(answer))
    if answer.launch is not None:
        calls = f"; {calls_words(answer.in_run[0])}" if answer.in_run else ""
        yield Labelled("launch", f"{launch_sentence(answer.launch)}; {launch_source(answer.launch)}{calls}")
    yield Labelled("trust", f"cycles: {answer.trust.cycles}; source lines: {answer.trust.lines}")
    for caveat in (*answer.trust.caveats, *(answer.link.caveats if answer.link else ())):
        yield Labelled(caveat.severity, f"{caveat.sentence}; {caveat.advice}" if caveat.advice else caveat.sentence)
    yield from map(Sentence, filter(None, (answer.order_note,)))
    for number, finding in enumerate(answer.findings[:limit], 1):
        in_run = [Labelled("run", words)] if (words := run_words(answer, number)) else []
        paragraphs = (*_paragraphs(finding), *in_run)
        yield Finding(number, finding.verdict, gain_words(finding), paragraphs, handle("f", number))
    if len(answer.findings) > limit:
        yield Sentence(f"showing {limit} of {len(answer.findings)} findings")


def _paragraphs(finding: StallFinding) -> Iterator[Labelled]:
    yield Labelled("why", finding.reason)
    if finding.stall_cycles_total:
        share = f"{percent(finding.stall_share)} of the cycles of all waves"
        rows = f", {counted(finding.row_count, 'instructions')}" if finding.row_count else ""
        yield Labelled("cost", f"{short(finding.stall_cycles_total)} cycles ({share}){rows}")
    for reason in finding.reasons[:_REASONS]:
        yield Labelled("counters", reason_words(reason))
    for remedy in finding.remedies[:_REMEDIES]:
        yield Labelled("do", remedy_words(remedy))
    for item in finding.evidence[:_EVIDENCE]:
        yield Labelled("see", _evidence(item))
    if finding.row_count > _EVIDENCE and finding.evidence:
        yield Labelled("more", f"showing {_EVIDENCE} of {finding.row_count:,} rows; stalls lists more")
    yield Labelled("confidence", f"{finding.confidence} ({finding.confidence_reason})")


def _evidence(item: CodeEvidence) -> str:
    where = place(item.file, item.line)
    if item.row < 0:
        return where
    times = f"{item.execution_count:,} times, " if item.execution_count else ""
    text = f"{instruction_handle(item.address)} {item.text}{f' ({where})' if where else ''}"
    text += f": {times}{short(item.cycles_total)} cycles"
    return text + (f"; waits for {'; '.join(item.producers)}" if item.producers else "")


def _of_samples(answer: SampleDiagnosis, limit: int) -> Iterator[Block]:
    from wavewright.words.trace.samples import (
        next_recordings,
        open_questions,
        sample_place,
        scope_words,
        verdict_words,
    )

    yield headline(verdict_words(answer))
    yield Sentence(scope_words(answer.scope))
    for number, finding in enumerate(answer.findings[:limit], 1):
        interval = f"{percent(finding.share_min)} to {percent(finding.share_max)}"
        paragraphs = [Labelled("why", finding.verdict)]
        paragraphs += [Labelled("do", finding.remedy)] if finding.remedy else []
        paragraphs += [labelled("see", sample_place(item)) for item in finding.places]
        share = f"{percent(finding.share)} of the samples, 95 % interval {interval}"
        yield Finding(number, finding.name, share, tuple(paragraphs), handle("f", number))
    if len(answer.findings) > limit:
        yield Sentence(f"showing {limit} of {len(answer.findings)} findings")
    for line in open_questions(answer):
        yield Labelled("note", line)
    for line in next_recordings(answer):
        yield Labelled("to know more", line)
