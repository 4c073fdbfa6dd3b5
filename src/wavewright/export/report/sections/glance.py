"""The first section of a report: the headline, what was measured, how far to trust it, whether there is work to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from wavewright.base.words import counted
from wavewright.model.blocks import Block, Finding, Labelled, Sentence
from wavewright.model.report import Section

NAME, TITLE = "glance", "At a glance"
QUESTION = "What was measured, what is the most important result, and how far can it be trusted?"
HEALTHY, FINDINGS, CANNOT_TELL = "healthy", "findings", "cannot tell"
#: Labels of a diagnosis that say how far to trust it.
_TRUST = ("trust", "caveats", "fatal", "care", "launch")


def status_of(answer: Any) -> tuple[str, str]:
    """One of three words about a diagnosis, and why: nothing was found only counts where everything was looked at."""
    findings = _findings(answer)
    if findings:
        return FINDINGS, counted(findings, "findings")
    open_ends = _not_judged(answer)
    return (CANNOT_TELL, open_ends) if open_ends else (HEALTHY, "every rule was checked, none has anything to say")


def _findings(answer: Any) -> int:
    if hasattr(answer, "findings"):
        return len(answer.findings)
    return sum(bool(kernel.limits) for kernel in getattr(answer, "kernels", ()))


def _not_judged(answer: Any) -> str:
    """Words about what could not be looked at; empty = nothing."""
    skipped = [note.text for note in getattr(answer, "skipped", ())]
    if skipped:
        return f"no finding, but not everything could be checked: {'; '.join(dict.fromkeys(skipped))}"
    trust = getattr(answer, "trust", None)
    if getattr(trust, "cycles", "") == "do not use":
        return "the trace cannot be trusted"
    if getattr(answer, "wave_cycles_total", None) == 0:
        return "the trace has no instructions"
    if getattr(answer, "is_enough", True) is False:
        return "too few samples"
    kernels = getattr(answer, "kernels", None)
    if isinstance(kernels, tuple):
        undecided = sum(bool(kernel.of("undecided")) for kernel in kernels)
        if undecided or not kernels:
            return (
                f"the counters do not decide for {counted(undecided, 'kernels')}" if kernels else "nothing was measured"
            )
    gpus = getattr(answer, "gpus", None)
    return "no GPU work was recorded" if gpus is not None and not gpus.height else ""


def split_diagnosis(section: Section, answer: Any, losses: Sequence[str]) -> tuple[Section, Section]:
    """The first section of a report, and the findings without what that one says already."""
    first: list[Block] = []
    rest: list[Block] = []
    status, why = status_of(answer)
    headline = next((block for block in section.blocks if _is_headline(block)), None)
    if headline is not None:
        first.append(headline)
    first.append(Labelled("status", f"{status} ({why})"))
    is_before = True
    for block in section.blocks:
        if block is headline:
            continue
        is_before = is_before and not isinstance(block, Finding)
        is_trust = isinstance(block, Labelled) and block.label in _TRUST
        is_opening = is_before and isinstance(block, Sentence) and block.style == "plain"
        (first if is_trust or is_opening else rest).append(block)
    if losses:
        more = f" and {counted(len(losses) - 1, 'more losses')}, listed at the end" if len(losses) > 1 else ""
        first.append(Labelled("losses", f"{losses[0]}{more}"))
    glance = Section(NAME, TITLE, QUESTION, tuple(first))
    return glance, replace(section, blocks=tuple(rest) or (Sentence("no findings"),))


def _is_headline(block: Block) -> bool:
    return isinstance(block, Sentence) and block.style == "headline"
