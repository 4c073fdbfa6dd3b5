"""From numbers to verdicts: at limit, likely, excluded or undecided, and how certain that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wavewright.analysis.counters.limiters.evidence import (
    VERDICTS,
    Applied,
    EvidenceValue,
    Limiter,
    applied,
    evidence_of,
    number_of,
)
from wavewright.facts.counters.limiters import CORE, LIMITER_RULES, QUANTITIES, LimiterRule

_RANKS = {verdict: rank for rank, verdict in enumerate(VERDICTS)}
_CONFIDENCES = ("high", "medium", "low")
_KINDS = ("throughput", "waste", "latency", "occupancy", "launch", "clock")  #: Of equal verdicts, the first goes first.
_MEAN = "a mean of all memory instructions; `wavewright lanes` of a thread trace tells each"
_NEEDS_KNOWN_UNITS = ("latency", "occupancy")  #: Kinds that stay undecided while a unit may be busy.


def judged(values: Mapping[str, EvidenceValue]) -> tuple[Limiter, ...]:
    """Every limiter of one kernel, the most certain first.

    Rules that matter only where no unit is busy are judged last, because they need the verdicts about the units.
    """
    inputs = dict(values)
    by_name: dict[str, Limiter] = {}
    for rule in LIMITER_RULES.values():
        is_unasked = rule.is_optional and not any(test.quantity in inputs for test in rule.decides)
        if not rule.if_nothing_busy and not is_unasked:
            by_name[rule.name] = _judge(rule, inputs, None)
    units = [by_name[name] for name in LIMITER_RULES if name in by_name and LIMITER_RULES[name].kind == "throughput"]
    busiest = max((_deciding(unit) for unit in units), default=0.0)
    inputs["busiest_unit"] = EvidenceValue("busiest_unit", busiest if busiest else None)
    for rule in LIMITER_RULES.values():
        if rule.if_nothing_busy:
            by_name[rule.name] = _judge(rule, inputs, list(by_name.values()))
    return _larger_first(sorted(by_name.values(), key=_rank))


def _rank(limiter: Limiter) -> tuple[int, int, bool, int, float]:
    """Sort key: verdict, confidence, generic latency behind specific ones and occupancy, kind, larger shares first."""
    sure = _CONFIDENCES.index(limiter.confidence) if limiter.verdict == "likely" else 0
    rank, kind = _RANKS[limiter.verdict], _KINDS.index(limiter.kind)
    return (rank, sure, limiter.name == "latency", kind, -_deciding(limiter))


def _larger_first(ranked: list[Limiter]) -> tuple[Limiter, ...]:
    """A unit that is busy for more of the time than the waste before it can take goes before it."""
    likely = [limiter for limiter in ranked if limiter.verdict == "likely"]
    unit = max((limiter for limiter in likely if limiter.kind == "throughput"), key=_deciding, default=None)
    if unit and likely[0].kind == "waste" and (likely[0].gain_share_max or 1) * 100 < _deciding(unit):
        ranked.remove(unit)
        ranked.insert(ranked.index(likely[0]), unit)
    return tuple(ranked)


def _deciding(limiter: Limiter) -> float:
    """The largest share of a peak that decides it."""
    shares = (item.value or 0.0 for item in limiter.evidence if item.role == "decides" and item.unit == "%")
    return max(shares, default=0.0)


def _judge(rule: LimiterRule, values: Mapping[str, EvidenceValue], others: Sequence[Limiter] | None) -> Limiter:
    """The verdict about one limiter; `others` are the verdicts so far, None where the rule does not need them."""
    decides = applied(rule.decides, values, "decides")
    instead: list[Applied] = []
    if not any(test.level is not None for test in decides):
        instead = [test for test in applied(rule.instead, values, "instead") if test.level is not None]
    gates = [*applied(rule.only_if, values, "only if"), *_open_gate(applied(rule.one_of, values, "only if"))]
    signs = applied(rule.signs, values, "sign")
    decision = _verdict(rule, decides, instead, gates, signs, others)
    missing = [value for value in decision.missing if value.exists and value.missing]
    numbers = [values[name] for name in rule.shows if name in values and _is_telling(values[name])]
    tests = [test for test in [*decides, *instead, *gates, *signs] if test.value.exists]
    return Limiter(
        name=rule.name,
        kind=rule.kind,
        verdict=decision.verdict,
        reason=decision.reason,
        confidence=decision.confidence,
        confidence_reason=decision.confidence_reason,
        evidence=(*(evidence_of(test) for test in tests), *(number_of(value) for value in numbers)),
        missing_counters=tuple(dict.fromkeys(name for value in missing for name in value.missing)),
        missing_metrics=tuple(dict.fromkeys(value.metric_id for value in missing if value.metric_id)),
        remedy=rule.remedy,
        gain_share_max=_gain(rule, values) if decision.verdict in ("at limit", "likely") else None,
    )


def _open_gate(tests: Sequence[Applied]) -> Sequence[Applied]:
    """Of several gates the one that decides: an open one, else one that was not measured, else a closed one."""
    return sorted(tests, key=lambda test: 0.5 if test.level is None and test.value.exists else test.level or 0)[-1:]


class Decision(NamedTuple):
    """The verdict about a limiter, how certain it is, and the values that were missed."""

    verdict: str
    reason: str
    confidence: str
    confidence_reason: str
    missing: Sequence[EvidenceValue] = ()


def _verdict(
    rule: LimiterRule,
    decides: Sequence[Applied],
    instead: Sequence[Applied],
    gates: Sequence[Applied],
    signs: Sequence[Applied],
    others: Sequence[Limiter] | None,
) -> Decision:
    """The verdict of a rule: excluded, undecided, or as its evidence weighs."""
    if any(test.threshold.is_cost for test in instead):
        gates = ()
    closed = next((gate for gate in gates if gate.level == 0 and not gate.threshold.is_mean), None)
    if closed is not None:
        return _excluded(closed, f"{closed.words}: {closed.threshold.reason}")
    used = instead or decides
    mean = next((test for test in (*gates, *used) if test.level == 0 and test.threshold.is_mean), None)
    if mean is not None:
        return Decision("undecided", f"{mean.value.words}: {_MEAN}", "low", "a mean hides extremes")
    level = max((test.level for test in used if test.level is not None), default=None)
    lacking = [test.value for test in decides if test.level is None and test.value.exists]
    if level is None:
        return _undecided(lacking, [test.value for test in decides])
    best = max((test for test in used if test.level is not None), key=lambda test: (test.level or 0, _size(test)))
    if level == 0:
        if lacking and not instead:
            return _undecided(lacking, [test.value for test in decides])
        if instead and not best.threshold.is_cost:
            why = "needs not be so: other resources, or the grid, may bind while it runs"
            return Decision("excluded", best.words, "medium", why, lacking)
        return _excluded(best, best.words)
    shut = [gate.value for gate in gates if gate.level is None and gate.value.exists]
    if shut:
        open_gate = _undecided(shut, shut)
        reason = f"{best.words}; whether it costs time is not known: {open_gate.reason}"
        return open_gate._replace(reason=reason)
    others = others or ()
    weighed = _blocked(rule, best, others)
    return weighed or Decision(*_weighed(rule, best, level, gates, signs, others, is_instead=bool(instead)), lacking)


def _weighed(
    rule: LimiterRule,
    best: Applied,
    level: int,
    gates: Sequence[Applied],
    signs: Sequence[Applied],
    others: Sequence[Limiter],
    *,
    is_instead: bool,
) -> tuple[str, str, str, str]:
    """Likely or at limit, with the reasons for and against it."""
    measured_signs = [sign for sign in signs if sign.level is not None]
    signs_for_it = [sign for sign in measured_signs if sign.level]
    reason = "; ".join([best.words, *(sign.value.words for sign in signs_for_it[:2])])
    weakest_gate = min((gate.level or 0 for gate in gates if gate.level is not None), default=2)
    likely_units = [limiter.name for limiter in others if limiter.verdict == "likely" and limiter.kind == "throughput"]
    if is_instead and not best.threshold.is_cost:
        names = ", ".join(QUANTITIES[test.quantity].label for test in rule.decides)
        return "likely", reason, "low", f"computed, not measured: {names} would tell"
    unknown = [limiter.name for limiter in others if limiter.name in CORE and limiter.verdict == "undecided"]
    if rule.if_nothing_busy and unknown and not likely_units and rule.at_most == "at limit":
        return "likely", reason, "medium", f"not known to have time to spare: {', '.join(unknown)}"
    if level == 2 and weakest_gate == 2 and rule.at_most == "at limit" and not likely_units:
        if measured_signs and not signs_for_it:
            return "likely", reason, "medium", f"but {measured_signs[0].value.words}"
        if rule.needs_sign and not signs_for_it:
            return "likely", reason, "medium", "no counter here tells whether anything waits for it"
        if signs and not measured_signs and any(sign.value.exists for sign in signs):
            names = ", ".join(QUANTITIES[sign.value.quantity].label for sign in signs if sign.value.exists)
            return "at limit", reason, "medium", f"not measured, but would confirm it: {names}"
        if rule.if_nothing_busy:
            return "at limit", reason, "medium", "inferred: every unit that was measured has time to spare"
        return "at limit", reason, "high", "measured, and nothing measured speaks against it"
    if likely_units:
        return "likely", reason, "low", f"{likely_units[0]} is likely too"
    if rule.at_most != "at limit":
        confidence = "medium" if level == 2 and not unknown and (signs_for_it or not rule.needs_sign) else "low"
        return "likely", reason, confidence, "an indication, not a measured limit"
    if level == 2:
        open_gate = next(gate for gate in gates if gate.level == 1)
        return "likely", reason, "medium", f"{open_gate.value.words}, so it does not take all of the time"
    if signs_for_it:
        return "likely", reason, "medium", "two counters agree"
    if best.value.level is not None:  # judged by an analysis of its own
        return "likely", reason, "medium", best.threshold.reason
    if best.is_near_strong:
        return "likely", reason, "medium", "not far from what counts as the limit"
    return "likely", reason, "low", "between clearly busy and clearly not"


def _blocked(rule: LimiterRule, best: Applied, others: Sequence[Limiter]) -> Decision | None:
    """A limiter that matters only where no unit is busy, and one is, or nobody knows."""
    if not rule.if_nothing_busy:
        return None
    busy = next((limiter for limiter in others if limiter.kind == "throughput" and limiter.verdict == "at limit"), None)
    if busy is not None:
        reason = f"{best.words}, but {busy.name} is at its limit: {busy.reason}"
        return Decision("excluded", reason, busy.confidence, busy.confidence_reason)
    if rule.kind not in _NEEDS_KNOWN_UNITS:
        return None
    unknown = [
        limiter
        for limiter in others
        if limiter.name in CORE and limiter.verdict == "undecided" and limiter.is_measurable
    ]
    if not unknown:
        return None
    names = ", ".join(limiter.name for limiter in unknown)
    missing = [
        EvidenceValue(item.quantity, None, item.metric_id, missing=limiter.missing_counters)
        for limiter in unknown
        for item in limiter.evidence[:1]
    ]
    reason = f"{best.words}; but not known to be idle: {names}"
    return Decision("undecided", reason, "low", "a busy unit would explain it", missing)


def _undecided(lacking: Sequence[EvidenceValue], all_of: Sequence[EvidenceValue]) -> Decision:
    values = lacking or all_of
    if not any(value.exists for value in values):
        reason = values[0].reason if values else "not measured"
        return Decision("undecided", reason, "low", "not measurable here", values)
    reasons = list(dict.fromkeys(value.reason for value in values if value.reason))
    bounded = [v.words for v in values if v.at_most is not None]
    wrong = [v.words for v in values if v.number is not None and not v.is_measured]
    sentences = [f"{words} cannot be true: is it this GPU, this partition?" for words in wrong]
    sentences += [f"{words}: the counters ran longer than the kernel" for words in bounded]
    reason = "; ".join([*sentences, *reasons][:2]) or "not measured"
    return Decision("undecided", reason, "low", "not measured", values)


def _size(test: Applied) -> float:
    """The number of a test, negative where small numbers speak for the limiter."""
    number = test.value.number or 0.0
    return -number if test.threshold.below else number


def _excluded(test: Applied, reason: str) -> Decision:
    if test.is_close:
        return Decision("excluded", reason, "medium", "the number is close to the threshold")
    return Decision("excluded", reason, "high", "measured, and far from the threshold")


def _gain(rule: LimiterRule, values: Mapping[str, EvidenceValue]) -> float | None:
    """Upper bound of the share of time that can be saved; None = the quantity that tells it was not measured."""
    part, rest = values.get(rule.gain_part), values.get(rule.gain_rest)
    if part and part.is_measured:
        return min(1.0, max(0.0, (part.number or 0.0) / 100))
    return min(1.0, max(0.0, 1.0 - (rest.number or 0.0) / 100)) if rest and rest.is_measured else None


def _is_telling(value: EvidenceValue) -> bool:
    """True if the number is worth showing: a kind of operations that is not used at all is not."""
    return value.is_measured and not (value.number == 0 and QUANTITIES[value.quantity].of_peak)
