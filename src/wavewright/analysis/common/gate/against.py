"""Captures against a baseline, quantity by quantity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose

from wavewright.analysis.common.gate.check import CANNOT_TELL, FAIL, NOT_JUDGED, PASS, SUBJECTS, Check, default_subjects
from wavewright.analysis.common.gate.noise import Group, Noise, Prior, groups_of, noise_of, prior_of
from wavewright.analysis.common.noise import LEAST_CHANGE
from wavewright.base.words import counted
from wavewright.errors import UsageError
from wavewright.model.baseline import Baseline

_WHOLE_RUN = ("gpu-time", "wall")  #: Subjects whose size depends on how long the program was let run.
_NOTHING = Group(())
_SAME = 1e-7  #: Relative difference up to which numbers are the same: files of baselines have fewer digits.
_MOST_GROWN = 10  #: Source lines that are listed as grown, those that grew most.
_LEAST_GROWTH = 0.001  #: A line is listed if it grew by at least this share of the cycles of a wave.


@dataclass(frozen=True)
class Against:
    """The result of a comparison with a baseline."""

    checks: tuple[Check, ...]
    reasons: tuple[str, ...]  #: Why all of it cannot be told.
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Pair:
    subject: str  #: Name of one of `SUBJECTS`.
    name: str  #: In the captures.
    base_name: str
    base: Group  #: In the baseline,
    side: Group  #: and in the captures.
    share: float | None  #: Share of the GPU time, the larger one of both sides; None = not known.
    scale: float  #: What a change is a share of.


def against_baseline(
    baseline: Baseline,
    current: Baseline,
    *,
    threshold: float,
    subjects: Sequence[str],
    pairs: Mapping[str, str],
    least_share: float,
) -> Against:
    """The checks of all quantities of the subjects; `pairs` are names of kernels of the baseline with those of now."""
    if baseline.kind != current.kind:
        what = f"the baseline is of {baseline.kind}s, the captures are {current.kind}s".replace("counterss", "counters")
        raise UsageError(what, advice="compare traces with traces, runs with runs, counters with counters")
    base_groups = groups_of(baseline, pairs)
    groups = groups_of(current)
    subject_names = tuple(subjects) or default_subjects(
        current.kind,
        has_steps=current.step is not None,
        has_kernel_times=all(("kernel-time", "") in side for side in (base_groups, groups)),
    )
    base_name_of = {name: base_name for base_name, name in pairs.items()}
    keys = sorted(base_groups.keys() | groups.keys())
    rows = [_pair(key, base_name_of, base_groups, groups) for key in keys if key[0] in subject_names]
    is_judged = [_is_judged(row, least_share) for row in rows]
    decisive = [row for row, decides in zip(rows, is_judged, strict=True) if decides]
    # Counter captures have a handful of dispatches: a bound over all rows would be beyond anything (docs/adr/0016).
    row_count = 1 if current.kind == "counters" else len(decisive)
    priors = {
        subject: prior_of([(row.base, row.side) for row in decisive if row.subject == subject])
        for subject in subject_names
    }
    work = _other_work(baseline, base_groups, groups)
    checks = [
        _checked(row, threshold, row_count, priors[row.subject], work if row.subject in _WHOLE_RUN else "")
        if decides
        else _left_out(row)
        for row, decides in zip(rows, is_judged, strict=True)
    ]
    if current.kind == "trace" and "line" not in subject_names:
        checks += _grown(base_groups, groups)
    missing = [subject for subject in subject_names if not any(row.subject == subject for row in rows)]
    checks += [Check(subject, "", CANNOT_TELL, "neither side measures it") for subject in missing]
    return Against(tuple(checks), tuple(_reasons(baseline, current)), tuple(_notes(baseline, current, checks)))


def _pair(
    key: tuple[str, str],
    base_name_of: Mapping[str, str],
    base_groups: Mapping[tuple[str, str], Group],
    groups: Mapping[tuple[str, str], Group],
) -> _Pair:
    subject, name = key
    base, side = base_groups.get(key, _NOTHING), groups.get(key, _NOTHING)
    declared = SUBJECTS[subject]
    wholes = [each.get((declared.of_whole or "gpu-time", ""), _NOTHING).mean for each in (base_groups, groups)]
    scale = 1.0 if declared.is_in_points else wholes[0] if declared.of_whole else abs(base.mean)
    sides = [(group, whole) for group, whole in zip((base, side), wholes, strict=True) if whole]
    if declared.of_whole:
        shares = [group.mean / whole for group, whole in sides]
    else:
        times = [(group.quantities[0].total, whole) for group, whole in sides if group.quantities]
        shares = [time / whole for time, whole in times if time is not None]
    base_name = base_name_of.get(name, name) if subject == "kernel" else name
    return _Pair(subject, name, base_name, base, side, max(shares, default=None), scale)


def _is_judged(row: _Pair, least_share: float) -> bool:
    """True if a quantity decides: on both sides, and large enough. A line may come or go: then it costs nothing."""
    is_whole = bool(SUBJECTS[row.subject].of_whole)
    is_there = row.scale > 0 and (is_whole or bool(row.base.quantities and row.side.quantities))
    return is_there and (row.share is None or not SUBJECTS[row.subject].has_names or row.share >= least_share)


def _left_out(row: _Pair) -> Check:
    is_new, is_gone = not row.base.quantities, not row.side.quantities
    reason = "new" if is_new else "gone" if is_gone else "too small a share of the time" if row.scale else "was 0"
    return _check(row, NOT_JUDGED, reason, None)


def _checked(row: _Pair, threshold: float, row_count: int, prior: Prior | None, work: str) -> Check:
    subject = SUBJECTS[row.subject]
    is_told = subject.is_told_by_calls
    noise = noise_of(row.base, row.side, row_count=row_count, prior=prior, scale=row.scale, is_told_by_calls=is_told)
    change = (row.side.mean - row.base.mean) / row.scale
    if _is_same(row):
        return _check(row, PASS, "the same capture", None)
    if work:
        return _check(row, CANNOT_TELL, work, noise)
    if noise is None:
        return _check(row, CANNOT_TELL, _why_unknown(row), None)
    harm = change * subject.worse if subject.worse else abs(change)
    status, reason = judged(harm, noise, threshold)
    return _check(row, status, reason, noise)


def _is_same(row: _Pair) -> bool:
    """True if both sides are the same captures: files of baselines have fewer digits."""
    sides = row.base.quantities, row.side.quantities
    return len(sides[0]) == len(sides[1]) and all(
        base.count == side.count and isclose(base.mean, side.mean, rel_tol=_SAME) and _are_close(base.error, side.error)
        for base, side in zip(*sides, strict=True)
    )


def _are_close(base: float | None, side: float | None) -> bool:
    return base == side if base is None or side is None else isclose(base, side, rel_tol=_SAME)


def judged(harm: float, noise: Noise, threshold: float) -> tuple[str, str]:
    """Status and reason of a change for the worse; all are shares.

    >>> small, large = Noise(0.02, 0.04), Noise(0.08, 0.12)
    >>> [judged(harm, noise, 0.05)[0] for harm, noise in ((0.15, small), (0.01, small), (0.1, large), (-0.2, large))]
    ['fail', 'pass', 'cannot tell', 'pass']
    """
    if harm > max(threshold, noise.of_all):
        return FAIL, ""
    if harm + noise.alone <= threshold or max(harm, noise.alone) <= threshold:
        return PASS, ""
    return CANNOT_TELL, "above the threshold, but may be noise" if harm > threshold else "noise above the threshold"


def _why_unknown(row: _Pair) -> str:
    if SUBJECTS[row.subject].is_told_by_calls:
        counts = [sum(quantity.count for quantity in group.quantities) for group in (row.base, row.side)]
        return f"too few calls ({counts[0]:,} and {counts[1]:,})"
    return "one capture on each side: how much captures differ is not known"


def _check(row: _Pair, status: str, reason: str, noise: Noise | None) -> Check:
    sides = [group.quantities for group in (row.base, row.side)]
    either = (sides[1] or sides[0])[0]
    is_whole = bool(SUBJECTS[row.subject].of_whole)
    base, value = (group.mean if group.quantities else 0.0 if is_whole else None for group in (row.base, row.side))
    return Check(
        subject=row.subject,
        name=row.name,
        status=status,
        reason=reason,
        base_name="" if row.base_name == row.name else row.base_name,
        unit=either.unit,
        base=base,
        value=value,
        change=(value - base) / row.scale if base is not None and value is not None and row.scale else None,
        noise=noise.alone if noise else None,
        seen_from=noise.of_all if noise else None,
        share=row.share,
        base_count=sum(quantity.count for quantity in sides[0]),
        count=sum(quantity.count for quantity in sides[1]),
        file=either.file,
        line=either.line,
    )


def _grown(base_groups: Mapping[tuple[str, str], Group], groups: Mapping[tuple[str, str], Group]) -> list[Check]:
    """The source lines whose exposed cycles grew most: where to look, not a verdict."""
    lines = sorted(key for key in base_groups.keys() | groups.keys() if key[0] == "line")
    rows = [_pair(key, {}, base_groups, groups) for key in lines]
    grown = [_check(row, NOT_JUDGED, "where it grew", None) for row in rows if row.scale]
    grown = [check for check in grown if (check.change or 0.0) >= _LEAST_GROWTH and check.value]
    return sorted(grown, key=lambda check: (-(check.change or 0.0), check.name))[:_MOST_GROWN]


def _other_work(
    baseline: Baseline, base_groups: Mapping[tuple[str, str], Group], groups: Mapping[tuple[str, str], Group]
) -> str:
    """The reason against times of whole runs: most of the kernels were called more or less often; empty = none."""
    if baseline.kind != "run" or baseline.step is not None:
        return ""
    ratios = []
    for key, base in base_groups.items():
        side = groups.get(key)
        if key[0] == "kernel" and side is not None:
            calls = [sum(each.count for each in group.quantities) / len(group.quantities) for group in (base, side)]
            ratios.append((calls[1] / calls[0] if calls[0] else 1.0, base.quantities[0].total or 0.0))
    ratios.sort()
    half, passed = sum(time for _, time in ratios) / 2, 0.0
    for ratio, time in ratios:
        passed += time
        if passed >= half:
            is_other = abs(ratio - 1) > LEAST_CHANGE
            return f"other steps: {ratio:.2f} times as many calls as before; name a step (--step)" if is_other else ""
    return ""


def _reasons(baseline: Baseline, current: Baseline) -> list[str]:
    reasons = [
        f"{capture.label} of the baseline: {damage}" for capture in baseline.captures for damage in capture.damages
    ]
    if baseline.targets and current.targets and baseline.targets != current.targets:
        reasons.append(f"other GPU: {', '.join(baseline.targets)} before, {', '.join(current.targets)} now")
    kernels = [sorted({capture.kernel for capture in side.captures} - {""}) for side in (baseline, current)]
    if all(kernels) and kernels[0] != kernels[1]:
        reasons.append(f"other kernel: {', '.join(kernels[0])} before, {', '.join(kernels[1])} now")
    if baseline.step != current.step:
        reasons.append(f"other steps: {baseline.step or 'whole runs'} before, {current.step or 'whole runs'} now")
    if dict(baseline.filters) != dict(current.filters):
        reasons.append(f"other filters: {_filters(baseline)} before, {_filters(current)} now")
    return reasons


def _filters(measured: Baseline) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(measured.filters.items())) or "none"


def _notes(baseline: Baseline, current: Baseline, checks: Sequence[Check]) -> list[str]:
    counts = len(baseline.captures), len(current.captures)
    notes = []
    if max(counts) == 1:
        notes.append("one capture on each side: runs are taken to differ by 1 % at least; several captures measure it")
    if not baseline.targets or not current.targets:
        notes.append("the GPU is not recorded on both sides: it is taken to be the same")
    products = [{capture.product for capture in side.captures} - {""} for side in (baseline, current)]
    if all(products) and products[0] != products[1]:
        notes.append(f"other product: {', '.join(sorted(products[0]))} before, {', '.join(sorted(products[1]))} now")
    software = [
        {item for capture in side.captures for item in capture.software.items()} for side in (baseline, current)
    ]
    if all(software) and software[0] != software[1]:
        before, after = (", ".join(" ".join(item) for item in sorted(items)) for items in software)
        notes.append(f"recorded by other software: {before} before, {after} now")
    codes = [{capture.code for capture in side.captures} - {""} for side in (baseline, current)]
    if all(codes) and codes[0] == codes[1]:
        notes.append("the code is the same on both sides: what differs is between runs, not in the kernel")
    for reason, verb in (("new", "are new"), ("gone", "are gone")):
        rows = [check for check in checks if check.status == NOT_JUDGED and check.reason == reason]
        if rows:
            notes.append(f"{counted(len(rows), f'{rows[0].subject}s that {verb}')}: the total counts them")
    return notes
