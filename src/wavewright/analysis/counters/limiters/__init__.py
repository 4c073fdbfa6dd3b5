"""Limits of kernels by their hardware counters, and the counters that would decide what these leave open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache

import polars as pl

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.counters.choice import ALL_DISPATCHES, CounterChoice
from wavewright.analysis.counters.limiters.evidence import Limiter
from wavewright.analysis.counters.limiters.kernel_values import KernelTimes, KernelValues, kernel_values
from wavewright.analysis.counters.limiters.trust import caveats_of, kernels_with_caveats
from wavewright.analysis.counters.limiters.verdicts import judged
from wavewright.base.bounds import ROWS, bounded
from wavewright.base.words import some_of
from wavewright.facts.counters.limiters import CORE
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.metric import metrics_in
from wavewright.facts.metrics.panels import panels_of
from wavewright.facts.metrics.rule_voices import has_voice
from wavewright.model.answer import Answer
from wavewright.model.counters import CounterSet
from wavewright.model.schema import frame_of, packaged_spec

_LIMITERS = packaged_spec(__package__, "limiters")
_NAMED = 3  #: Undecided limiters that a summary names.


@dataclass(frozen=True)
class KernelLimit(KernelTimes):
    """One kernel: what limits it, and the verdict about every limiter."""

    summary: str
    #: Limiters that are at their limit; also those that are likely, unless a unit or a waste of it is at its limit.
    limits: tuple[str, ...]
    confidence: str
    confidence_reason: str
    limiters: tuple[Limiter, ...]  #: At limit, likely, undecided, excluded.
    #: Command that plans the passes which would decide what is undecided; empty = nothing that counters can tell.
    plan: str
    is_time_of_run: bool = False  #: Its share is that in a run beside the passes, which count a few dispatches only.

    def of(self, *verdicts: str) -> tuple[Limiter, ...]:
        """The limiters with one of these verdicts."""
        return tuple(limiter for limiter in self.limiters if limiter.verdict in verdicts)


@dataclass(frozen=True)
class Limiters(Answer, package=__package__):
    """Limits of the kernels of a counter capture, the longest kernel first."""

    target: str | None
    product: str | None
    dispatch_count: int  #: Chosen dispatches.
    duration_ns_total: float | None  #: Of the chosen dispatches; None = no sound timestamps.
    kernel_count: int  #: Chosen kernels; `kernels` has the longest of them.
    kernels: tuple[KernelLimit, ...]
    caveats: tuple[Caveat, ...]


@bounded(top=ROWS)
def limiters(counters: CounterSet, *, choice: CounterChoice = ALL_DISPATCHES, top: int | None = None) -> Limiters:
    """The limit that each kernel is at; `top` = only that many of the longest.

    Raises `UsageError` when a kernel, dispatch or GPU is asked for that the capture does not have.
    """
    evaluated = kernel_values(counters, choice, top=top)
    caveats = kernels_with_caveats(counters, evaluated.dispatches)
    clocks = [kernel.values["clock"].number or 0.0 for kernel in evaluated.kernels if "clock" in kernel.values]
    return Limiters(
        target=counters.system.target,
        product=counters.system.product,
        dispatch_count=evaluated.dispatches.height,
        duration_ns_total=evaluated.duration_ns_total,
        kernel_count=evaluated.kernel_count,
        kernels=tuple(_limit(kernel, caveats.get(kernel.kernel_name, ""), counters) for kernel in evaluated.kernels),
        caveats=caveats_of(counters, evaluated.dispatches, evaluated.notes, diluted=max(clocks, default=0.0) / 100),
    )


def limiter_table(answer: Limiters) -> pl.DataFrame:
    """The verdicts as one table: a row per kernel and limiter."""
    rows = [
        {name: getattr(kernel, name) for name in ("kernel", "kernel_name", "duration_share")}
        | {name: getattr(limiter, name) for name in ("kind", "verdict", "confidence", "reason", "gain_share_max")}
        | {name: " ".join(getattr(limiter, name)) for name in ("missing_counters", "missing_metrics")}
        | {"limiter": limiter.name}
        for kernel in answer.kernels
        for limiter in kernel.limiters
    ]
    return frame_of(_LIMITERS, rows)


def _limit(kernel: KernelValues, caveat: str, counters: CounterSet) -> KernelLimit:
    target = counters.system.target
    limiters = tuple(_with_plan(_with_caveat(limiter, caveat), target) for limiter in judged(kernel.values))
    vocal_limiters = [limiter for limiter in limiters if has_voice("counters", limiter.name)]
    at_limit = [limiter for limiter in vocal_limiters if limiter.verdict == "at limit"]
    likely = [limiter for limiter in vocal_limiters if limiter.verdict == "likely"]
    leading = next(iter(at_limit or likely), None)
    return KernelLimit(
        **{field.name: getattr(kernel, field.name) for field in fields(KernelTimes)},
        summary=_summary(at_limit, likely, limiters),
        limits=tuple(limiter.name for limiter in (at_limit if _is_whole_story(at_limit) else [*at_limit, *likely])),
        confidence=leading.confidence if leading else "low",
        confidence_reason=leading.confidence_reason if leading else "nothing that was measured stands out",
        limiters=limiters,
        plan=plan_line([limiter for limiter in limiters if limiter.verdict == "undecided"], target),
        is_time_of_run=bool(counters.run_times()),
    )


def _with_plan(limiter: Limiter, target: str | None) -> Limiter:
    return replace(limiter, plan=plan_line([limiter], target)) if limiter.verdict == "undecided" else limiter


def _with_caveat(limiter: Limiter, caveat: str) -> Limiter:
    """A caveat about the kernel's numbers makes nothing wrong, but nothing certain either."""
    if not caveat or limiter.confidence != "high":
        return limiter
    return replace(limiter, confidence="medium", confidence_reason=caveat)


def _summary(at_limit: list[Limiter], likely: list[Limiter], all_of: tuple[Limiter, ...]) -> str:
    open_limiters = [limiter for limiter in all_of if limiter.verdict == "undecided"]
    tail = f"; {len(open_limiters)} of {len(all_of)} limiters undecided" if open_limiters else ""
    if at_limit:
        # Waiting in general is no cause of a certain wait.
        likely = [limiter for limiter in likely if limiter.name != "latency" or at_limit[0].kind != "latency"]
        is_explained = _is_whole_story(at_limit) or not likely
        perhaps = "" if is_explained else f"; perhaps because of {_listed(likely[:2], ' or ')}"
        return f"{_at_limit(at_limit)}: {at_limit[0].reason}{perhaps}{tail}"
    if likely and (likely[0].confidence != "low" or not any(limiter.name in CORE for limiter in open_limiters)):
        word = "possibly" if likely[0].confidence == "low" else "probably"
        return f"{word} {_listed(likely[:2], ' or ')}: {likely[0].reason}{tail}"
    if open_limiters:
        names = some_of(open_limiters, _NAMED, lambda limiter: limiter.name)
        hint = f"; an indication of {likely[0].name}: {likely[0].reason}" if likely else ""
        return f"not decided: {names}{hint}"
    return "no limit found: everything that was measured has time to spare"


def _at_limit(at_limit: list[Limiter]) -> str:
    units = [limiter for limiter in at_limit if limiter.kind == "throughput"]
    others = [limiter for limiter in at_limit if limiter.kind != "throughput"]
    if not units:
        return f"limited by {_listed(others)}"
    verb = "are at their limit" if len(units) > 1 else "is at its limit"
    return f"{_listed(units)} {verb}" + (f", with {_listed(others)}" if others else "")


def _is_whole_story(at_limit: list[Limiter]) -> bool:
    """True if what is at its limit is a cause; latency is what is left to see of one."""
    return any(limiter.kind != "latency" for limiter in at_limit)


def _listed(limiters: list[Limiter], word: str = " and ") -> str:
    """Names in a sentence; latency in general is left out beside what causes it."""
    names = [limiter.name for limiter in limiters]
    if any(limiter.kind not in ("throughput", "launch") and limiter.name != "latency" for limiter in limiters):
        names = [name for name in names if name != "latency"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])}{word}{names[-1]}"


_METRICS_SHOWN = 12  #: Metrics on a command line; beyond them, whole panels are shorter.


def plan_line(undecided: Sequence[Limiter], target: str | None) -> str:
    """A ready-made command for the metrics that these limiters lack; empty when no counter would help."""
    if not target:
        return ""
    metrics = dict.fromkeys(metric for limiter in undecided for metric in limiter.missing_metrics)
    counters = (name for limiter in undecided for name in limiter.missing_counters)
    metrics |= dict.fromkeys(_that_need(counters, metrics, target))
    if not metrics:
        return ""
    words = [f"--metric {metric}" for metric in metrics]
    if len(metrics) > _METRICS_SHOWN:
        words = [f"--panel {panel}" for panel in dict.fromkeys(metric.split(".")[0] for metric in metrics)]
    return " ".join([f"wavewright counters --plan --target {target}", *words])


@cache
def _needs(target: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Metric -> counters that it needs."""
    return tuple(
        (metric.id, frozenset((*parse(metric.formula).counters, metric.level)))
        for _, metric in metrics_in(panels_of(target))
        if metric.formula
    )


def _that_need(counters: Iterable[str], metrics: Iterable[str], target: str) -> list[str]:
    """For counters that none of these metrics needs: metrics that need them, and as little else as possible."""
    needs_by_metric = _needs(target)
    collected = {"GRBM_GUI_ACTIVE"}.union(*(needs for identity, needs in needs_by_metric if identity in set(metrics)))
    identities = []
    for counter in dict.fromkeys(counters):
        candidates = [metric for metric in needs_by_metric if counter in metric[1]]
        if candidates and counter not in collected:
            identity, needs = min(candidates, key=lambda metric: len(metric[1]))
            identities.append(identity)
            collected |= needs
    return identities
