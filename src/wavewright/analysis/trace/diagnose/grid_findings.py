"""Findings about the whole dispatch: roofs that are reached, CUs without work, and slots without a wave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wavewright.analysis.trace.diagnose.finding import DISPATCH, Remedy, StallFinding
from wavewright.analysis.trace.diagnose.gains import is_memory
from wavewright.analysis.trace.diagnose.gpu_fill import Filling, Machine, WorkgroupWork
from wavewright.analysis.trace.diagnose.remedies import CaptureFacts, general_remedy
from wavewright.analysis.trace.diagnose.roofs import DATA_SHEET, Pipes, Roof
from wavewright.analysis.trace.diagnose.traffic import COUNTERS, DISTINCT, Traffic
from wavewright.base.toml import packaged
from wavewright.base.words import counted, percent, size
from wavewright.facts.stall_classes import GRID_WORDS

_WORTH_SAYING = 0.10  #: Share of the dispatch below which a finding about the grid is left out.
_NEGLIGIBLE_SHARE = 0.01  #: Smaller shares are not mentioned in the text.
_AT_ROOF_SHARE = 0.95  #: From this certain share of what copies reach on, the text says `at` the roof, not `near`.
_ROOF_REMEDIES = packaged("texts.toml", __package__)["roof_remedies"]
_FEW_ROUNDS = 4  #: With more rounds of workgroups, waves come and go all the time.


@dataclass(frozen=True)
class Evenness:
    """The work of the traced workgroups, and what slow waves spend more time at than others."""

    work: WorkgroupWork | None
    slow_class: str = ""  #: Stall class of most of the excess of slow waves; empty = not known.

    @property
    def several(self) -> WorkgroupWork | None:
        """The work of two or more workgroups: one says nothing about others."""
        return self.work if self.work and self.work.workgroup_count > 1 else None


def roof_finding(roof: Roof, traffic: Traffic | None, pipes: Pipes) -> StallFinding:
    """The roof that bounds the kernel, and the little that can be won."""
    confidence = "high"
    if traffic is not None and roof.level:
        nearness = "At" if roof.share >= _AT_ROOF_SHARE else "Near"
        verdict = f"{nearness} the roof of {roof.level} bandwidth: {bandwidth_words(roof, with_sheet=False)}"
        peak = f"{roof.peak / 1e12:.2g} TB/s are"
        if roof.peak_source != DATA_SHEET:
            peak += f" what {roof.peak_source} reached on a {roof.product}"
        else:
            peak += f" those of the data sheet of a {roof.product}: what copies reach is not known"
        reason = f"{traffic_words(traffic)}; {peak}"
        if roof.share > 1:
            reason += "; a cache in front of the memory takes or delivers what is above it"
        remedy = _ROOF_REMEDIES["bandwidth"]
        confidence, confidence_reason = "medium" if traffic.assumptions else "high", _evidence_words(traffic)
    else:
        pipe = "matrix" if roof.name.startswith("matrix") else "vector"
        verdict = f"At the roof of {roof.name}: the {pipe} pipe is busy {percent(roof.share, 0)} of the time"
        reason = f"the {pipe} instructions of the traced SIMDs occupy their pipe for {percent(roof.share)} of the time"
        if pipe == "vector" and pipes.matrix_count:
            reason += f"; {pipes.valu_count / pipes.matrix_count:.1f} vector instructions for each matrix instruction"
        remedy = _ROOF_REMEDIES[pipe]
        confidence_reason = "from the instructions and the cycles that each occupies its pipe"
    return StallFinding(
        name=roof.name,
        kind="roof",
        verdict=verdict,
        reason=reason,
        remedy=remedy,
        remedies=(Remedy("", remedy),),
        gain_share_max=max(0.0, 1 - roof.share),
        gain_basis=DISPATCH,
        confidence=confidence,
        confidence_reason=confidence_reason,
    )


def bandwidth_words(roof: Roof, *, with_sheet: bool = True) -> str:
    """The rate of a level of memory, and its shares of what copies reach and of the data sheet."""
    rate = _between(f"{roof.amount / 1e12:.2g}", f"{roof.amount_max / 1e12:.2g}")
    is_of_sheet = roof.peak_source == DATA_SHEET
    shares = [] if is_of_sheet else [f"{_shares(roof, roof.peak)} of what copies reach"]
    if roof.sheet_peak and (with_sheet or is_of_sheet):
        shares.append(f"{_shares(roof, roof.sheet_peak)} of the data sheet")
    return f"{rate} TB/s, {', '.join(shares)}"


def _shares(roof: Roof, peak: float) -> str:
    low, high = (f"{100 * min(amount / peak, 1):.0f}" for amount in (roof.amount, roof.amount_max))
    return f"{_between(low, high)} %"


def _between(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def traffic_words(traffic: Traffic) -> str:
    """Bytes and time of a dispatch, with the evidence."""
    if traffic.evidence == COUNTERS:
        return f"hardware counters measured what {traffic.level} moves"
    if traffic.bytes_total is None or traffic.seconds is None:
        return "bytes or time of the dispatch are not known"
    low, high = (f"{seconds * 1e6:,.1f}" for seconds in traffic.seconds)
    time = f"{low} µs" if low == high else f"{low} to {high} µs, as its traced waves last"
    noun = "distinct bytes" if traffic.evidence == DISTINCT else "bytes requested by lanes at most"
    return f"{size(traffic.bytes_total[1])} of {noun} in {time}"


def _evidence_words(traffic: Traffic) -> str:
    if traffic.evidence == COUNTERS:
        return "measured by hardware counters of the same kernel"
    conditions = f", if {' and '.join(traffic.assumptions)}" if traffic.assumptions else ""
    return f"lane addresses over all workgroups{conditions}"


def grid_findings(
    filling: Filling, fixed_share: float, gpu: Machine | None, capture: CaptureFacts, evenness: Callable[[], Evenness]
) -> list[StallFinding]:
    """CUs without work, and when and why the slots of those that have some are empty; `evenness` is costly."""
    findings = []
    empty = filling.unused_share * max(0.0, 1 - fixed_share)
    if empty >= _WORTH_SAYING and filling.cu_count:
        findings.append(_unused_units(filling, empty, fixed_share, gpu, capture))
    missing = (1 - filling.mean_share) * (1 - filling.unused_share)
    is_seen = filling.empty_simd_share >= _WORTH_SAYING / 2 or filling.round_count < _FEW_ROUNDS
    if missing >= _WORTH_SAYING and is_seen:
        findings.append(_vacant_slots(filling, missing, evenness(), capture))
    return findings


def _unused_units(
    filling: Filling, gain: float, fixed_share: float, gpu: Machine | None, capture: CaptureFacts
) -> StallFinding:
    used, there = filling.used_cu_count, filling.cu_count or 0
    unit = "WGPs" if gpu and gpu.arch.cus_per_wgp > 1 else "CUs"
    engines = gpu.product.se_count if gpu else None
    # engines that were not traced are taken to be like the others, unless those differ or facts and trace contradict
    is_alike = engines is not None and filling.engine_count == filling.traced_engine_count <= engines
    scale = engines / filling.engine_count if engines and is_alike else 1.0
    place = "" if is_alike else f" of {counted(filling.engine_count, 'shader engines')} with waves"
    silent = filling.traced_engine_count - filling.engine_count
    words = GRID_WORDS["CUs without work"]
    remedy = general_remedy(words.name, words.remedy, capture)
    if filling.early_wave_count:
        remedy = "launch only the workgroups that have work, or give the idle ones a part of it"
    return StallFinding(
        name="CUs without work",
        kind="grid",
        verdict=words.verdict.format(
            used=f"{used * scale:,.0f}", there=f"{there * scale:,.0f}", units=f"{unit}{place}"
        ),
        reason=f"{counted(filling.wave_count, 'waves')} on {counted(used, unit)} of {there:.0f} in "
        f"{counted(filling.engine_count, 'traced shader engines')}"
        + (f"; {counted(silent, 'more')} traced without a wave, which are not counted" if silent else "")
        + (f"; {counted(filling.early_wave_count, 'further waves')} left early" if filling.early_wave_count else "")
        + _fixed_words(fixed_share),
        remedy=remedy,
        remedies=(Remedy("", remedy),),
        gain_share_max=gain,
        gain_basis=DISPATCH,
        confidence="medium",
        confidence_reason="counted on the traced shader engines; splitting work also costs",
    )


def _fixed_words(fixed_share: float) -> str:
    if fixed_share < _NEGLIGIBLE_SHARE:
        return ""
    part = "of a wave's time (start, arguments, first loads, drain)"
    return f"; {percent(fixed_share, 0)} {part} stays however the work is split"


def _vacant_slots(filling: Filling, missing: float, evenness: Evenness, capture: CaptureFacts) -> StallFinding:
    """The largest reason why slots are empty: work that differs, the last round, the launch, or the time of waves."""
    vacancy, work = filling.vacancy, evenness.several
    scale = missing / (1 - filling.mean_share)
    work_gain = min(missing, work.excess_share) if work else 0.0
    shares = {
        "launch ramp": vacancy.launch_share * scale,
        "slots between workgroups": vacancy.refill_share * scale,
        "uneven durations": vacancy.duration_share * scale,
        "uneven shader engines": vacancy.engine_share * scale,
    }
    name = max(shares, key=lambda cause: shares[cause])
    # what the traced waves wait for explains the others only if their own durations differ as much
    is_traced = work is not None and 1 - work.wave_cycles_min / work.wave_cycles_max >= vacancy.duration_share
    if name == "uneven durations" and is_traced and is_memory(evenness.slow_class):
        name, shares["uneven memory service"] = "uneven memory service", shares[name]
    if filling.is_tail:
        name, shares["tail"] = "tail", missing
    elif work_gain >= max(_WORTH_SAYING, shares[name] / 2):
        name, shares["workgroup imbalance"] = "workgroup imbalance", work_gain
    words = GRID_WORDS[name]
    remedy = general_remedy(name, words.remedy, capture)
    reason = f"{_residency(filling)}; {_reason(name, evenness)}"
    is_known = name != "uneven durations" or is_traced
    return StallFinding(
        name=name,
        kind="grid",
        verdict=words.verdict.format(rounds=f"{filling.round_count:.2f}", cycles=f"{vacancy.ramp_cycles:,}"),
        reason=reason,
        remedy=remedy,
        remedies=(Remedy("", remedy),),
        gain_share_max=shares[name],
        gain_basis=DISPATCH,
        confidence="high" if is_known else "medium",
        confidence_reason="starts and ends of all waves of the traced shader engines"
        + ("" if is_known else "; the waves with instructions do not show why others last longer"),
    )


def _residency(filling: Filling) -> str:
    vacancy = filling.vacancy
    parts = (
        (vacancy.ramp_share, "until all have started"),
        (vacancy.refill_share, "between workgroups"),
        (vacancy.drain_share, "after the last start"),
        (vacancy.engine_share, "where a shader engine is done before the last one"),
    )
    phases = ", ".join(f"{percent(share)} {phase}" for share, phase in parts if share >= _NEGLIGIBLE_SHARE)
    return f"slots are empty for {percent(1 - filling.mean_share)} of their time: {phases}"


def _reason(name: str, evenness: Evenness) -> str:
    """Numbers that say why."""
    work = evenness.several
    if work is None:
        return "the instructions of one workgroup only were traced: how equal their work is, is not known"
    counts = f"{work.instruction_count_min:,.0f} to {work.instruction_count_max:,.0f} instructions per wave"
    groups = f"{work.workgroup_count:,} traced {'waves' if work.are_waves else 'workgroups'}"
    counts = counts.removesuffix(" per wave") if work.are_waves else counts
    if name == "workgroup imbalance":
        return f"{groups} execute {counts}, {work.instruction_count_mean:,.0f} on average"
    same = (
        f"{groups} execute the same number of instructions"
        if work.instruction_count_min == work.instruction_count_max
        else f"{groups} execute {counts}"
    )
    subject = "they" if work.are_waves else "their waves"
    lives = f"{subject} last {work.wave_cycles_min:,} to {work.wave_cycles_max:,} cycles"
    slow = f", the slow ones longer at: {evenness.slow_class}" if name == "uneven memory service" else ""
    return f"{same}, {lives}{slow}"
