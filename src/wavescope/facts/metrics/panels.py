"""The panels of a target, from the files of its family, under our rules or those of the reference."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from wavescope.errors import UsageError
from wavescope.facts.metrics.declared import Metric, MetricTable, Panel
from wavescope.facts.metrics.families import families, family_of, for_target
from wavescope.facts.metrics.names import expanded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from wavescope.facts.metrics.families import Family

RULES = ("corrected", "rocprof-compute-3.3")  #: Names of the rules: ours, and with `amd` those of AMD's tool.


def panels_of(target: str, *, amd: bool = False, more: Sequence[Path] = ()) -> tuple[Panel, ...]:
    """The panels of a target in order, then those of the user's files `more`; none for a target without declarations.

    Raises
    ------
    UsageError
        For mistakes in the user's files, with file, metric and position.

    Examples
    --------
    >>> [panel.word for panel in panels_of("gfx942")][:3]
    ['sol', 'memory', 'cp']
    >>> panels_of("gfx90a")[0].tables[0].metrics[0].unit
    'GFLOP/s'
    """
    panels = _panels(target, RULES[amd])
    if not more:
        return panels
    from wavescope.facts.metrics.user_metrics import own_panels

    return panels + own_panels(target, more)


def formula_of(target: str, name: str, *, amd: bool = False) -> str | None:
    """An auxiliary formula, over counters and quantities only; None when the target has no counters for it.

    Raises
    ------
    UsageError
        When no target has a formula of that name.

    Examples
    --------
    >>> formula_of("gfx90a", "fabric_write_bytes")
    '32 * (TCC_EA0_WRREQ + TCC_EA0_WRREQ_64B)'
    """
    formulas = formulas_of(target, amd=amd)
    if name not in formulas and not any(name in known for family in families() for known in family.named):
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
    told = {name: for_target(entry, sets) for name, entry in family.common["expressions"].items()}
    for name, entry in family.formulas.items():
        if "targets" in entry and not set(sets) & set(entry["targets"]):
            continue
        said = _overridden(entry, sets)
        told[name] = (said | said.get("reference", {}) if rules != RULES[0] else said).get("formula")
    whole = {name: expanded(formula, target) for name, formula in told.items() if formula}
    return {name: formula for name, formula in whole.items() if "rate_" not in formula}


@cache
def _panels(target: str, rules: str) -> tuple[Panel, ...]:
    family = family_of(target)
    if family is None:
        return ()
    sets = family.sets_of(target)
    found = []
    for declared in family.panels:
        tables = [_table(family, target, sets, rules, table) for table in declared["tables"]]
        told = tuple(table for table in tables if table.metrics)
        if told:
            found.append(Panel(declared["number"], declared["word"], declared["title"], told))
    return tuple(found)


def _table(family: Family, target: str, sets: tuple[str, ...], rules: str, declared: Mapping[str, Any]) -> MetricTable:
    per_channel = declared.get("per_channel", False)
    units = family.common.get("reference_units", {}) | declared.get("reference_units", {})
    metrics: list[Metric] = []
    for entry in declared.get("metrics", ()):
        if "targets" in entry and not set(sets) & set(entry["targets"]):
            continue
        said = _overridden(entry, sets)
        said.setdefault("source", family.common["source"])
        if rules != RULES[0]:
            prefix = for_target(family.common.get("fabric_prefix", {}), sets)
            said = _as_reference(said, units, prefix or "")
        metrics.append(_metric(f"{declared['id']}.{len(metrics)}", said, target))
    header = declared.get("reference_unit_header", "Unit")
    return MetricTable(declared["id"], declared["title"], declared["layout"], tuple(metrics), per_channel, header)


def _overridden(entry: Mapping[str, Any], sets: tuple[str, ...]) -> dict[str, Any]:
    """A declaration with the overrides of the target's groups and of the target put over it."""
    said = dict(entry)
    for name in sets:
        said |= entry.get(name, {})
    return said


def _as_reference(said: dict[str, Any], units: Mapping[str, str], prefix: str) -> dict[str, Any]:
    theirs = dict(said.get("reference", {}))
    said = said | {"unit": units.get(said["unit"], said["unit"])} | theirs
    said["zero"] = said.get("guard") or "infinity"
    if "TCC_EA0_" in said.get("formula", "") or "fabric_" in said.get("formula", ""):
        said.setdefault("fabric_prefix", prefix)
    return said


def _metric(identity: str, said: Mapping[str, Any], target: str) -> Metric:
    formula, peak = said.get("formula", ""), said.get("peak", "")
    whole_peak = expanded(peak, target)
    return Metric(
        id=identity,
        name=said["name"],
        unit=said["unit"],
        formula=expanded(formula, target) or None,
        peak=None if "rate_" in whole_peak else whole_peak or None,
        written=formula,
        written_peak=peak,
        level=said.get("level", ""),
        zero=said.get("zero", "blank"),
        maximum=said.get("maximum", "maximum"),
        fabric_prefix=said.get("fabric_prefix", ""),
        labels=tuple(said.get("labels", {}).items()),
        series=said.get("series", ""),
        about=said.get("about", ""),
        source=said.get("source", ""),
        defect=said.get("reference", {}).get("defect", ""),
    )
