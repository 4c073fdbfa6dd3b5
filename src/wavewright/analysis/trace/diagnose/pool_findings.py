"""Findings about what waves wait for: pools of stall classes and gaps with their gains by replay."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from wavewright.analysis.trace.barriers import barriers
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.analysis.trace.diagnose.facts import Facts, RowView
from wavewright.analysis.trace.diagnose.finding import DISPATCH, Cause, Remedy, StallFinding, other_evidence
from wavewright.analysis.trace.diagnose.gains import PoolGain
from wavewright.analysis.trace.diagnose.remedies import CaptureFacts, general_remedy, remedies_for
from wavewright.analysis.trace.diagnose.replay import GAPS
from wavewright.analysis.trace.occupancy import Occupancy, occupancy
from wavewright.analysis.trace.stalls import IDLE_PARTS
from wavewright.analysis.trace.waits.wait_producers import resolve
from wavewright.base.words import counted, percent
from wavewright.errors import WavewrightError
from wavewright.facts.stall_classes import GAP_WORDS, UNRESOLVED, GapWords, stall_class
from wavewright.model.findings import CodeEvidence
from wavewright.model.trace import ThreadTrace

_EVIDENCE_ROWS = 5


def pool_finding(
    trace: ThreadTrace,
    facts: Facts,
    gain: PoolGain,
    no_issue: Mapping[str, float],
    trust: str,
    capture: CaptureFacts,
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
    remedies = _remedies(gain, views, gaps, capture)
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
    if gain.name == "VALU dependency":
        parts = ["vector arithmetic whose operands are not ready; no other instruction of the wave can go before it"]
    else:
        parts = [words.reason if words else stall_class(gain.name).meaning]
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


def _remedies(gain: PoolGain, views: list[RowView], gaps: list[str], capture: CaptureFacts) -> tuple[Remedy, ...]:
    if not views and (words := _gap_words(gain)):
        return (Remedy("", general_remedy(words.name, words.remedy, capture)),)
    of_gaps = (general_remedy(gap, GAP_WORDS[gap].remedy, capture) for gap in gaps)
    return (*remedies_for(views, capture), *(Remedy("", text) for text in of_gaps))


def _gap_rows(trace: ThreadTrace, gaps: list[str]) -> pl.DataFrame:
    """Code rows with the gaps before them, most cycles first."""
    columns = [IDLE_PARTS[gap] for gap in gaps]
    columns += ["ending_cycles_total"] if "store drain" in gaps else []
    idle = resolve(trace).idle
    cycles = pl.sum_horizontal(columns) if columns else pl.lit(0, pl.Int64)
    rows = idle.select("row", cycles=cycles).filter(pl.col("cycles") > 0)
    return rows.sort("cycles", "row", descending=[True, False])


def _gap_evidence(trace: ThreadTrace, idle: pl.DataFrame) -> list[CodeEvidence]:
    rows = idle.head(_EVIDENCE_ROWS).join(trace.code, on="row", maintain_order="left")
    hits = row_costs(trace).select("row", "hit_count")
    rows = rows.join(hits, on="row", how="left", maintain_order="left")
    return other_evidence(rows.with_columns(pl.col("hit_count").fill_null(0)))


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
