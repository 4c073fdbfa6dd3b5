"""Diagnosis of a run: what took the time of its GPUs, what to change first, and at most how much that gains.

`partial_diagnosis` measures one run, `combine_diagnosis` merges the measurements of all of them, asks every rule
(`causes`, `across`), gives each nanosecond to one of them (`ledger`), and words the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from wavewright.analysis.run.diagnose.across import Ranks, rank_candidates
from wavewright.analysis.run.diagnose.causes import candidates, starved
from wavewright.analysis.run.diagnose.finding import Note, RunFinding, Threshold
from wavewright.analysis.run.diagnose.ledger import Account, Candidate, Settled, settle
from wavewright.analysis.run.diagnose.merged_diagnosis import MergedDiagnosis, total
from wavewright.analysis.run.diagnose.partial import PartialDiagnosis, partial_diagnosis
from wavewright.analysis.run.diagnose.recording_caveats import (
    caveats,
    hot_kernels,
    not_findings,
    notes,
    skipped,
    startup_times,
    unknown_share,
)
from wavewright.analysis.run.diagnose.work import COPY
from wavewright.base.words import duration, percent
from wavewright.facts.kernel_titles import kernel_title
from wavewright.facts.metrics.rule_voices import has_voice
from wavewright.facts.run_rules import RULES
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.schema import frame_of, packaged_spec

__all__ = ["RunDiagnosis", "combine_diagnosis", "diagnose_run", "partial_diagnosis"]

#: Where the GPU waits for the host for at least this share of the time, faster kernels may gain less than they take: a
#: host that launches just in time paces them too; the value is chosen here.
_PACING_SHARE = 0.1
_HALF = 0.5  #: A part of the time decides if it takes at least this share of it.
_STARTUP_SHARE = 0.1  #: If start-up takes more than this share of a run, the first sentence says that it is set aside.
_NAME = 60  #: Characters of a kernel's name in a command, at most.
_FINDINGS = packaged_spec(__package__, "findings")
#: Causes of idle time that lie in the program on the host.
OF_HOST = (
    *("host code", "preparation", "data loader", "launch", "launch call", "other call"),
    *("allocation", "loading code", "first use"),
)


@dataclass(frozen=True, eq=False)
class RunDiagnosis(Answer, package=__package__):
    """Causes of the time of a run, and what to change first."""

    subject: str  #: What was measured, in a line.
    trust: str  #: good, or use with caution: then `caveats` says why.
    headline: str  #: What set the time.
    findings: tuple[RunFinding, ...]
    notes: tuple[Note, ...]  #: Hot kernels, scratch memory, unused GPUs: nothing is lost by them.
    not_findings: tuple[Note, ...]  #: What looks like a problem and is none.
    skipped: tuple[Note, ...]  #: Rules that could not be checked, and why.
    caveats: tuple[Note, ...]
    checked: tuple[str, ...]  #: Rules that were checked and say nothing.
    gpus: pl.DataFrame
    kernels: pl.DataFrame
    window_ns: int  #: Mean of the GPUs.
    computation_share: float
    communication_share: float  #: Exposed.
    copy_share: float  #: Exposed.
    idle_share: float
    step_count: int  #: 0 = no steps are known.
    step_name: str
    next_command: str  #: What to ask next.

    def finding_table(self) -> pl.DataFrame:
        """One row per finding, with its numbers and its longest case."""
        rows = [
            vars(finding)
            | {"title": finding.verdict, "cause": finding.reason}
            | {"time": finding.evidence[0].window if finding.evidence else ""}
            for finding in self.findings
        ]
        return frame_of(_FINDINGS, rows)


def diagnose_run(run: Run) -> RunDiagnosis:
    """Causes of the time of the run: what to change first, and at most how much that gains."""
    return combine_diagnosis([partial_diagnosis(part) for part in run.parts])


def combine_diagnosis(partials: Sequence[PartialDiagnosis], *, path: str = "") -> RunDiagnosis:
    """The combined result of all runs; commands to ask next name `path`, else the file if there is one."""
    runs = MergedDiagnosis(partials or [partial_diagnosis(Run([]))], path)
    ranks = Ranks(runs)
    checked = _checked(runs, ranks)
    settled = settle([candidate for candidate in checked.values() if candidate is not None], account_of(runs, ranks))
    all_findings = [_finding(row, runs) for row in settled]
    findings = tuple(finding for finding in all_findings if has_voice("run", finding.rule))
    silent = [finding for finding in all_findings if not has_voice("run", finding.rule)]
    hot = hot_kernels(runs)
    recording_notes = tuple(caveats(runs))
    named_rules = {rule for finding in findings for rule in finding.rules}
    parts = ("computation", "exposed_communication", "exposed_copy", "idle")
    shares = {name: runs.share(runs.time(f"{name}_ns")) for name in parts}
    tables = RunDiagnosis.tables
    return RunDiagnosis(
        subject=_subject(runs),
        trust="use with caution" if any(note.rule != "D1" for note in recording_notes) else "good",  # D1: start-up
        headline=_headline(runs, shares),
        findings=findings,
        notes=(*notes(runs, hot), *(Note(row.rule, f"{row.verdict}: {row.reason}") for row in silent)),
        not_findings=tuple(not_findings(runs)),
        skipped=tuple(skipped(runs, ranks)),
        caveats=recording_notes,
        checked=tuple(rule for rule in checked if rule not in named_rules),
        gpus=runs.gpus.with_columns(start_ns="from_ns", end_ns="to_ns")
        .sort("rank", "node", "gpu", nulls_last=True)
        .select(tables["gpus"].names),
        kernels=hot.select(tables["kernels"].names),
        window_ns=round(runs.window_ns),
        computation_share=shares["computation"],
        communication_share=shares["exposed_communication"],
        copy_share=shares["exposed_copy"],
        idle_share=shares["idle"],
        step_count=runs.step_count,
        step_name=runs.step_name,
        next_command=_next(runs, findings, hot),
    )


def _checked(runs: MergedDiagnosis, ranks: Ranks) -> dict[str, Candidate | None]:
    """Rule -> its candidate, of all rules that could be checked; None = its cause takes too little time."""
    if not runs.gpu_count or not runs.window_ns:
        return {}
    has_launches = unknown_share(runs) < (RULES["D3"].say or 1)
    checked = dict(candidates(runs, has_launches=has_launches)) | dict(rank_candidates(runs, ranks))
    if checked.get("G3") is None and "L3" in checked:
        checked["L3"] = None  # a graph saves the gaps of launches: where these take too little time, so does it
    slow_copies = checked.get("C2")
    if slow_copies is not None and checked.get("C1") is None:  # not within a finding about exposed copies: by itself
        checked["C2"] = replace(slow_copies, within="") if runs.reaches("C1", slow_copies.extra_ns) else None
    if checked.get("X1") is None:  # slow collectives and low bandwidth are parts of exposed communication
        checked |= {rule: None for rule in ("X4", "X5") if rule in checked}
    checked |= _joined(runs, checked.get("C3"), checked.get("G4"))
    return checked | {"G1": starved(runs, [row.claim for row in checked.values() if row is not None])}


def _joined(runs: MergedDiagnosis, uploads: Candidate | None, reads: Candidate | None) -> dict[str, Candidate | None]:
    """Small uploads and readbacks of one run as one finding, under the rule of the longer part; empty = not both."""
    if uploads is None or reads is None:
        return {}
    first, second = sorted((uploads, reads), key=lambda candidate: -candidate.time_ns)
    remedies, second_remedies = (RULES[candidate.rule].remedies for candidate in (first, second))
    both = replace(
        first,
        title=RULES["C3"].title,
        cause=f"{first.cause}; {second.cause}",
        claim=first.claim | second.claim,
        takes=_with_copies(runs, first.takes | second.takes),
        extra_ns=0.0,
        time_ns=first.time_ns + second.time_ns,
        evidence=tuple(sorted((*first.evidence, *second.evidence), key=lambda place: -place.time_ns)[:5]),
        case_count=first.case_count + second.case_count,
        rules=(second.rule,),
        remedies=(remedies[0], second_remedies[0], *remedies[1:]),
    )
    return {first.rule: both, second.rule: None}


def _with_copies(runs: MergedDiagnosis, takes: pl.Expr) -> pl.Expr:
    """The exposed time of a finding, with the copies themselves where these take long enough to count."""
    is_copy = pl.col("kind") == COPY
    copies_ns = runs.mean(runs.exposed.filter(takes & is_copy)["exposed_ns"])
    return takes if runs.reaches("C3", copies_ns) else takes & ~is_copy


def account_of(runs: MergedDiagnosis, ranks: Ranks) -> Account:
    """The time that findings may promise: for the GPU that computes least no more than it does not compute."""
    windows, computations = (runs.gpus[name].to_list() for name in ("window_ns", "computation_ns"))
    limit_ns = max((window - computed for window, computed in zip(windows, computations, strict=True)), default=0)
    if ranks.are_met:  # the job lasts as long as its longest window, for the rank that computes least as well
        limit_ns = max(windows) - min(computations)
    return Account(
        idle=runs.cells.with_columns(time_ns="idle_ns"),
        exposed=ranks.exposed.with_columns(time_ns="exposed_ns"),
        gpu_count=runs.gpu_count,
        is_aligned=ranks.are_aligned,
        window_ns=runs.window_ns,
        computation_ns=runs.time("computation_ns"),
        limit_ns=float(limit_ns),
    )


def _finding(settled: Settled, runs: MergedDiagnosis) -> RunFinding:
    """The finding of a candidate; what it does not say itself is that of its rule."""
    candidate, rule = settled.candidate, RULES[settled.candidate.rule]
    bound_ns, alone_ns = (min(time_ns, runs.window_ns) for time_ns in (settled.owned_ns, settled.alone_ns))
    value = runs.share(candidate.time_ns) if candidate.value is None else candidate.value
    is_worse_above = rule.stress is None or (rule.say or 0) <= rule.stress  # else less of the quantity is worse
    is_strong = rule.stress is not None and (value >= rule.stress if is_worse_above else value <= rule.stress)
    window = next((place.window for place in candidate.evidence if place.window), "") or "0%:100%"
    remedies = candidate.remedies or rule.remedies
    return RunFinding(
        name=rule.name,
        kind=rule.kind,
        verdict=candidate.title or rule.title,
        reason=candidate.cause,
        confidence=candidate.confidence or rule.confidence,
        confidence_reason=candidate.confidence_reason or rule.confidence_reason,
        evidence=candidate.evidence,
        remedy=remedies[0] if remedies else "",
        gain_share_max=runs.share(alone_ns),
        rule=candidate.rule,
        rules=(candidate.rule, *candidate.rules),
        within=candidate.within,
        remedies=remedies,
        share=value if rule.unit == "share" else runs.share(candidate.time_ns),
        time_ns=round(candidate.time_ns),
        step_time_ns=round(candidate.time_ns / runs.step_count) if runs.step_count else None,
        bound_alone_ns=round(alone_ns),
        bound_ns=int(bound_ns),
        bound_share=runs.share(bound_ns),
        speedup_max=runs.window_ns / (runs.window_ns - bound_ns) if bound_ns < runs.window_ns else None,
        is_strong=is_strong,
        false_if=rule.false_if,
        next_command=rule.next_command.format(path=runs.path, window=window, kernel=_quoted(candidate.kernel)),
        threshold=Threshold(rule.quantity, value, rule.unit, rule.say, rule.stress, rule.source),
        case_count=candidate.case_count,
    )


def _quoted(name: str) -> str:
    """The name of a kernel's function, without namespaces and template arguments, quoted for a command."""
    short = kernel_title(name).split("<")[0].split("::")[-1].split(" ")[-1][:_NAME]
    return f"'{short}'" if short else ""


def _subject(runs: MergedDiagnosis) -> str:
    """Formats, GPUs, length and steps of what was measured, in a line."""
    formats = list(dict.fromkeys(text for part in runs.partials for text in part.facts["formats"]))
    names = [name for column in ("product", "target") for name in runs.gpus[column] if name]
    gpu = f" ({names[0]})" if names else ""
    text = f"{', '.join(formats[:2]) or 'nothing'}: {runs.gpus_text} with work{gpu}"
    text += f", {duration(runs.window_ns)}" if runs.gpu_count else ""
    return f"{text}, {runs.step_count} steps of {runs.step_name}" if runs.step_count else text


def _headline(runs: MergedDiagnosis, shares: dict[str, float]) -> str:
    """What set the time, in words; keys of `shares`: computation, exposed_communication, exposed_copy, idle."""
    if not runs.gpu_count:
        return "No work of a GPU is recorded: there is nothing to diagnose."
    busy = [f"computation {100 * shares['computation']:.1f}"]
    if runs.time("communication_ns"):
        busy.append(f"exposed communication {100 * shares['exposed_communication']:.1f}")
    if runs.time("copy_ns"):
        busy.append(f"copies {100 * shares['exposed_copy']:.1f}")
    gpus = "GPU" if runs.gpu_count == 1 else runs.gpus_text
    busy_share = f"{percent(1 - shares['idle'])} of {duration(runs.window_ns)}"
    text = f"{gpus} busy {busy_share} ({', '.join(busy)}), idle {percent(shares['idle'])}."
    startup_ns, recorded_ns = startup_times(runs)
    if startup_ns > _STARTUP_SHARE * recorded_ns:
        first = f"Start-up is {duration(startup_ns)} of {duration(recorded_ns)} ({percent(startup_ns / recorded_ns)})"
        text = f"{first} and is set aside. After it: {text}"
    return f"{text} {_decider(runs, shares)}"


def _decider(runs: MergedDiagnosis, shares: dict[str, float]) -> str:
    """The part that set the time: the one that takes at least half of it, if one does and nothing else paces it."""
    idle_ns = total(runs.cells["idle_ns"])
    host_ns = total(runs.cells.filter(pl.col("cause").is_in(OF_HOST))["idle_ns"])
    host_share = shares["idle"] * host_ns / idle_ns if idle_ns else 0.0
    if shares["computation"] >= _HALF:
        kernels = percent(shares["computation"])
        if host_share < _PACING_SHARE:
            return f"Work of the GPU decides: {kernels} of the time is kernels."
        waits = f"Kernels take {kernels} of the time, and {percent(host_share)} of it the GPU waits for the host"
        return f"{waits}: `wavewright path` tells which of them sets the pace."
    if shares["exposed_communication"] >= _HALF:
        return f"Communication decides: {percent(shares['exposed_communication'])} of the time it is hidden by nothing."
    if shares["exposed_copy"] >= _HALF:
        return f"Copies decide: {percent(shares['exposed_copy'])} of the time no kernel runs beside them."
    if shares["idle"] < _HALF:
        return "No part takes half of the time."
    if host_ns >= _HALF * idle_ns:
        return "The host decides: the GPU waits for what it launches next."
    return "Waiting decides: the GPU has nothing to do most of the time."


def _next(runs: MergedDiagnosis, findings: Sequence[RunFinding], hot: pl.DataFrame) -> str:
    """The command to ask next."""
    if findings:
        return findings[0].next_command
    if hot.height:
        return f"wavewright kernels {_quoted(hot['name'][0])} {runs.path}"
    verbs = (verb for verb in ("memory", "collectives") if any(part.facts[f"has_{verb}"] for part in runs.partials))
    return f"wavewright {next(verbs, 'info')} {runs.path}"
