"""Thresholds applied to the values of a kernel, and the evidence that this makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wavewright.analysis.counters.limiters.evidence import EvidenceValue
from wavewright.facts.counters.limiters import QUANTITIES, Threshold
from wavewright.model.findings import NumberEvidence

_CLOSE = 0.1  #: A number this close to its threshold, relatively, excludes nothing for certain.


@dataclass(frozen=True)
class Applied:
    """A threshold applied to a value."""

    threshold: Threshold
    value: EvidenceValue
    role: str

    @property
    def level(self) -> int | None:
        """0 = speaks against the limiter, 1 = for it, 2 = strongly; None = not measured, or between its bounds."""
        if not self.value.is_measured or self.value.number is None:
            return None
        if self.value.level is not None:
            return self.value.level
        level = self.threshold.level(self.value.number)
        if self.value.at_most is not None and (self.threshold.level(self.value.at_most) > 0) != (level > 0):
            return None  # it depends on where between its bounds the number lies
        return min(level, self.threshold.level(self.value.at_most)) if self.value.at_most is not None else level

    @property
    def is_close(self) -> bool:
        """True if the number lies just on the good side of its threshold."""
        if self.value.number is None or self.level != 0:
            return False
        return abs(self.value.number - self.threshold.likely) <= _CLOSE * self.threshold.likely

    @property
    def is_near_strong(self) -> bool:
        """True if the number is nearer to the strong threshold than to the other."""
        number = self.value.number or 0.0
        return abs(number - self.threshold.strong) < abs(number - self.threshold.likely)

    @property
    def words(self) -> str:
        """The value with the threshold that it reached, or did not reach."""
        unit = QUANTITIES[self.value.quantity].unit
        bound = self.threshold.strong if self.level == 2 else self.threshold.likely
        side = " or less" if self.threshold.below else ""
        return self.value.words_with(f"threshold {bound:g} {unit}{side}")


def applied(thresholds: Iterable[Threshold], values: Mapping[str, EvidenceValue], role: str) -> list[Applied]:
    """Thresholds with the values that they are about; what there is no value of was not measured."""
    missing = "not measured"
    return [
        Applied(
            threshold, values.get(threshold.quantity, EvidenceValue(threshold.quantity, None, reason=missing)), role
        )
        for threshold in thresholds
    ]


def evidence_of(test: Applied) -> NumberEvidence:
    """The value with its threshold and what it says."""
    unit = QUANTITIES[test.value.quantity].unit
    side = "at most" if test.threshold.below else "from"
    bounds = f"{side} {test.threshold.likely:g} {unit}"
    if test.threshold.strong != test.threshold.likely:
        bounds += f", strongly {side} {test.threshold.strong:g} {unit}"
    why = test.value.reason if test.value.number is None else test.threshold.reason
    return _evidence(test.value, test.role, test.level, bounds, why)


def number_of(value: EvidenceValue) -> NumberEvidence:
    """The value as a number that goes with a verdict, and decides nothing.

    >>> number_of(EvidenceValue("valu_busy", 60.0)).role
    'number'
    """
    return _evidence(value, "number")


def _evidence(
    value: EvidenceValue, role: str, level: int | None = None, threshold: str = "", why: str = ""
) -> NumberEvidence:
    declared = QUANTITIES[value.quantity]
    return NumberEvidence(
        quantity=value.quantity,
        label=declared.label,
        value=value.number,
        unit=declared.unit,
        amount=value.amount,
        amount_unit=value.amount_unit,
        peak=value.peak,
        metric_id=value.metric_id,
        role=role,
        level=level,
        threshold=threshold,
        why=why,
    )
