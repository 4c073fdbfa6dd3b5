"""The limits of a budget against what captures measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wavewright.analysis.common.gate.check import CANNOT_TELL, FAIL, PASS, Check, JudgedFinding
from wavewright.analysis.common.gate.noise import Group
from wavewright.analysis.common.name_patterns import pattern_of
from wavewright.analysis.common.noise import GATE_FALSE_ALARMS, t_bound
from wavewright.model.budget import Budget, Limit


def limit_checks(budget: Budget, groups: Mapping[tuple[str, str], Group]) -> Iterator[Check]:
    """One check per limit and quantity that it is about; what no capture has cannot be told."""
    for limit in budget.limits:
        names = [name for subject, name in groups if subject == limit.subject and _is_about(limit, name)]
        for name in sorted(names):
            yield _checked(limit, name, groups[limit.subject, name])
        if not names:
            what = "nothing that was measured has this name" if limit.name else "this was not measured"
            yield Check(limit.subject, limit.name, CANNOT_TELL, what, limit_text=limit.text, unit=limit.unit)


def finding_checks(budget: Budget, findings: tuple[JudgedFinding, ...]) -> Iterator[Check]:
    """One check per finding that promises more than the budget allows; one that passes where there is none."""
    most = budget.strongest_finding
    if most is None:
        return
    text = f"no finding stronger than {100 * most:g} %"
    strong = sorted((each for each in findings if each.share > most), key=lambda each: (-each.share, each.sentence))
    for each in strong:
        yield Check(
            "finding",
            each.rule,
            FAIL,
            each.sentence,
            unit="share",
            value=each.share,
            limit=most,
            limit_text=text,
            file=each.file,
            line=each.line,
        )
    if not strong:
        largest = max((each.share for each in findings), default=0.0)
        yield Check("finding", "", PASS, "", unit="share", value=largest, limit=most, limit_text=text)


def _is_about(limit: Limit, name: str) -> bool:
    pattern = pattern_of(limit.name)
    return bool(pattern.search(name)) if pattern else limit.name in name


def _checked(limit: Limit, name: str, group: Group) -> Check:
    """Within the limit is a pass; beyond it by no more than the noise of the mean cannot be told."""
    value, error = group.mean, group.error
    noise = t_bound(GATE_FALSE_ALARMS, error[1]) * error[0] if error else 0.0
    beyond = value - limit.value if limit.is_at_most else limit.value - value
    status = PASS if beyond <= 0 else FAIL if beyond > noise else CANNOT_TELL
    reason = "" if status != CANNOT_TELL else "beyond the limit by less than its noise"
    return Check(
        limit.subject,
        name,
        status,
        reason,
        unit=group.quantities[0].unit,
        value=value,
        noise=noise / abs(value) if value and error else None,
        limit=limit.value,
        limit_text=limit.text,
        count=sum(each.count for each in group.quantities),
        file=group.quantities[0].file,
        line=group.quantities[0].line,
    )
