"""The panels of a target, from the files of its family, under our rules or those of the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from wavewright.errors import UsageError
from wavewright.facts.metrics.families import Family, families, family_of, for_target
from wavewright.facts.metrics.metric import Metric, MetricTable, Panel
from wavewright.facts.metrics.names import expanded

RULES = ("corrected", "rocprof-compute-3.3")  #: Names of the rules: ours, and with `amd` those of AMD's tool.
#: Keys of declarations that are fields of `Metric` as they are.
_KEYS_OF_METRIC = ("name", "unit", "level", "zero", "maximum", "fabric_prefix", "series", "about", "source")


def panels_of(target: str, *, amd: bool = False, more: Sequence[Path] = ()) -> tuple[Panel, ...]:
    """The panels of a target in order, then those of the user's files `more`; none for a target without declarations.

    Raises `UsageError` for mistakes in the user's files, with file, metric and position.
    """
    panels = _panels(target, RULES[amd])
    if not more:
        return panels
    from wavewright.facts.metrics.user_metrics import own_panels

    return panels + own_panels(target, more)


def formula_of(target: str, name: str, *, amd: bool = False) -> str | None:
    """An auxiliary formula, over counters and quantities only; None when the target has no counters for it.

    Raises `UsageError` when no target has a formula of that name.
    """
    formulas = formulas_of(target, amd=amd)
    if name not in formulas and not any(name in names for family in families() for names in family.named):
        raise UsageError(f"no formula {name[:60]!r}", advice=f"formulas: {', '.join(formulas)}")
    return formulas.get(name)


def formulas_of(target: str, *, amd: bool = False) -> Mapping[str, str]:
    """All auxiliary formulas of a target: name -> formula over counters and quantities only."""
    return _formulas(target, RULES[amd])


@cache
def _formulas(target: str, rules: str) -> dict[str, str]:
    family = family_of(target)
    if family is None:
        return {}
    sets = family.sets_of(target)
    formula_by_name = {name: for_target(entry, sets) for name, entry in family.common["expressions"].items()}
    for name, entry in family.formulas.items():
        if "targets" in entry and not set(sets) & set(entry["targets"]):
            continue
        declared = _overridden(entry, sets)
        if rules != RULES[0]:
            declared |= declared.get("reference", {})
        formula_by_name[name] = declared.get("formula")
    formulas = {name: expanded(formula, target) for name, formula in formula_by_name.items() if formula}
    return {name: formula for name, formula in formulas.items() if "rate_" not in formula}


@cache
def _panels(target: str, rules: str) -> tuple[Panel, ...]:
    family = family_of(target)
    if family is None:
        return ()
    sets = family.sets_of(target)
    panels = []
    for declared in family.panels:
        tables = [_table(family, target, sets, rules, table) for table in declared["tables"]]
        with_metrics = tuple(table for table in tables if table.metrics)
        if with_metrics:
            panels.append(Panel(declared["number"], declared["word"], declared["title"], with_metrics))
    return tuple(panels)


def _table(family: Family, target: str, sets: tuple[str, ...], rules: str, declared: Mapping[str, Any]) -> MetricTable:
    per_channel = declared.get("per_channel", False)
    units = family.common.get("reference_units", {}) | declared.get("reference_units", {})
    metrics: list[Metric] = []
    for entry in declared.get("metrics", ()):
        if "targets" in entry and not set(sets) & set(entry["targets"]):
            continue
        metric = _overridden(entry, sets)
        metric.setdefault("source", family.common["source"])
        if rules != RULES[0]:
            prefix = for_target(family.common.get("fabric_prefix", {}), sets)
            metric = _as_reference(metric, units, prefix or "")
        metrics.append(_metric(f"{declared['id']}.{len(metrics)}", metric, target))
    header = declared.get("reference_unit_header", "Unit")
    return MetricTable(declared["id"], declared["title"], declared["layout"], tuple(metrics), per_channel, header)


def _overridden(entry: Mapping[str, Any], sets: tuple[str, ...]) -> dict[str, Any]:
    """A declaration with the overrides of the target's groups and of the target put over it."""
    merged = dict(entry)
    for name in sets:
        merged |= entry.get(name, {})
    return merged


def _as_reference(declared: dict[str, Any], units: Mapping[str, str], prefix: str) -> dict[str, Any]:
    theirs = dict(declared.get("reference", {}))
    declared = declared | {"unit": units.get(declared["unit"], declared["unit"])} | theirs
    declared["zero"] = declared.get("guard") or "infinity"
    if "TCC_EA0_" in declared.get("formula", "") or "fabric_" in declared.get("formula", ""):
        declared.setdefault("fabric_prefix", prefix)
    return declared


def _metric(identity: str, declared: Mapping[str, Any], target: str) -> Metric:
    formula, peak = declared.get("formula", ""), declared.get("peak", "")
    whole_peak = expanded(peak, target)
    return Metric(
        id=identity,
        formula=expanded(formula, target) or None,
        peak=None if "rate_" in whole_peak else whole_peak or None,
        written=formula,
        written_peak=peak,
        labels=tuple(declared.get("labels", {}).items()),
        defect=declared.get("reference", {}).get("defect", ""),
        **{key: declared[key] for key in _KEYS_OF_METRIC if key in declared},
    )
