"""Findings about what waves wait for: pools of stall classes and gaps with their gains by replay."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from wavewright.analysis.trace.barriers import barriers
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.diagnose.facts import Facts, RowView
from wavewright.analysis.trace.diagnose.finding import DISPATCH, Cause, Remedy, StallFinding, other_evidence
from wavewright.analysis.trace.diagnose.gains import PoolGain
from wavewright.analysis.trace.diagnose.gpu_fill import Filling
from wavewright.analysis.trace.diagnose.remedies import CaptureFacts, general_remedy, remedies_for
from wavewright.analysis.trace.diagnose.replay import GAPS
from wavewright.analysis.trace.occupancy import Occupancy, occupancy
from wavewright.analysis.trace.pipes import matrix_rows, pipe_cycles_of_rows
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.analysis.trace.stalls import IDLE_PARTS
from wavewright.analysis.trace.waits.wait_producers import free_wait_cycles, resolve
from wavewright.base.words import counted, percent
from wavewright.errors import WavewrightError
from wavewright.facts.stall_classes import GAP_WORDS, ISSUE_WORDS, UNRESOLVED, GapWords, IssueWords, stall_class
from wavewright.model.findings import CodeEvidence
from wavewright.model.trace import ThreadTrace

_EVIDENCE_ROWS = 5  #: Code rows that a finding names at most.
ISSUE_BOUND = "instructions"  #: Kind of the finding that SIMDs issue most of the time.
_MOST_OF_THE_TIME = 0.5  #: No other part of the time can be larger than one that is more than half of it.
#: Classes of instructions that go through no pipe, or through that of branches.
_NO_PIPE = ("wait", "nop", "sleep", "delay", "barrier", "barrier_wait", "barrier_signal", "branch", "end")


def pool_finding(
    trace: ThreadTrace, facts: Facts, gain: PoolGain, no_issue: Mapping[str, float], trust: str, capture: CaptureFacts
) -> StallFinding:
    """The finding about one pool of causes; `no_issue` = share of SIMD time without issue by cause."""
    classes = [cause for cause in gain.pool.causes if cause not in GAPS]
    gaps = [cause for cause in gain.pool.causes if cause in GAPS]
    views = sorted(
        (view for name in classes for view in facts.views.get(name, ())),
        key=lambda view: (-view.stall_cycles_total, view.row),
    )
    idle = _gap_rows(trace, gaps)
    stall = sum(view.stall_cycles_total for view in views) + int(idle["cycles"].sum())
    evidence = [*(_evidence(view) for view in views), *_gap_evidence(trace, idle)]
    evidence.sort(key=lambda item: (-item.cycles_total, item.row))
    confidence, confidence_reason = _confidence(gain.name, trust)
    if not views and (words := _gap_words(gain)):
        remedies: tuple[Remedy, ...] = (Remedy("", general_remedy(words.name, words.remedy, capture)),)
    else:
        texts = [general_remedy(gap, GAP_WORDS[gap].remedy, capture) for gap in gaps]
        remedies = (*remedies_for(views, capture), *(Remedy("", text) for text in texts))
    return StallFinding(
        name=gain.name,
        kind=gain.pool.kind,
        verdict=_verdict(gain),
        reason=_reason(trace, gain, views),
        remedy=remedies[0].text if remedies else "",
        remedies=remedies,
        evidence=tuple(evidence[:_EVIDENCE_ROWS]),
        row_count=len({view.row for view in views} | set(idle["row"])),
        stall_cycles_total=stall,
        stall_share=stall / facts.wave_cycles_total if facts.wave_cycles_total else 0.0,
        gain_share_min=gain.gain_share_min,
        gain_share_max=gain.gain_share_max,
        causes=tuple(Cause(name, share, no_issue.get(name, 0.0)) for name, share in gain.parts),
        confidence=confidence,
        confidence_reason=confidence_reason,
    )


def _gap_words(gain: PoolGain) -> GapWords | None:
    return GAP_WORDS.get(" and ".join(gain.pool.causes), GAP_WORDS.get(gain.name))


def _verdict(gain: PoolGain) -> str:
    name, kind = gain.name, gain.pool.kind
    if words := _gap_words(gain):
        return words.verdict
    if name.startswith("wait "):
        return f"Waves wait for: {name.removeprefix('wait ').removeprefix('for ')}"
    return {
        "memory": f"The memory pipe takes no more operations: {name}",
        "padding": f"Padding: {name}",
        "sync": f"Waves wait at the {name}",
        "dependency": f"Results arrive too late: {name}",
    }.get(kind, f"Stalls at issue: {name}")


def _reason(trace: ThreadTrace, gain: PoolGain, views: list[RowView]) -> str:
    words = _gap_words(gain)
    if words:
        parts = [words.reason]
    elif gain.name == "VALU dependency":
        parts = ["vector arithmetic whose operands are not ready; no other instruction of the wave can go before it"]
    else:
        parts = [stall_class(gain.name).meaning]
    if len(gain.parts) > 1:
        alone = ", ".join(f"{name} {percent(share)}" for name, share in gain.parts if share >= 0.005)
        parts.append(f"one cause; of the time, each taken alone: {alone}")
    if gain.name == "barrier":
        parts.append(barrier_cause(trace))
    elif views:
        parts.append(_nearest_cause(views))
    return "; ".join(part for part in parts if part)


def _nearest_cause(views: list[RowView]) -> str:
    """Distance of the costliest wait's last producer, and how much further ahead it had to be."""
    producers = [producer for producer in views[0].producers if producer.missing_cycles_mean > 0]
    if not producers:
        return ""
    worst = max(producers, key=lambda producer: producer.missing_cycles_mean * producer.count)
    return (
        f"at the costliest row the producer comes {worst.distance_cycles_mean:,.0f} cycles "
        f"({counted(round(worst.distance_instructions_mean), 'instructions')}) before its wait and would have to come "
        f"{worst.missing_cycles_mean:,.0f} cycles earlier"
    )


def _gap_rows(trace: ThreadTrace, gaps: list[str]) -> pl.DataFrame:
    """Code rows with the gaps before them, most cycles first."""
    columns = [IDLE_PARTS[gap] for gap in gaps]
    columns += ["ending_cycles_total"] if "store drain" in gaps else []
    cycles = pl.sum_horizontal(columns) if columns else pl.lit(0, pl.Int64)
    rows = resolve(trace).idle.select("row", cycles=cycles).filter(pl.col("cycles") > 0)
    return rows.sort("cycles", "row", descending=[True, False])


def _gap_evidence(trace: ThreadTrace, idle: pl.DataFrame) -> list[CodeEvidence]:
    rows = idle.head(_EVIDENCE_ROWS).join(trace.code, on="row", maintain_order="left")
    rows = rows.join(row_costs(trace).select("row", "hit_count"), on="row", how="left", maintain_order="left")
    return other_evidence(rows.with_columns(pl.col("hit_count").fill_null(0)))


def _evidence(view: RowView) -> CodeEvidence:
    groups: dict[str, list[float]] = {}
    for producer in view.producers:
        groups.setdefault(producer.text.split(" ", 1)[0], []).append(producer.distance_cycles_mean)
    producers = tuple(_producer_group(mnemonic, distances) for mnemonic, distances in groups.items())
    counts = (view.execution_count, view.stall_cycles_total, view.exposed_cycles_total)
    return CodeEvidence(view.row, view.address, view.text, view.file, view.line, *counts, producers)


def _producer_group(mnemonic: str, distances: list[float]) -> str:
    nearest, farthest = min(distances), max(distances)
    if len(distances) == 1:
        return f"{mnemonic}, {nearest:,.0f} cycles before"
    return f"{len(distances)} {mnemonic}, {nearest:,.0f} to {farthest:,.0f} cycles before"


def _confidence(name: str, trust: str) -> tuple[str, str]:
    if trust == "do not use":
        return "low", "the trace itself cannot be trusted"
    if name == UNRESOLVED.name:
        return "low", "the producers of these waits cannot be told"
    if " + " in name:
        return "medium", "which of the kinds came last cannot be told"
    if trust == "use with caution":
        return "medium", "the trace can only be trusted with caution"
    return "high", "measured on every executed instruction and replayed"


def registers_or_lds(trace: ThreadTrace, costs: Facts) -> StallFinding | None:
    """Too few waves to hide the exposed cycles, because of a resource that the kernel can give back."""
    try:
        answer = occupancy(trace)
    except WavewrightError:  # the GPU or the registers are not known
        return None
    kernels = answer.kernels.drop_nulls("next_waves_per_simd").sort("wave_count", descending=True)
    if not kernels.height:
        return None
    kernel = kernels.row(0, named=True)
    limit, next_limit = kernel["waves_per_simd_limit"], kernel["next_waves_per_simd"]
    if not limit or kernel["all_at_once"]:
        return None  # more room would stay empty: the grid is the limit
    # Further waves hide at most what no wave hid, and at most what they issue themselves.
    hidden_cycles = min(costs.exposed_cycles_total, (next_limit - limit) * costs.issue_cycles_total)
    hidden_share = hidden_cycles / costs.wave_cycles_total if costs.wave_cycles_total else 0.0
    gain = min(hidden_share, (next_limit - limit) / next_limit)
    steps = _steps(answer, kernel["kernel"])
    certain = answer.target_is_certain and kernel["registers_from"] != "code"
    return StallFinding(
        name="occupancy",
        kind="occupancy",
        verdict=f"{counted(limit, 'waves')} per SIMD, bound by {kernel['bound_by']}",
        reason=f"with {counted(limit, 'waves')} per SIMD there is too little other work to hide the exposed cycles",
        remedy=steps,
        remedies=(Remedy(f"reach {next_limit} waves per SIMD", steps),),
        gain_share_max=gain,
        gain_basis=DISPATCH,
        confidence="medium" if certain else "low",
        confidence_reason="more waves also compete for pipes and caches; measure it"
        + ("" if certain else f"; registers from {kernel['registers_from']}, GPU {answer.target_origin}"),
    )


def barrier_cause(trace: ThreadTrace) -> str:
    """The last arrivals at the costliest barrier, as a sentence; empty when nothing is known."""
    rows = barriers(trace).rows
    if not rows.height or not rows["meeting_count"][0]:
        return ""
    worst = rows.row(0, named=True)
    last = ""
    has_several = trace.waves["simd"].n_unique() > 1
    if has_several and worst["last_simd"] is not None and (worst["last_simd_share"] or 0) > 0.5:
        share = percent(worst["last_simd_share"], 0)
        last = f"; the wave on SIMD {worst['last_simd']} is last in {share} of the meetings"
    return f"the last wave arrives {worst['spread_cycles_mean']:,.0f} cycles after the first, on average{last}"


def _steps(answer: Occupancy, kernel: int | None) -> str:
    limiters = answer.limiters.filter(pl.col("kernel").eq_missing(kernel) & pl.col("next_at_most").is_not_null())
    steps = [
        f"bring {row['limiter']} from {row['allocated']:,} to at most {row['next_at_most']:,} {row['unit']} "
        f"(free {row['allocated'] - row['next_at_most']:,})"
        for row in limiters.iter_rows(named=True)
    ]
    return " and ".join(steps) or "see `wavewright occupancy`"


def issue_finding(
    trace: ThreadTrace, residency: Filling, capture: CaptureFacts, memory_share: float
) -> StallFinding | None:
    """The pipe with most of the issues, where SIMDs issue instructions more than half of the time; None = they do not.

    Waits, padding and matrix instructions are no reason: other findings are about them. Nor is the time that they issue
    the bound where the memory is certainly used for more of it: `memory_share`, of what copies reach.
    """
    use = utilization(trace)
    span = int(use.bubbles["span_cycles_total"].sum())
    share = int(use.bubbles["issue_cycles_total"].sum()) / span if span else 0.0
    is_work = pl.col("pipe").is_in(list(ISSUE_WORDS))
    other_share = float(use.pipes.filter(~is_work)["issue_share"].sum())  # waits and padding; matrix has a roof
    pipes = use.pipes.filter(is_work).sort("issue_share", "pipe", descending=True)
    of_work = (share - other_share) * (1 - residency.empty_simd_share)
    if of_work <= max(_MOST_OF_THE_TIME, memory_share) or not pipes.height:
        return None
    pipe, pipe_share, count = pipes.select("pipe", "issue_share", "issue_count").row(0)
    words = ISSUE_WORDS[pipe]
    remedy = general_remedy(words.instructions, words.remedy, capture)
    rows = _issue_rows(trace, words)
    return StallFinding(
        name=words.instructions,
        kind=ISSUE_BOUND,
        verdict=f"Bound by issue: SIMDs issue {percent(share, 0)} of their time, {words.instructions} alone "
        f"{percent(pipe_share, 0)}",
        reason=f"the traced SIMDs issue {count:,} {words.instructions}; shorter waits can only gain the time in which "
        "nothing issues",
        remedy=remedy,
        remedies=(Remedy("", remedy, tuple(rows["row"])),),
        evidence=tuple(other_evidence(rows.head(_EVIDENCE_ROWS))),
        row_count=rows.height,
        gain_share_max=pipe_share,
        confidence="high",
        confidence_reason="issue cycles of all traced instructions; how many of them the work needs is not known",
    )


def _issue_rows(trace: ThreadTrace, words: IssueWords) -> pl.DataFrame:
    """Rows of a pipe with the cycles that they take it, most first."""
    code = trace.code.sort("row")
    cycles = pipe_cycles_of_rows(trace)
    text, is_matrix = pl.col("text").fill_null(""), matrix_rows(code)
    is_of_pipe = pl.any_horizontal(text.str.starts_with(prefix) for prefix in words.prefixes)
    rows = code.with_columns(cycles_per_hit=pl.when(cycles > 0).then(cycles).otherwise(free_wait_cycles(trace))).filter(
        is_of_pipe & ~is_matrix & ~pl.col("class").is_in(_NO_PIPE)
    )
    counts = rows.join(row_costs(trace).select("row", "hit_count"), on="row").filter(pl.col("hit_count") > 0)
    by_cycles = counts.with_columns(cycles=pl.col("hit_count") * pl.col("cycles_per_hit"))
    return by_cycles.sort("cycles", "row", descending=[True, False])
