"""Causes of the time of a run: what to change first, and at most how much that gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl

from wavewright.analysis.run.diagnose.across import Ranks, rank_candidates
from wavewright.analysis.run.diagnose.causes import candidates, starved
from wavewright.analysis.run.diagnose.finding import Note, RunFinding, Threshold
from wavewright.analysis.run.diagnose.ledger import Account, Candidate, Settled, settle
from wavewright.analysis.run.diagnose.merged_diagnosis import MergedDiagnosis
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
from wavewright.analysis.run.diagnose.sums import total
from wavewright.analysis.run.diagnose.work import COPY
from wavewright.base.words import duration, percent
from wavewright.facts.kernel_titles import kernel_title
from wavewright.facts.metrics.rule_voices import has_voice
from wavewright.facts.run_rules import RULES
from wavewright.model.answer import Answer
from wavewright.model.run import Run
from wavewright.model.schema import TableSpec, table_spec

__all__ = ["RunDiagnosis", "combine_diagnosis", "diagnose_run", "partial_diagnosis"]

#: Part of the time in which the GPU waits for the host from which on faster kernels may gain less than they take: a
#: host that launches just in time paces them too; the value is chosen here.
_PACING_SHARE = 0.1
_HALF = 0.5
_STARTUP_SHARE = 0.1  #: Share of a run set aside as start-up, above which the first sentence says so.
_NAME = 60
_GPU_COLUMNS = """
    node                      String   -   | host name of the node, else the file
    gpu                       Int64    -   | number of the GPU on the node; null = not recorded
    pid                       Int64    -   | process with most of its work
    rank                      Int32    -   | its rank; null = not known
    start_ns                  Int64    ns  | begin of the window: first work, or the end of start-up
    end_ns                    Int64    ns  | end of the last work; both of all GPUs of the node in a recording
    window_ns                 Int64    ns  | length of the window, without time between recordings
    computation_ns            Int64    ns  | with kernels that compute
    exposed_communication_ns  Int64    ns  | with communication, without computation
    exposed_copy_ns           Int64    ns  | with copies, without any kernel
    idle_ns                   Int64    ns  | without any work; the four add up to the window
"""
_KERNEL_COLUMNS = """
    name           String   -      | the kernel
    calls          Int64    -      | dispatches on all GPUs
    total_ns       Int64    ns     | their time
    share          Float64  -      | of the time of all computing kernels
    max_ns         Int64    ns     | the longest
    scratch_bytes  Int64    bytes  | scratch memory per lane; null = not recorded
"""


_FINDING_COLUMNS: dict[str, type[pl.DataType]] = {
    "rule": pl.String, "name": pl.String, "verdict": pl.String, "reason": pl.String, "share": pl.Float64,
    "time_ns": pl.Int64, "bound_alone_ns": pl.Int64, "bound_ns": pl.Int64, "bound_share": pl.Float64,
    "within": pl.String, "is_strong": pl.Boolean, "confidence": pl.String, "case_count": pl.Int64,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class RunDiagnosis(Answer):
    """Causes of the time of a run, and what to change first."""

    definition: ClassVar[str] = (
        "The window of a GPU is from the first to the last work of the GPUs of its node, without start-up where that "
        "is told. It is divided "
        "into computation, communication that no computation hides, copies that no kernel hides, and idle time; idle "
        "time is divided by what the thread did that launched the next work. A rule speaks when its share passes its "
        "threshold. Its bound is the time that would vanish if its cause vanished and nothing else changed. Every idle "
        "or exposed nanosecond belongs to one finding: bounds after those above add up to no more than the window "
        "without computation. Times are means of the GPUs."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {
        "gpus": table_spec("gpus", "one GPU", _GPU_COLUMNS),
        "kernels": table_spec("kernels", "one hot kernel", _KERNEL_COLUMNS),
    }

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
            {name: getattr(finding, name) for name in _FINDING_COLUMNS}
            | {"remedy": finding.remedy, "time": finding.evidence[0].window if finding.evidence else ""}
            for finding in self.findings
        ]
        schema = _FINDING_COLUMNS | {"remedy": pl.String, "time": pl.String}
        return pl.DataFrame(rows, schema=schema, orient="row").rename({"verdict": "title", "reason": "cause"})


def diagnose_run(run: Run) -> RunDiagnosis:
    """Causes of the time of the run: what to change first, and at most how much that gains."""
    return combine_diagnosis([partial_diagnosis(part) for part in run.parts])


def combine_diagnosis(partials: Sequence[PartialDiagnosis], *, path: str = "") -> RunDiagnosis:
    """The combined result of all runs; commands to ask next name `path`, else the file if there is one."""
    runs = MergedDiagnosis(partials or [partial_diagnosis(Run([]))], path)
    ranks = Ranks(runs)
    spoken = _spoken(runs, ranks)
    account = account_of(runs, ranks)
    settled = settle([each for each in spoken.values() if each is not None], account)
    everything = [_finding(each, runs) for each in settled]
    findings = tuple(each for each in everything if has_voice("run", each.rule))
    aside = (Note(each.rule, f"{each.verdict}: {each.reason}") for each in everything if each not in findings)
    hot = hot_kernels(runs)
    beside = tuple(caveats(runs))
    listed = {rule for finding in findings for rule in finding.rules}
    budget = {
        name: runs.share(runs.time(f"{name}_ns"))
        for name in ("computation", "exposed_communication", "exposed_copy", "idle")
    }
    tables = RunDiagnosis.tables
    return RunDiagnosis(
        subject=_subject(runs),
        trust="use with caution" if any(each.rule != "D1" for each in beside) else "good",
        headline=_headline(runs, budget),
        findings=findings,
        notes=(*notes(runs, hot), *aside),
        not_findings=tuple(not_findings(runs)),
        skipped=tuple(skipped(runs, ranks)),
        caveats=beside,
        checked=tuple(rule for rule in spoken if rule not in listed),
        gpus=runs.gpus.with_columns(start_ns="from_ns", end_ns="to_ns")
        .sort("rank", "node", "gpu", nulls_last=True)
        .select(tables["gpus"].names),
        kernels=hot.select(tables["kernels"].names),
        window_ns=round(runs.window_ns),
        computation_share=budget["computation"],
        communication_share=budget["exposed_communication"],
        copy_share=budget["exposed_copy"],
        idle_share=budget["idle"],
        step_count=runs.step_count,
        step_name=runs.step_name,
        next_command=_next(runs, findings, hot),
    )


def _spoken(runs: MergedDiagnosis, ranks: Ranks) -> dict[str, Candidate | None]:
    """Rule -> what it says, of all that were checked."""
    if not runs.gpu_count or not runs.window_ns:
        return {}
    has_launches = unknown_share(runs) < (RULES["D3"].say or 1)
    spoken = dict(candidates(runs, has_launches=has_launches)) | dict(rank_candidates(runs, ranks))
    if spoken.get("G3") is None and "L3" in spoken:
        spoken["L3"] = None
    slow, copies = spoken.get("C2"), spoken.get("C1")
    if slow is not None and copies is None:
        spoken["C2"] = replace(slow, within="") if runs.share(slow.extra_ns) >= (RULES["C1"].say or 0) else None
    if spoken.get("X1") is None:
        spoken |= {rule: None for rule in ("X4", "X5") if rule in spoken}
    joined = _joined(runs, spoken)
    return joined | {"G1": starved(runs, [each.claim for each in joined.values() if each is not None])}


def _joined(runs: MergedDiagnosis, spoken: dict[str, Candidate | None]) -> dict[str, Candidate | None]:
    """Small uploads and readbacks of one run are one finding, under the name of the larger part."""
    up, back = spoken.get("C3"), spoken.get("G4")
    if up is None or back is None:
        return spoken
    first, second = (up, back) if up.time_ns >= back.time_ns else (back, up)
    both = replace(
        first,
        title="Small copies stop the pipeline",
        cause=f"{first.cause}; {second.cause}",
        claim=first.claim | second.claim,
        takes=_copies_too(runs, first.takes | second.takes),
        extra_ns=0.0,
        value=first.value + second.value,
        time_ns=first.time_ns + second.time_ns,
        evidence=tuple(sorted((*first.evidence, *second.evidence), key=lambda each: -each.time_ns)[:5]),
        case_count=first.case_count + second.case_count,
        rules=(second.rule,),
        remedies=(RULES[first.rule].remedies[0], RULES[second.rule].remedies[0], *RULES[first.rule].remedies[1:]),
    )
    return spoken | {first.rule: both, second.rule: None}


def _copies_too(runs: MergedDiagnosis, takes: pl.Expr) -> pl.Expr:
    """The exposed time with the copies themselves, where these take long enough to count."""
    copies = runs.exposed.filter(takes & (pl.col("kind") == COPY))["exposed_ns"]
    is_enough = runs.share(runs.mean(copies)) >= (RULES["C3"].say or 0)
    return takes if is_enough else takes & (pl.col("kind") != COPY)


def account_of(runs: MergedDiagnosis, ranks: Ranks) -> Account:
    """The time that findings may promise."""
    windows = runs.gpus["window_ns"]
    room = (windows - runs.gpus["computation_ns"]).max()
    if ranks.are_met:  # the job lasts as long as its longest window, for the rank that computes least as well
        room = windows.max() - runs.gpus["computation_ns"].min()  # type: ignore[operator]
    return Account(
        idle=runs.cells.with_columns(time_ns="idle_ns"),
        exposed=ranks.exposed.with_columns(time_ns="exposed_ns"),
        gpu_count=runs.gpu_count,
        is_aligned=ranks.are_aligned,
        window_ns=runs.window_ns,
        computation_ns=runs.time("computation_ns"),
        limit_ns=float(room or 0),  # type: ignore[arg-type]
    )


def _finding(settled: Settled, runs: MergedDiagnosis) -> RunFinding:
    each, rule = settled.candidate, RULES[settled.candidate.rule]
    bound = min(settled.owned_ns, runs.window_ns)
    alone = min(settled.alone_ns, runs.window_ns)
    is_strong = rule.stress is not None and (
        each.value >= rule.stress if (rule.say or 0) <= rule.stress else each.value <= rule.stress
    )
    window = next((item.window for item in each.evidence if item.window), "")
    command = rule.next_command.format(path=runs.path, window=window or "0%:100%", kernel=_quoted(each.kernel))
    remedies = each.remedies or rule.remedies
    return RunFinding(
        name=rule.name,
        kind=rule.kind,
        verdict=each.title,
        reason=each.cause,
        confidence=each.confidence,
        confidence_reason=each.confidence_reason,
        evidence=each.evidence,
        remedy=remedies[0] if remedies else "",
        gain_share_max=runs.share(alone),
        rule=each.rule,
        rules=(each.rule, *each.rules),
        within=each.within,
        remedies=remedies,
        share=each.value if rule.unit == "share" else runs.share(each.time_ns),
        time_ns=round(each.time_ns),
        step_time_ns=round(each.time_ns / runs.step_count) if runs.step_count else None,
        bound_alone_ns=round(alone),
        bound_ns=int(bound),
        bound_share=runs.share(bound),
        speedup_max=runs.window_ns / (runs.window_ns - bound) if bound < runs.window_ns else None,
        is_strong=is_strong,
        false_if=rule.false_if,
        next_command=command,
        threshold=Threshold(rule.quantity, each.value, rule.unit, rule.say, rule.stress, rule.source),
        case_count=each.case_count,
    )


def _quoted(name: str) -> str:
    """The part of a kernel's name that is asked for: what the name calls the function, at most."""
    short = kernel_title(name).split("<")[0].split("::")[-1].split(" ")[-1][:_NAME]
    return f"'{short}'" if short else ""


def _subject(runs: MergedDiagnosis) -> str:
    formats = list(dict.fromkeys(text for part in runs.partials for text in part.facts["formats"]))
    products = list(dict.fromkeys(text for text in runs.gpus["product"] if text))
    targets = list(dict.fromkeys(text for text in runs.gpus["target"] if text))
    what = f" ({(products or targets)[0]})" if products or targets else ""
    text = f"{', '.join(formats[:2]) or 'nothing'}: {runs.who} with work{what}"
    text += f", {duration(runs.window_ns)}" if runs.gpu_count else ""
    return f"{text}, {runs.step_count} steps of {runs.step_name}" if runs.step_count else text


def _headline(runs: MergedDiagnosis, budget: dict[str, float]) -> str:
    if not runs.gpu_count:
        return "No work of a GPU is recorded: there is nothing to diagnose."
    busy = [f"computation {100 * budget['computation']:.1f}"]
    if runs.time("communication_ns"):
        busy.append(f"exposed communication {100 * budget['exposed_communication']:.1f}")
    if runs.time("copy_ns"):
        busy.append(f"copies {100 * budget['exposed_copy']:.1f}")
    who = "GPU" if runs.gpu_count == 1 else runs.who
    busy_share = f"{percent(1 - budget['idle'])} of {duration(runs.window_ns)}"
    text = f"{who} busy {busy_share} ({', '.join(busy)}), idle {percent(budget['idle'])}."
    startup_ns, recorded_ns = startup_times(runs)
    if startup_ns > _STARTUP_SHARE * recorded_ns:
        first = f"Start-up is {duration(startup_ns)} of {duration(recorded_ns)} ({percent(startup_ns / recorded_ns)})"
        text = f"{first} and is set aside. After it: {text}"
    return f"{text} {_decider(runs, budget)}"


def _decider(runs: MergedDiagnosis, budget: dict[str, float]) -> str:
    """The part that set the time: the one that takes at least half of it, if one does and nothing else paces it."""
    idle_ns = total(runs.cells["idle_ns"])
    host_ns = total(runs.cells.filter(pl.col("cause").is_in(OF_HOST))["idle_ns"])
    host_share = budget["idle"] * host_ns / idle_ns if idle_ns else 0.0
    if budget["computation"] >= _HALF:
        kernels = percent(budget["computation"])
        if host_share < _PACING_SHARE:
            return f"Work of the GPU decides: {kernels} of the time is kernels."
        waits = f"Kernels take {kernels} of the time, and {percent(host_share)} of it the GPU waits for the host"
        return f"{waits}: `wavewright path` tells which of them sets the pace."
    if budget["exposed_communication"] >= _HALF:
        return f"Communication decides: {percent(budget['exposed_communication'])} of the time it is hidden by nothing."
    if budget["exposed_copy"] >= _HALF:
        return f"Copies decide: {percent(budget['exposed_copy'])} of the time no kernel runs beside them."
    if budget["idle"] < _HALF:
        return "No part takes half of the time."
    if host_ns >= _HALF * idle_ns:
        return "The host decides: the GPU waits for what it launches next."
    return "Waiting decides: the GPU has nothing to do most of the time."


OF_HOST = (
    "host code",
    "preparation",
    "data loader",
    "launch",
    "launch call",
    "other call",
    "allocation",
    "loading code",
    "first use",
)


def _next(runs: MergedDiagnosis, findings: Sequence[RunFinding], hot: pl.DataFrame) -> str:
    if findings:
        return findings[0].next_command
    if hot.height:
        return f"wavewright kernels {_quoted(hot['name'][0])} {runs.path}"
    verbs = (verb for verb in ("memory", "collectives") if any(part.facts[f"has_{verb}"] for part in runs.partials))
    return f"wavewright {next(verbs, 'info')} {runs.path}"
