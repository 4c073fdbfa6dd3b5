"""Reasons of long waits: numbers of hardware counters behind the findings of a thread trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from wavewright.analysis.counters.l2.verdict import findings as questions_of
from wavewright.analysis.trace.diagnose.finding import Reason, StallFinding
from wavewright.analysis.trace.diagnose.kernel_counters import Linked
from wavewright.facts.counters.limiters import QUANTITIES
from wavewright.facts.loader import Fact, FactTable


class Topic(Fact, frozen=True):
    """The counters that explain one sort of findings."""

    name: str
    limiters: tuple[str, ...]  #: Their verdicts are reasons, where they are decided.
    numbers: tuple[str, ...]  #: Quantities that are reasons by themselves.
    asks_l2: bool = False  #: Whether the questions of `wavewright l2` belong to it.
    #: The findings: parts of their names, parts that exclude others, and their kinds whatever their names.
    names: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def fits(self, finding: StallFinding) -> bool:
        """True if the topic is that of a finding."""
        is_named = any(word in finding.name for word in self.names)
        return finding.kind in self.kinds or (is_named and not any(word in finding.name for word in self.without))


TOPICS = FactTable("finding_topics.toml", Topic)  #: Every topic; a finding may fit several.

_QUESTIONS = {
    "Is data reused in L2?": ("l2_hit_rate", "hit_rate"),
    "Are memory lines read whole?": ("read_32b", "read_32b_share"),
    "Is the memory busy?": ("memory_bandwidth", "peak_share"),
}
_ASKS_FOR_TRACE = ": look at a thread trace"
_UNHELPFUL = ("not measured",)


#: Verdicts of causes, the gravest first; numbers without a verdict come next, and what is no problem last.
_CAUSES = ("at limit", "saturated", "above peak", "scattered", "fetches too much", "likely", "healthy")


def with_reasons(findings: Sequence[StallFinding], linked: Linked) -> list[StallFinding]:
    """The findings with what the counters of the same kernel say; nothing is said twice.

    A reason that fits several findings is with the first of them.
    """
    quantities: set[str] = set()
    explained = []
    for finding in findings:
        reasons = tuple(reason for reason in _reasons(finding, linked) if reason.quantity not in quantities)
        quantities.update(reason.quantity for reason in reasons)
        explained.append(replace(finding, reasons=reasons))
    return explained


def _reasons(finding: StallFinding, linked: Linked) -> list[Reason]:
    """Reasons of one finding, causes first."""
    if linked.link.kernel_name is None:
        return []
    by_quantity: dict[str, Reason] = {}
    for topic in TOPICS.values():
        if topic.fits(finding):
            for reason in _of_topic(topic, linked):
                by_quantity.setdefault(reason.quantity, reason)
    return sorted(by_quantity.values(), key=_gravity)


def _gravity(reason: Reason) -> int:
    if reason.verdict in _CAUSES:
        return _CAUSES.index(reason.verdict)
    return len(_CAUSES) + bool(reason.verdict)


def _of_topic(topic: Topic, linked: Linked) -> Iterator[Reason]:
    if topic.asks_l2:
        yield from _of_l2(linked)
    by_name = {limit.name: limit for limit in linked.limiters}
    for name in topic.limiters:
        limiter = by_name.get(name)
        if limiter is None or limiter.verdict not in ("at limit", "likely"):
            continue
        deciding = next(item for item in limiter.evidence if item.level)
        text = f"{limiter.name} ({limiter.verdict}): {limiter.reason}"
        yield Reason(deciding.quantity, text, deciding.value, deciding.unit, deciding.metric_id, limiter.verdict)
    for name in topic.numbers:
        value = linked.values.get(name)
        if value is not None and value.is_measured and (value.number or not name.startswith("mfma_")):
            yield Reason(name, value.words, value.number, QUANTITIES[name].unit, value.metric_id, "")


def _of_l2(linked: Linked) -> Iterator[Reason]:
    """The decision tree of `wavewright l2`, with its own words."""
    for question in questions_of(linked.traffic):
        if question.kind in _UNHELPFUL:
            continue
        quantity, column = _QUESTIONS.get(question.name, ("over_fetch", "over_fetch"))
        share = linked.traffic.get(column)
        unit = QUANTITIES[quantity].unit
        number = None if share is None else share if unit == "times" else 100 * share
        value = linked.values.get(quantity)
        words = f"{question.name} {question.verdict}: {question.reason.removesuffix(_ASKS_FOR_TRACE)}"
        if value is not None and value.amount is not None and value.peak is not None:
            words += f" ({value.amount:,.0f} of {value.peak:,.0f} {value.amount_unit})"
        yield Reason(quantity, words, number, unit, value.metric_id if value else "", question.kind)
