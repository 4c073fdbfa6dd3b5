"""A diagnosis as a plan: what stalls, the places that matter with cause and fix, and what to do in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.base.shown import printable
from wavewright.base.words import counted, percent, short
from wavewright.errors import UsageError
from wavewright.facts.stall_classes import plan_words
from wavewright.model.blocks import GAP, AnyBlock, Rule, Sentence, headline, labelled, sentence
from wavewright.words.kit.frame_tables import hexadecimal, place
from wavewright.words.trace.diagnose import BASIS_WORDS, remedy_words, verdict
from wavewright.words.trace.input.coverage import SEVERITY_TONES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wavewright.analysis.trace.diagnose import Diagnosis
    from wavewright.analysis.trace.diagnose.finding import StallFinding
    from wavewright.analysis.trace.samples.diagnosis import SampleDiagnosis

_FIXES = 3  #: Remedies of a finding that a plan shows.
_LEVELS = ("LOW", "MED", "HIGH")
_TONES = {"HIGH": "bold red", "MED": "bold yellow", "LOW": "bold"}


def plan_report(answer: Diagnosis | SampleDiagnosis, *, limit: int) -> Iterator[AnyBlock]:
    """The blocks of a plan. Raises `UsageError` for PC samples: they bound no gain."""
    from wavewright.analysis.trace.samples.diagnosis import SampleDiagnosis

    if isinstance(answer, SampleDiagnosis):
        problem = "a plan has gains with bounds, and PC samples bound none"
        raise UsageError(problem, advice="diagnose without --format plan has the findings of samples")
    yield headline(verdict(answer))
    for caveat in answer.trust.caveats:
        yield labelled(caveat.severity, printable(caveat.sentence), tone=SEVERITY_TONES[caveat.severity])
    findings = answer.findings[:limit]
    yield GAP
    yield Rule("Stall summary")
    yield from _summary(answer, findings)
    if findings:
        yield GAP
        yield Rule("Hotspots")
    for number, finding in enumerate(findings, 1):
        yield from _hotspot(number, finding)
    if findings:
        yield GAP
        yield Rule("Priority order")
        yield from map(_task, enumerate(findings, 1))
        yield Sentence(_legend(), "note")
    if len(answer.findings) > limit:
        yield Sentence(f"showing {limit} of {len(answer.findings)} findings; --top 0 shows all", "note")


def _summary(answer: Diagnosis, findings: Sequence[StallFinding]) -> Iterator[AnyBlock]:
    if not answer.wave_cycles_total:
        return
    share = percent(answer.stall_cycles_total / answer.wave_cycles_total)
    of_all = f"{share} of the {short(answer.wave_cycles_total)} cycles of all waves"
    yield Sentence(f"Total: {short(answer.stall_cycles_total)} cycles stalled, {of_all}")
    stalls = sorted((f for f in findings if f.stall_cycles_total), key=lambda finding: -finding.stall_cycles_total)
    parts = [f"{stall.name} {short(stall.stall_cycles_total)} ({percent(stall.stall_share)})" for stall in stalls]
    if parts:
        yield Sentence(f"Largest, of the cycles of all waves: {', '.join(parts)}")


def _hotspot(number: int, finding: StallFinding) -> Iterator[AnyBlock]:
    place_words = ""
    if finding.evidence:
        first = finding.evidence[0]
        address = hexadecimal(first.address) if first.row >= 0 else ""
        place_words = "  ".join(filter(None, (place(first.file, first.line), address, printable(first.text))))
    yield GAP
    yield sentence((f"{number}. {finding.verdict}", "bold"), f"  {place_words}" if place_words else "")
    if finding.stall_cycles_total:
        share = f"{percent(finding.stall_share)} of the cycles of all waves"
        rows = f", {counted(finding.row_count, 'instructions')}" if finding.row_count else ""
        yield labelled("stall", f"{short(finding.stall_cycles_total)} cycles ({share}){rows}")
    yield labelled("root cause", printable(finding.reason))
    for remedy in finding.remedies[:_FIXES]:
        yield labelled("fix", remedy_words(remedy))
    yield labelled("gain", f"{_gain(finding)}; confidence {finding.confidence} ({finding.confidence_reason})")


def _gain(finding: StallFinding) -> str:
    """The expected gain as an interval."""
    low, high = percent(finding.gain_share_min), percent(finding.gain_share_max)
    least = "" if low == high else "0 to " if low == "0.0 %" else f"{low} to "
    return f"{least}{high} of the {BASIS_WORDS[finding.gain_basis]}"


def priority(finding: StallFinding) -> str:
    """HIGH, MED or LOW: by the most that can be won, one lower where the confidence is low."""
    plan = plan_words()
    level = (finding.gain_share_max >= plan.high_gain_share) + (finding.gain_share_max >= plan.medium_gain_share)
    return _LEVELS[max(level - (finding.confidence == "low"), 0)]


def _task(entry: tuple[int, StallFinding]) -> AnyBlock:
    number, finding = entry
    level, remedy = priority(finding), next(iter(finding.remedies), None)
    name = (remedy.name or remedy.text) if remedy is not None else finding.remedy or finding.verdict
    effort = plan_words().effort(finding.kind, remedy.name if remedy is not None else "")
    text = f" {printable(name)} (finding {number}; gain {_gain(finding)}; effort {effort})"
    return sentence(f"{number}. ", (f"[{level}]", _TONES[level]), text)


def _legend() -> str:
    plan = plan_words()
    high, medium = percent(plan.high_gain_share, 0), percent(plan.medium_gain_share, 0)
    return (
        f"HIGH: may gain {high} of the time or more, MED: {medium} or more; low confidence counts one lower. "
        "Gains do not add up. "
        "Effort is judgement: small = order of instructions, medium = a loop or its launch, large = tiles or algorithm"
    )
