"""What a verdict is made of: values of quantities, what they say about a suspect, and the verdict itself."""

from __future__ import annotations

from dataclasses import dataclass

from wavescope.analysis.counters.limiters.quantities import QUANTITIES

VERDICTS = ("at limit", "likely", "undecided", "excluded")  #: The most certain first.
_IMPOSSIBLE_FROM = 105.0  #: Percent; counters of different passes may exceed 100 % by a little.


@dataclass(frozen=True)
class Value:
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

    @property
    def is_measured(self) -> bool:
        """Whether there is a number, and a possible one."""
        if self.number is None or self.number != self.number:
            return False
        return not (QUANTITIES[self.quantity].is_bounded and self.number > _IMPOSSIBLE_FROM)

    @property
    def words(self) -> str:
        """The number with its name and unit, and what it is a share of."""
        declared = QUANTITIES[self.quantity]
        if self.number is None:
            return f"{declared.label} not measured"
        most = "" if self.at_most is None else f" to {self.at_most:,.{declared.digits}f}"
        text = f"{declared.label} {self.number:,.{declared.digits}f}{most} {declared.unit}"
        if self.amount is not None and self.peak is not None:
            text += f" ({_plain(self.amount)} of {_plain(self.peak)} {self.amount_unit})"
        return text


@dataclass(frozen=True)
class Evidence:
    """One number that speaks for or against a suspect."""

    quantity: str
    label: str
    value: float | None
    unit: str
    amount: float | None
    amount_unit: str
    peak: float | None
    metric_id: str  #: panel.table.index, as `wavescope metrics` has it; empty = a formula of this analysis.
    role: str  #: decides, instead, only if, sign or number.
    #: 0 = speaks against the suspect, 1 = for it, 2 = strongly; None = a number only, or not measured.
    level: int | None
    threshold: str
    why: str  #: Why the threshold lies there; or, without a value, why there is none.


@dataclass(frozen=True)
class Suspicion:
    """The verdict about one suspect for one kernel."""

    name: str
    kind: str
    verdict: str  #: One of VERDICTS.
    reason: str
    confidence: str  #: high, medium or low.
    confidence_reason: str
    evidence: tuple[Evidence, ...]
    missing_counters: tuple[str, ...]  #: What would decide it.
    missing_metrics: tuple[str, ...]  #: Metrics that need these counters.
    remedy: str
    gain_share_max: float | None  #: Upper bound of the kernel's time that can be saved; None = no honest bound.
    #: Command that plans the passes which would decide it; empty = it is decided, or no counter would help.
    plan: str = ""

    @property
    def is_measurable(self) -> bool:
        """Whether this GPU has counters that could decide it."""
        return any(item.role in ("decides", "instead") for item in self.evidence)


def _plain(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:,.3g}"
