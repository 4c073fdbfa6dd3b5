"""The first section of a report: headline, status, what was measured, how far it can be trusted."""

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
    """The status of a diagnosis and its reason; without findings it is healthy only if everything could be judged."""
    if hasattr(answer, "findings"):
        finding_count = len(answer.findings)
    else:
        finding_count = sum(bool(kernel.limits) for kernel in getattr(answer, "kernels", ()))
    if finding_count:
        return FINDINGS, counted(finding_count, "findings")
    unjudged = _not_judged(answer)
    return (CANNOT_TELL, unjudged) if unjudged else (HEALTHY, "every rule was checked, none has anything to say")


def _not_judged(answer: Any) -> str:
    """The reason not to call a diagnosis without findings healthy, from the fields that its kind has; empty = none."""
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
        if not kernels:
            return "nothing was measured"
        if undecided:
            return f"the counters do not decide for {counted(undecided, 'kernels')}"
    gpus = getattr(answer, "gpus", None)
    return "no GPU work was recorded" if gpus is not None and not gpus.height else ""


def split_diagnosis(section: Section, answer: Any, losses: Sequence[str]) -> tuple[Section, Section]:
    """The first section of a report, and the section of findings without the blocks that moved to the first."""
    status, reason = status_of(answer)
    headline = next((block for block in section.blocks if _is_headline(block)), None)
    first: list[Block] = [] if headline is None else [headline]
    first.append(Labelled("status", f"{status} ({reason})"))
    findings: list[Block] = []
    for block in section.blocks:
        is_trust = isinstance(block, Labelled) and block.label in _TRUST
        is_opening = isinstance(block, Sentence) and block.style == "plain"
        is_opening = is_opening and not any(isinstance(earlier, Finding) for earlier in findings)
        if block is not headline:
            (first if is_trust or is_opening else findings).append(block)
    if losses:
        other_losses = f" and {counted(len(losses) - 1, 'more losses')}, listed at the end" if len(losses) > 1 else ""
        first.append(Labelled("losses", f"{losses[0]}{other_losses}"))
    glance = Section(NAME, TITLE, QUESTION, tuple(first))
    return glance, replace(section, blocks=tuple(findings) or (Sentence("no findings"),))


def _is_headline(block: Block) -> bool:
    return isinstance(block, Sentence) and block.style == "headline"
