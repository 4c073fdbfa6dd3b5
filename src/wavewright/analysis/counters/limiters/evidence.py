"""Values of quantities of one kernel, thresholds applied to them, and the verdict about a limiter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wavewright.facts.counters.limiters import QUANTITIES, Threshold
from wavewright.model.findings import Finding, NumberEvidence

VERDICTS = ("at limit", "likely", "undecided", "excluded")  #: The most certain first.
_OF_PEAK = " of peak"  #: How labels of shares of a peak end.
_CLOSE = 0.1  #: A number within this share of its threshold excludes the limiter with medium confidence only.
_IMPOSSIBLE_FROM = 105.0  #: Percent; above is an error. Up to it, counters of different passes explain the excess.


@dataclass(frozen=True)
class EvidenceValue:
    """A quantity of one kernel; `number` is None when it could not be computed."""

    quantity: str
    number: float | None
    metric_id: str = ""
    amount: float | None = None  #: Of a share of a peak: what was reached, in `amount_unit`.
    amount_unit: str = ""
    peak: float | None = None
    missing: tuple[str, ...] = ()  #: Counters that it needs and that were not collected.
    reason: str = ""  #: Why there is no number.
    exists: bool = True  #: Whether this GPU has it at all.
    level: int | None = None  #: Where another analysis judged it already: its judgement, as `Threshold.level`.
    at_most: float | None = None  #: What the number can be, where it is a lower bound; None = it is no bound.
    is_at_least: bool = False  #: Whether the number is a lower bound that nothing bounds from above.
    remark: str = ""  #: What else the number may be of; empty = nothing.
    source: str = ""  #: Counter of the profiler that it was taken from instead of a formula; empty = none.

    @property
    def is_measured(self) -> bool:
        """True if there is a number, and a possible one."""
        if self.number is None or self.number != self.number:
            return False
        quantity = QUANTITIES[self.quantity]
        return not quantity.is_bounded or self.number <= (100.0 if quantity.of_one_pass else _IMPOSSIBLE_FROM)

    @property
    def words(self) -> str:
        """The number with its name and unit, and what it is a share of."""
        declared = QUANTITIES[self.quantity]
        if self.number is None:
            return f"{declared.label} not measured"
        most = "" if self.at_most is None else f" to {self.at_most:,.{declared.digits}f}"
        number = f"{self.number:,.{declared.digits}f}{most} {declared.unit} {declared.share_of}".rstrip()
        name = declared.label.removesuffix(_OF_PEAK)
        is_share = name != declared.label
        bound = "at least " if self.is_at_least else "at " if is_share else ""
        text = f"{name} {bound}{number}{' of its theoretical peak' if is_share else ''}"
        text = f"{text}, {self.remark}" if self.remark else text
        details = [self.source] if self.source else []
        if declared.is_bounded and self.number > 100:
            details.append("more than possible: its counters are of different passes")
        if self.amount is not None and self.peak is not None:
            details.append(f"{_plain(self.amount)} of {_plain(self.peak)} {self.amount_unit}")
        return f"{text} ({', '.join(details)})" if details else text

    def words_with(self, remark: str) -> str:
        """`words` with a remark in their parentheses.

        >>> EvidenceValue("l1_bandwidth", 59.4).words_with("threshold 50 %")
        'L1 bandwidth at 59.4 % of its theoretical peak (threshold 50 %)'
        """
        words = self.words
        return f"{words[:-1]}; {remark})" if words.endswith(")") else f"{words} ({remark})"


QuantityValues = dict[str, EvidenceValue]  #: The values of a kernel by quantity.


@dataclass(frozen=True, kw_only=True)
class Limiter(Finding[NumberEvidence]):
    """The verdict about one limiter of one kernel: one of VERDICTS."""

    missing_counters: tuple[str, ...]  #: Counters that would decide it.
    missing_metrics: tuple[str, ...]  #: Metrics that need these counters.
    #: Command that plans the passes which would decide it; empty = it is decided, or no counter would help.
    plan: str = ""

    @property
    def is_measurable(self) -> bool:
        """True if this GPU has counters that could decide it."""
        return any(item.role in ("decides", "instead") for item in self.evidence)


def _plain(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:,.3g}"


@dataclass(frozen=True)
class Applied:
    """A threshold applied to a value."""

    threshold: Threshold
    value: EvidenceValue
    role: str  #: decides, instead, only if or sign; see `LimiterRule`.

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
        """True if the number speaks against the limiter, but is within `_CLOSE` of the threshold."""
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
    tests = []
    for threshold in thresholds:
        missing = EvidenceValue(threshold.quantity, None, reason="not measured")
        tests.append(Applied(threshold, values.get(threshold.quantity, missing), role))
    return tests


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
    """The value as a number that goes with a verdict, and decides nothing."""
    return _evidence(value, "number")


def _evidence(
    value: EvidenceValue, role: str, level: int | None = None, threshold: str = "", why: str = ""
) -> NumberEvidence:
    declared = QUANTITIES[value.quantity]
    return NumberEvidence(
        label=declared.label,
        value=value.number,
        unit=declared.unit,
        role=role,
        level=level,
        threshold=threshold,
        why=why,
        **{name: getattr(value, name) for name in ("quantity", "amount", "amount_unit", "peak", "metric_id")},
    )
