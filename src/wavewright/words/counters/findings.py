"""Limits of the kernels of a counter capture as blocks of a report: one finding for each kernel."""

from __future__ import annotations

from collections.abc import Iterator

from wavewright.analysis.counters.limiters import KernelLimit, Limiters
from wavewright.base.words import percent
from wavewright.model.blocks import Block, Finding, Labelled, Sentence, Table
from wavewright.words.counters.access import access_lines
from wavewright.words.counters.limiters import (
    actionable,
    excluded_words,
    gain_words,
    limits_headline,
    numbers_words,
    times_words,
)
from wavewright.words.kit.brief_names import brief
from wavewright.words.kit.declared_tables import block_columns
from wavewright.words.kit.handles import handle

_NAME = 100
_UNDECIDED = 6
_COLUMNS = block_columns("counters/findings/limiters")


def limiters_parts(answer: Limiters) -> Iterator[Block]:
    """The limiter of each kernel, the longest first, with its numbers."""
    yield Sentence(_headline(answer), "headline")
    yield Sentence(limits_headline(answer))
    for caveat in answer.caveats:
        yield Labelled(caveat.severity, f"{caveat.sentence}; {caveat.advice}" if caveat.advice else caveat.sentence)
    for number, kernel in enumerate(answer.kernels, 1):
        yield _finding(number, kernel)
    rows = [row for kernel in answer.kernels for row in _rows(kernel)]
    if rows:
        yield Table("limiters and their numbers", _COLUMNS, tuple(rows))
    if len(answer.kernels) < answer.kernel_count:
        yield Sentence(f"showing {len(answer.kernels):,} of {answer.kernel_count:,} kernels")


def _headline(answer: Limiters) -> str:
    if not answer.kernels:
        return limits_headline(answer)
    first = answer.kernels[0]
    share = f"{percent(first.duration_share)} of the time, " if first.duration_share is not None else ""
    return f"{brief(first.kernel_name, _NAME)}: {share}{first.summary}"


def _finding(number: int, kernel: KernelLimit) -> Finding:
    active = kernel.of("at limit", "likely")
    paragraphs = [Labelled("why", kernel.summary), Labelled("time", times_words(kernel))]
    paragraphs += [Labelled("access", line) for line in access_lines(kernel.limiters)]
    paragraphs += [Labelled("do", f"{each.name}: {each.remedy}{gain_words(each)}") for each in actionable(active)[:3]]
    absent = [each for each in kernel.of("undecided") if not each.is_measurable]
    if absent:
        names = ", ".join(each.name for each in absent)
        paragraphs.append(Labelled("not measurable here", f"{absent[0].reason}: {names}"))
    if excluded := kernel.of("excluded"):
        paragraphs.append(Labelled("excluded", excluded_words(excluded, with_hint=False)))
    if kernel.plan:
        paragraphs.append(Labelled("to know more", f"the missing counters: {kernel.plan}"))
    if kernel.limits:
        paragraphs.append(Labelled("confidence", f"{kernel.confidence} ({kernel.confidence_reason})"))
    gains = [each.gain_share_max for each in active if each.gain_share_max is not None]
    gain = f"gain at most {percent(max(gains), 0)} of its time" if gains else ""
    return Finding(number, brief(kernel.kernel_name, _NAME), gain, tuple(paragraphs), handle("k", kernel.kernel))


def _rows(kernel: KernelLimit) -> Iterator[tuple[str, ...]]:
    undecided = [each for each in kernel.of("undecided") if each.is_measurable]
    for limiter in (*kernel.of("at limit", "likely"), *undecided[:_UNDECIDED]):
        sure = "" if limiter.verdict == "undecided" else limiter.confidence
        name = brief(kernel.kernel_name, 40)
        yield name, limiter.verdict, limiter.name, numbers_words(limiter), sure
