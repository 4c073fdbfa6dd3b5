"""The command that plans the passes which would decide what is undecided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from wavewright.analysis.counters.limiters.evidence import Limiter
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.panels import panels_of

_SHOWN = 12  #: Metrics on a command line; beyond them, whole panels are shorter.


def plan_line(undecided: Sequence[Limiter], target: str | None) -> str:
    """A ready-made command for the metrics that these limiters lack; empty when no counter would help."""
    if not target:
        return ""
    metrics = dict.fromkeys(metric for limiter in undecided for metric in limiter.missing_metrics)
    metrics |= dict.fromkeys(
        _that_need((name for limiter in undecided for name in limiter.missing_counters), metrics, target)
    )
    if not metrics:
        return ""
    words = [f"--metric {metric}" for metric in metrics]
    if len(metrics) > _SHOWN:
        words = [f"--panel {panel}" for panel in dict.fromkeys(metric.split(".")[0] for metric in metrics)]
    return " ".join([f"wavewright counters --plan --target {target}", *words])


@cache
def _needs(target: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Metric -> counters that it needs."""
    return tuple(
        (metric.id, frozenset((*parse(metric.formula).counters, metric.level)))
        for panel in panels_of(target)
        for table in panel.tables
        for metric in table.metrics
        if metric.formula
    )


def _that_need(counters: Iterable[str], metrics: Iterable[str], target: str) -> list[str]:
    """For counters that none of these metrics needs: metrics that need them, and as little else as possible."""
    needs_by_metric = _needs(target)
    done = {"GRBM_GUI_ACTIVE"}.union(*(needs for identity, needs in needs_by_metric if identity in set(metrics)))
    selected = []
    for counter in dict.fromkeys(counters):
        candidates = (
            []
            if counter in done
            else [(len(needs), order) for order, (_, needs) in enumerate(needs_by_metric) if counter in needs]
        )
        if candidates:
            identity, needs = needs_by_metric[min(candidates)[1]]
            selected.append(identity)
            done |= needs
    return selected
