"""Values of quantities of one kernel, and the verdict about a limiter."""

from __future__ import annotations

from dataclasses import dataclass

from wavewright.facts.counters.limiters import QUANTITIES
from wavewright.model.findings import Finding, NumberEvidence

VERDICTS = ("at limit", "likely", "undecided", "excluded")  #: The most certain first.
_OF_PEAK = " of peak"  #: How labels of shares of a peak end.
_IMPOSSIBLE_FROM = 105.0  #: Percent; counters of different passes may exceed 100 % by a little.


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
        more = [self.source] if self.source else []
        if declared.is_bounded and self.number > 100:
            more.append("more than possible: its counters are of different passes")
        if self.amount is not None and self.peak is not None:
            more.append(f"{_plain(self.amount)} of {_plain(self.peak)} {self.amount_unit}")
        return f"{text} ({', '.join(more)})" if more else text

    def words_with(self, remark: str) -> str:
        """`words` with a remark in their parentheses.

        >>> EvidenceValue("l1_bandwidth", 59.4).words_with("threshold 50 %")
        'L1 bandwidth at 59.4 % of its theoretical peak (threshold 50 %)'
        """
        words = self.words
        return f"{words[:-1]}; {remark})" if words.endswith(")") else f"{words} ({remark})"


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
