"""Counters of the kernel of a thread trace: which kernel of a capture it is, whether both agree, and what they explain.

`linked` finds the kernel and judges its counters, `with_reasons` gives findings the numbers that are behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.counters.choice import CounterChoice, ranked_kernels
from wavewright.analysis.counters.closure import EXACT, IMPOSSIBLE, OTHER_RUN, WITHIN, Closure
from wavewright.analysis.counters.l2.verdict import findings as questions_of
from wavewright.analysis.counters.limiters.counter_values import formulas_of_quantities
from wavewright.analysis.counters.limiters.evidence import EvidenceValue, Limiter
from wavewright.analysis.counters.limiters.kernel_values import kernel_values
from wavewright.analysis.counters.limiters.verdicts import judged
from wavewright.analysis.trace.diagnose.balance import balance, brief_name, same_kernel, traced_kernel
from wavewright.analysis.trace.diagnose.finding import Link, Reason, StallFinding
from wavewright.analysis.trace.diagnose.traffic import CountedRate
from wavewright.errors import UsageError
from wavewright.facts.counters.limiters import QUANTITIES
from wavewright.facts.loader import Fact, FactTable
from wavewright.model.counters import CounterSet
from wavewright.model.trace import ThreadTrace

_SHOWN = 4  #: Kernels that a sentence names at most.
_DIFFERS_FROM = 0.01  #: A smaller difference of register counts comes from means over dispatches.
_OF_ANOTHER = ("other_gpu", "other_kernel_name")  #: Caveats that the counters are of other work.
_BYTES_OF = {"GB/s": 1e9, "Gb/s": 1e9}  #: ROCm Compute Profiler writes Gb/s for 10^9 bytes per second.


@dataclass(frozen=True)
class Linked:
    """The link with its numbers."""

    link: Link
    values: dict[str, EvidenceValue]
    traffic: dict[str, Any]  #: The kernel's row of `L2.kernels`; empty = nothing known.
    limiters: tuple[Limiter, ...]


def linked(
    trace: ThreadTrace, counters: CounterSet, *, kernel: str | None = None, ideal_gb: float | None = None
) -> Linked:
    """The counters of the kernel that most waves of the trace ran; `kernel` picks one of the counters by name or rank.

    Raises `UsageError` when the counters have no kernel that `kernel` picks, or `ideal_gb` is no amount.
    """
    if ideal_gb is not None and not 0 < ideal_gb < float("inf"):
        raise UsageError("--ideal-gb must be more than 0")
    traced = traced_kernel(trace)
    candidates, how = same_kernel(traced, counters, kernel)
    if len(candidates) != 1:
        return Linked(_no_link(traced, candidates, counters), {}, {}, ())
    evaluated = kernel_values(counters, CounterChoice(kernels=(candidates[0],)), ideal_gb=ideal_gb)
    measured = next(values for values in evaluated.kernels if values.kernel_name == candidates[0])
    dispatches = evaluated.dispatches.filter(pl.col("kernel_name") == candidates[0])
    sheet = balance(counters, trace, kernel=candidates[0])
    caveats = (*how, *_disagreements(trace, traced, counters, dispatches), *_closing(sheet))
    link = Link(counters.path, candidates[0], measured.dispatch_count, measured.duration_ns_mean, (), caveats)
    if sheet.difference:
        return Linked(replace(link, kernel_name=None, candidates=(candidates[0],)), {}, {}, ())
    values = _usable(measured.values, sheet, counters.system.target)
    return Linked(link, values, evaluated.traffic.get(candidates[0], {}), judged(values))


def counted_rate(linked: Linked) -> CountedRate | None:
    """Bytes that the memory moved per second of the counted dispatches; None = not measured, or does not close."""
    value, duration_ns = linked.values.get("memory_bandwidth"), linked.link.duration_ns_mean
    is_of_another = any(caveat.name in _OF_ANOTHER for caveat in linked.link.caveats)
    if value is None or is_of_another or not (value.is_measured and value.amount and duration_ns):
        return None
    if value.amount_unit not in _BYTES_OF:
        return None
    return CountedRate(value.amount * _BYTES_OF[value.amount_unit], duration_ns)


def _closing(sheet: Closure) -> Iterable[Caveat]:
    """The use that is made of counters, by what the trace accounts for."""
    details = "`wavewright closure TRACE COUNTERS` has every counter"
    checks = sheet.counters.filter(pl.col("against") == "trace")
    if sheet.difference:
        words = f"the counters are of another launch than the trace and are not used: {sheet.difference}"
        yield Caveat("other_launch_counted", "care", words, details)
        return
    for verdict, name, use in (
        (OTHER_RUN, "other_run", "the counters are of another run or build than the trace; what differs is not used"),
        (IMPOSSIBLE, "impossible_counters", "counters that cannot be true are not used"),
    ):
        rows = sheet.counters.filter(pl.col("verdict") == verdict)
        if rows.height:
            first = rows.row(0, named=True)
            yield Caveat(name, "care", f"{use}: {first['counter']}, {first['reason']}", details, {"count": rows.height})
            return
    agreements = checks.filter(pl.col("verdict").is_in([EXACT, WITHIN]))
    if agreements.height:
        words = f"{agreements.height} of {checks.height} counters that the trace predicts close with it"
        yield Caveat("counters_close", "note", words, details, {"count": agreements.height})


def _usable(values: dict[str, EvidenceValue], sheet: Closure, target: str | None) -> dict[str, EvidenceValue]:
    """The quantities, without numbers where a counter of their formula does not close."""
    wrong = sheet.unusable
    formulas = formulas_of_quantities(target)
    return {
        name: replace(value, number=None, reason="a counter that it needs cannot be true")
        if name in formulas and wrong.intersection(formulas[name].counters)
        else value
        for name, value in values.items()
    }


def _no_link(traced: dict[str, Any], candidates: list[str], counters: CounterSet) -> Link:
    traced_name = brief_name(traced.get("demangled") or traced.get("name") or "the traced kernel, which has no name")
    names = candidates or [name or "" for name in ranked_kernels(counters.dispatches)["kernel_name"].to_list()]
    examples = ", ".join(brief_name(name) for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    if candidates:
        what = f"{len(candidates):,} kernels of the counters could be {traced_name}: {examples}{more}; none was taken"
        caveat = Caveat("several_kernels_fit", "care", what, "pick one with --counters-kernel")
    else:
        kernels = f"kernel {traced_name}: they have {examples}{more}" if names else "kernels"
        advice = "collect counters of this kernel, or pick one with --counters-kernel"
        caveat = Caveat("no_counters_of_kernel", "care", f"the counters have no {kernels}", advice)
    return Link(counters.path, None, 0, None, tuple(candidates), (caveat,))


def _disagreements(
    trace: ThreadTrace, traced_row: dict[str, Any], counters: CounterSet, dispatches: pl.DataFrame
) -> Iterable[Caveat]:
    """Differences between the dispatch that was traced and those that were counted."""
    traced, counted = (trace.source.target or "").split(":")[0], counters.system.target
    if traced and counted and traced != counted:
        what = f"the trace is from {traced}, the counters are from {counted}"
        yield Caveat("other_gpu", "care", what, "capture both on the same GPU")
    vgprs = None if traced_row.get("vgprs") is None else traced_row["vgprs"] + (traced_row.get("agprs") or 0)
    for label, traced_value, counted_values in (
        ("work-items per workgroup", traced_row.get("workgroup_size"), dispatches["workgroup_size"]),
        ("bytes of LDS per workgroup", traced_row.get("lds_bytes"), dispatches["lds_bytes"]),
        ("vector registers", vgprs, dispatches["arch_vgprs"] + dispatches["accum_vgprs"].fill_null(0)),
        ("scalar registers", traced_row.get("sgprs"), dispatches["sgprs"]),
    ):
        recorded = counted_values.drop_nulls().unique().sort().to_list()
        if traced_value and recorded and not any(_same(traced_value, value) for value in recorded):
            numbers = " or ".join(f"{value:,}" for value in recorded[:3])
            what = f"the traced kernel has {traced_value:,} {label}, the counted one {numbers}"
            yield Caveat("other_launch", "care", what, "another build or launch: capture both from the same program")
    sizes = dispatches["grid_size"].drop_nulls().unique().sort().to_list()
    if len(sizes) > 1:
        what = f"the counted dispatches have {len(sizes):,} grid sizes, from {sizes[0]:,} to {sizes[-1]:,} work-items"
        yield Caveat("several_grids", "note", what, "the reasons are averages over all of them")


def _same(traced: int, counted: int) -> bool:
    """Equal up to the granules that tools round registers and LDS to, and up to the half that some of them tell."""
    return any(
        abs(-(-traced // granule) * granule - counted) < _DIFFERS_FROM for granule in (1, 4, 8, 16, 512, 1280)
    ) or (2 * counted == -(-traced // 8) * 8)


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

#: Question of `wavewright l2` -> the quantity and the column of `L2.kernels` that answer it.
_QUESTIONS = {
    "Is data reused in L2?": ("l2_hit_rate", "hit_rate"),
    "Are memory lines read whole?": ("read_32b", "read_32b_share"),
    "Is the memory busy?": ("memory_bandwidth", "peak_share"),
}
_ASKS_FOR_TRACE = ": look at a thread trace"  #: End of a reason that a diagnosis of a trace leaves out.
_UNHELPFUL = ("not measured",)  #: Verdicts that are no reason.
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
    gravity = {verdict: place for place, verdict in enumerate((*_CAUSES, ""))}
    return sorted(by_quantity.values(), key=lambda reason: gravity.get(reason.verdict, len(gravity)))


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
