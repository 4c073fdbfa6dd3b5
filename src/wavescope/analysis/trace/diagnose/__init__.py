"""What should be changed first? Findings with evidence, cause, remedy and an upper bound of the gain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from wavescope.analysis.common.caveats import Caveat, verdict
from wavescope.analysis.trace.diagnose import beyond
from wavescope.analysis.trace.diagnose.facts import Facts, RowView, facts
from wavescope.analysis.trace.diagnose.finding import Link, StallFinding
from wavescope.analysis.trace.diagnose.remedies import remedies_for
from wavescope.analysis.trace.trust.caveats import caveats_of
from wavescope.analysis.trace.waits.classes import UNRESOLVED, stall_class
from wavescope.base.bounds import BYTES_GB, bounded
from wavescope.model.answer import Answer
from wavescope.model.findings import CodeEvidence

if TYPE_CHECKING:
    import polars as pl

    from wavescope.model.counters import CounterSet
    from wavescope.model.trace import ThreadTrace

_EVIDENCE_ROWS = 5
_NEGLIGIBLE_SHARE = 0.01
#: Caveats about source lines, not about cycles: they do not make a finding less certain.
_CAVEATS_OF_LINES = ("coarse_lines", "no_lines")


@dataclass(frozen=True)
class Diagnosis(Answer):
    """A prioritized plan, and how far its trace can be trusted."""

    definition: ClassVar[str] = (
        "One finding per stall class, the one with the most exposed cycles first: cycles that no other wave of the same"
        " SIMD hid (docs/explanation/hidden-latency.md). The gain of a finding is at most its exposed"
        " cycles over the cycles of all waves (latency + idle): removing them cannot make waves faster than that."
        " Classes below 1 % of the exposed cycles are left out unless they are the largest. Occupancy's bound: further"
        " waves can hide no more than they issue."
    )

    trust: str  #: good, with care, or do not.
    caveats: tuple[Caveat, ...]
    findings: tuple[StallFinding, ...]
    stall_cycles_total: int
    exposed_cycles_total: int  #: Exposed stall and idle cycles.
    wave_cycles_total: int  #: Latency and idle cycles of all waves.
    #: The kernel of a counter capture that gives findings their reasons; None = no counters were given.
    link: Link | None = None


@bounded(ideal_gb=BYTES_GB)
def diagnose(
    trace: ThreadTrace,
    *,
    rows: pl.Series | None = None,
    counters: CounterSet | None = None,
    kernel: str | None = None,
    ideal_gb: float | None = None,
) -> Diagnosis:
    """A prioritized plan for the kernel in a trace.

    Parameters
    ----------
    rows
        Only what these code rows cost.
    counters
        A counter capture of the same kernel: its numbers become reasons of the findings.
    kernel
        Which kernel of the counters, by rank or part of its name; None = the one with the name of the traced kernel.
    ideal_gb
        10^9 bytes that one dispatch has to read at least, to tell over-fetch.

    Raises
    ------
    UsageError
        When the counters have no kernel that `kernel` picks.
    """
    caveats = caveats_of(trace)
    trust = verdict(caveats)
    of_cycles = verdict(tuple(caveat for caveat in caveats if caveat.name not in _CAVEATS_OF_LINES))
    trace_facts = facts(trace, rows=rows)
    findings: list[StallFinding] = []
    if trace_facts.wave_cycles_total:
        classes = [_of_class(trace, trace_facts, name, views, of_cycles) for name, views in trace_facts.views.items()]
        fetch = beyond.instruction_fetch(trace, trace_facts)
        findings = _ranked(classes, [fetch] if fetch else [])
        if rows is None:  # these are about the whole kernel
            last = (beyond.registers_or_lds(trace, trace_facts), beyond.source_locations(trace, trace_facts))
            findings += [candidate for candidate in last if candidate]
    link = None
    if counters is not None:
        # the engine of counters is large: most diagnoses do without it
        from wavescope.analysis.trace.diagnose.linked import linked
        from wavescope.analysis.trace.diagnose.reasons import reasons_for

        counted = linked(trace, counters, kernel=kernel, ideal_gb=ideal_gb)
        link = counted.link
        findings = [replace(finding, reasons=reasons_for(finding, counted)) for finding in findings]
    return Diagnosis(
        trust=trust,
        caveats=caveats,
        findings=tuple(findings),
        stall_cycles_total=trace_facts.stall_cycles_total,
        exposed_cycles_total=trace_facts.exposed_cycles_total,
        wave_cycles_total=trace_facts.wave_cycles_total,
        link=link,
    )


def _ranked(classes: list[StallFinding], others: list[StallFinding]) -> list[StallFinding]:
    """Most exposed cycles first, but a stall class leads: idle cycles are the less certain finding."""

    def cost(finding: StallFinding) -> tuple[int, int, str]:
        return -finding.exposed_cycles_total, -finding.stall_cycles_total, finding.name

    leading = sorted(classes, key=cost)[:1]
    behind = sorted([finding for finding in [*classes, *others] if finding not in leading], key=cost)
    return leading + [finding for finding in behind if finding.exposed_share >= _NEGLIGIBLE_SHARE]


def _of_class(trace: ThreadTrace, trace_facts: Facts, name: str, views: list[RowView], trust: str) -> StallFinding:
    declared = stall_class(name)
    stall = sum(view.stall_cycles_total for view in views)
    exposed = sum(view.exposed_cycles_total for view in views)
    who = beyond.barrier_cause(trace) if name == "barrier" else _nearest_cause(views)
    confidence, confidence_reason = _confidence(name, trust)
    remedies = remedies_for(views)
    return StallFinding(
        name=name,
        kind=declared.kind,
        verdict=_headline(name, declared.kind),
        reason=declared.meaning + (f"; {who}" if who else ""),
        remedy=remedies[0].text if remedies else "",
        remedies=remedies,
        evidence=tuple(_evidence(view) for view in views[:_EVIDENCE_ROWS]),
        row_count=len(views),
        stall_cycles_total=stall,
        stall_share=stall / trace_facts.stall_cycles_total if trace_facts.stall_cycles_total else 0.0,
        exposed_cycles_total=exposed,
        exposed_share=exposed / trace_facts.exposed_cycles_total if trace_facts.exposed_cycles_total else 0.0,
        gain_share_max=exposed / trace_facts.wave_cycles_total,
        confidence=confidence,
        confidence_reason=confidence_reason,
    )


def _headline(name: str, kind: str) -> str:
    if kind == "wait":
        return f"Waves wait for: {name.removeprefix('wait ').removeprefix('for ')}"
    return {"issue": f"Stalls at issue: {name}", "padding": f"Padding: {name}", "sync": f"Waves wait at the {name}"}[
        kind
    ]


def _nearest_cause(views: list[RowView]) -> str:
    """How far ahead the costliest wait's last producer was issued, and how much further it had to be."""
    producers = [producer for producer in views[0].producers if producer.missing_cycles_mean > 0]
    if not producers:
        return ""
    worst = max(producers, key=lambda producer: producer.missing_cycles_mean * producer.count)
    return (
        f"at the costliest row the producer comes {worst.distance_cycles_mean:,.0f} cycles "
        f"({worst.distance_instructions_mean:,.0f} instructions) before its wait and would have to come "
        f"{worst.missing_cycles_mean:,.0f} cycles earlier"
    )


def _evidence(view: RowView) -> CodeEvidence:
    groups: dict[str, list[float]] = {}
    for producer in view.producers:
        groups.setdefault(producer.text.split(" ", 1)[0], []).append(producer.distance_cycles_mean)
    return CodeEvidence(
        view.row,
        view.address,
        view.text,
        view.file,
        view.line,
        view.execution_count,
        view.stall_cycles_total,
        view.exposed_cycles_total,
        tuple(_producer_group(mnemonic, distances) for mnemonic, distances in groups.items()),
    )


def _producer_group(mnemonic: str, distances: list[float]) -> str:
    nearest, farthest = min(distances), max(distances)
    if len(distances) == 1:
        return f"{mnemonic}, {nearest:,.0f} cycles before"
    return f"{len(distances)} {mnemonic}, {nearest:,.0f} to {farthest:,.0f} cycles before"


def _confidence(name: str, trust: str) -> tuple[str, str]:
    if trust == "no":
        return "low", "the trace itself cannot be trusted"
    if name == UNRESOLVED.name:
        return "low", "the producers of these waits cannot be told"
    if " + " in name:
        return "medium", "which of the kinds came last cannot be told"
    if trust == "with caution":
        return "medium", "the trace can only be trusted with caution"
    return "high", "measured on every executed instruction"
