"""Did it get worse? Captures against a baseline and against limits: pass, fail, or cannot tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import polars as pl

from wavewright.analysis.common.gate.against import against_baseline
from wavewright.analysis.common.gate.check import (
    CANNOT_TELL,
    FAIL,
    NOT_JUDGED,
    PASS,
    STATUSES,
    SUBJECTS,
    Check,
    JudgedFinding,
)
from wavewright.analysis.common.gate.noise import Group, groups_of
from wavewright.analysis.common.name_patterns import pattern_of
from wavewright.analysis.common.noise import GATE_FALSE_ALARMS, t_bound
from wavewright.base.words import counted, percent
from wavewright.errors import UsageError
from wavewright.facts.kernel_titles import kernel_title
from wavewright.model.answer import Answer
from wavewright.model.baseline import Baseline, Budget, Limit
from wavewright.model.schema import frame_of

LEAST_SHARE = 0.01  #: Kernels with a smaller share of the GPU time do not decide, unless they are asked for.
_NAMED = 3  #: Checks that the headline names.
_NAME_WIDTH = 80  #: Characters of a name in a sentence.


@dataclass(frozen=True)
class GateAnswer(Answer, package=__package__):
    """Captures against a baseline and a budget."""

    verdict: str  #: pass, fail or cannot tell.
    kind: str
    threshold: float  #: Share by which a quantity may get worse.
    base_capture_count: int  #: 0 = there is no baseline, only a budget.
    capture_count: int
    reasons: tuple[str, ...]  #: Why the whole gate cannot tell.
    notes: tuple[str, ...]
    detectable: float | None  #: Every change above it, and above the threshold, is seen; None = not known.
    checks: pl.DataFrame  #: The worst first; columns in `tables.toml`.

    def headline(self) -> str:
        """The verdict in one sentence."""
        checks = counted(int((self.checks["status"] != NOT_JUDGED).sum()), "checks")
        if self.verdict == PASS:
            seen = "" if self.detectable is None else f"; every change above {percent(self.detectable)} would be seen"
            return f"pass: {checks}, none worse by more than {100 * self.threshold:g} %{seen}"
        if self.verdict == CANNOT_TELL and self.reasons:
            return f"cannot tell: {'; '.join(self.reasons)}"
        decisive = self.checks.filter(self.checks["status"] == self.verdict)
        more = f" and {decisive.height - _NAMED:,} more" if decisive.height > _NAMED else ""
        sentences = "; ".join(map(sentence, decisive.head(_NAMED).to_dicts()))
        return f"{self.verdict}: {decisive.height:,} of {checks}: {sentences}{more}"


def sentence(row: Mapping[str, object]) -> str:
    """One check in words."""
    name = title_of(row)
    if is_finding(row):
        return f"{name}: {row['reason']}, at most {percent(row['value'])}; the limit: {row['limit_text']}"  # type: ignore[arg-type]
    if row["limit_text"]:
        value = measured_text(row["value"], str(row["unit"]))
        return f"{name} is {value}, the limit {row['limit_text']}" + (f" ({row['reason']})" if row["reason"] else "")
    change, noise = row["change"], row["noise"]
    parts = [] if change is None else [percent(change, sign=True)]  # type: ignore[arg-type]
    parts += [f"noise ±{percent(noise)}"] if isinstance(noise, float) else []
    parts += [str(row["reason"])] if row["reason"] else []
    return f"{name} {', '.join(parts)}" if change is not None else f"{name}: {', '.join(parts)}"


def is_finding(row: Mapping[str, object]) -> bool:
    """True if a check is about a finding of a diagnosis, and not the one that says that there is none."""
    return row["subject"] == "finding" and bool(row["name"])


def title_of(row: Mapping[str, object], width: int = _NAME_WIDTH) -> str:
    """The subject of a check, in a few words."""
    subject, name = str(row["subject"]), str(row["name"])
    title = SUBJECTS[subject].title if subject in SUBJECTS else subject
    name = kernel_title(name) if subject == "kernel" else name
    cut = name if len(name) <= width else f"{name[: width - 3]}..."
    return f"{title} {cut}".strip()


def measured_text(value: object, unit: str) -> str:
    """A measured value with its unit.

    >>> measured_text(210_000.0, "ns"), measured_text(0.923, "share"), measured_text(None, "ns")
    ('210.0 us', '92.3 %', 'not measured')
    """
    if not isinstance(value, float | int):
        return "not measured"
    if unit == "share":
        return percent(value)
    if unit == "ns":
        for size, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
            if abs(value) >= size:
                return f"{value / size:,.4g} {name}" if abs(value) < 100 * size else f"{value / size:,.1f} {name}"
        return f"{value:,.1f} ns"
    return f"{value:,.6g} {unit}".strip()


def gate(
    current: Baseline,
    baseline: Baseline | None = None,
    *,
    threshold: float = 0.05,
    subjects: Sequence[str] = (),
    budget: Budget | None = None,
    findings: Sequence[JudgedFinding] = (),
    pairs: Mapping[str, str] | None = None,
    least_share: float = LEAST_SHARE,
) -> GateAnswer:
    """Judge captures by a baseline, a budget, or both.

    A quantity may get worse by `threshold`, a share. `subjects` are names of `SUBJECTS` (none = what fits the kind of
    captures). `findings` are those of a diagnosis of the captures, for a budget that limits them. `pairs` maps names of
    kernels in the baseline to those of now. Kernels with less than `least_share` of the GPU time are not judged. Raises
    `UsageError` when there is neither a baseline nor a budget, or they are of different kinds.
    """
    if baseline is None and budget is None:
        raise UsageError("a gate needs something to judge by", advice="give --baseline FILE or --budget FILE")
    checks: list[Check] = []
    reasons = [f"{capture.label}: {damage}" for capture in current.captures for damage in capture.damages]
    notes: tuple[str, ...] = ()
    if baseline is not None:
        against = against_baseline(
            baseline, current, threshold=threshold, subjects=subjects, pairs=pairs or {}, least_share=least_share
        )
        checks += against.checks
        reasons += against.reasons
        notes = against.notes
    if budget is not None:
        checks += limit_checks(budget, groups_of(current))
        checks += finding_checks(budget, tuple(findings))
    order = {status: number for number, status in enumerate(STATUSES)}
    checks.sort(key=lambda check: (order[check.status], -(abs(check.change or 0.0)), check.subject, check.name))
    judged = [check for check in checks if check.status != NOT_JUDGED]
    noises = [check.seen_from for check in judged if check.seen_from is not None]
    return GateAnswer(
        verdict=_verdict(judged, reasons),
        kind=current.kind,
        threshold=threshold,
        base_capture_count=len(baseline.captures) if baseline else 0,
        capture_count=len(current.captures),
        reasons=tuple(dict.fromkeys(reasons)) if judged else (*reasons, "nothing could be judged"),
        notes=notes,
        detectable=max(noises, default=None),
        checks=frame_of(GateAnswer.tables["checks"], [asdict(check) for check in checks]),
    )


def _verdict(judged: Sequence[Check], reasons: Sequence[str]) -> str:
    """Cannot tell, where there is a reason against the whole gate or nothing to judge; else the worst of the checks."""
    if reasons or not judged:
        return CANNOT_TELL
    statuses = {check.status for check in judged}
    return FAIL if FAIL in statuses else CANNOT_TELL if CANNOT_TELL in statuses else PASS


# --- limits of a budget: what a measured quantity or a finding may be at most or at least ---


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
    strong = [finding for finding in findings if finding.share > most]
    for finding in sorted(strong, key=lambda finding: (-finding.share, finding.sentence)):
        check = Check("finding", finding.rule, FAIL, finding.sentence, unit="share", limit=most, limit_text=text)
        yield replace(check, value=finding.share, file=finding.file, line=finding.line)
    if not strong:
        largest = max((finding.share for finding in findings), default=0.0)
        yield Check("finding", "", PASS, unit="share", value=largest, limit=most, limit_text=text)


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
        count=sum(quantity.count for quantity in group.quantities),
        file=group.quantities[0].file,
        line=group.quantities[0].line,
    )
