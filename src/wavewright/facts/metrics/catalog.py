"""The catalog of all metrics per target, for `wavewright metrics` and the reference pages, and as values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wavewright.errors import UsageError
from wavewright.facts.loader import packaged
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.families import METRIC_TARGETS, family_of
from wavewright.facts.metrics.metric import Metric, MetricTable, Panel
from wavewright.facts.metrics.names import QUANTITY_COUNTERS
from wavewright.facts.metrics.panels import panels_of
from wavewright.facts.metrics.user_metrics import FIRST_OWN_PANEL


@dataclass(frozen=True)
class Variant:
    """A metric as it is on some targets."""

    ids: dict[str, str] = field(hash=False)  #: Target -> id there.
    metric: Metric
    reference: Metric | None  #: The same under the reference's rules, where these differ; None = they do not.

    @property
    def targets(self) -> tuple[str, ...]:
        """Targets that have it in this form."""
        return tuple(self.ids)


@dataclass(frozen=True)
class CatalogEntry:
    """One metric of one table, on every target that has it."""

    family: str  #: CDNA, RDNA, or empty for metrics of the user.
    panel_number: int
    panel_word: str
    panel_title: str
    table_id: str
    table_title: str
    name: str
    unit: str
    about: str
    source: str
    variants: tuple[Variant, ...]  #: The form of the newest targets last.

    @property
    def ids(self) -> dict[str, str]:
        """Target -> id, of all targets that list it."""
        return {target: identity for variant in self.variants for target, identity in variant.ids.items()}

    @property
    def counters(self) -> tuple[str, ...]:
        """Counters that any of its forms reads, each once."""
        return tuple(dict.fromkeys(name for variant in self.variants for name in counters_of(variant.metric)))

    @property
    def defects(self) -> tuple[str, ...]:
        """Defects of the reference that it fixes."""
        numbers = (variant.metric.defect.split(", ") for variant in self.variants if variant.metric.defect)
        return tuple(dict.fromkeys(defect for names in numbers for defect in names))


def counters_of(metric: Metric) -> tuple[str, ...]:
    """Counters that must be measured for a metric, in the order of its formula; cycles and levels included."""
    if metric.formula is None:
        return ()
    named = [metric.level] if metric.level else []
    for leaf in parse(metric.formula).leaves:
        named += [leaf.counter] if leaf.counter else QUANTITY_COUNTERS.get(leaf.text, ())
    return tuple(dict.fromkeys(named))


def catalog(targets: Sequence[str] = METRIC_TARGETS, *, more: Sequence[Path] = ()) -> tuple[CatalogEntry, ...]:
    """The metrics of the targets in the order of their tables, then those of the user's files.

    Raises `UsageError` for mistakes in the user's files.
    """
    rows: dict[_Key, _Row] = {}
    tables: dict[tuple[str, str], list[_Key]] = {}
    for target in targets:
        reference_metrics = {key: metric for key, _, _, metric in _metrics(target, (), amd=True)}
        before: _Key | None = None
        for key, panel, table, metric in _metrics(target, more):
            order = tables.setdefault(key[:2], [])
            if key not in rows:
                rows[key] = _Row(panel, table, metric, {})
                order.insert(order.index(before) + 1 if before in order else 0, key)  # where this target has it
            rows[key].by_target[target] = (metric, reference_metrics.get(key))
            before = key
    families = list(dict.fromkeys(family for family, _ in tables))
    ordered = sorted(tables, key=lambda at: (families.index(at[0]), *map(int, at[1].split("."))))
    return tuple(_entry(key[0], rows[key]) for at in ordered for key in tables[at])


def entries_for(entries: Iterable[CatalogEntry], text: str) -> tuple[CatalogEntry, ...]:
    """Entries that a text names: an id, a table, a panel (number or word), a counter, a part of the name, or a named
    part or quantity of formulas.

    The first kind of these that matches anything decides; exact names come first. Names of earlier releases stand for
    the metric that is the same today (`aliases.toml`). Raises `UsageError` for a name of earlier releases whose metric
    is gone.
    """
    entries = tuple(entries)
    asked = text.strip().lower()
    aliases = packaged("aliases.toml", __package__)
    if advice := aliases["gone"].get(asked):
        raise UsageError(f"{text.strip()!r} is no longer a metric", advice=advice)
    if name := aliases["same"].get(asked):
        return tuple(entry for entry in entries if entry.name == name)
    counter = asked.upper().removesuffix("_SUM").replace("TCC_EA_", "TCC_EA0_")
    ways = (
        lambda entry: asked in entry.ids.values(),
        lambda entry: asked == entry.table_id,
        lambda entry: asked in (str(entry.panel_number), entry.panel_word),
        lambda entry: counter in entry.counters,
        lambda entry: asked in entry.name.lower(),
        lambda entry: any(asked in _formula_names(variant.metric) for variant in entry.variants),
        lambda entry: any(counter in name for name in entry.counters),
    )
    for matches in ways if asked else ():
        hits = tuple(entry for entry in entries if matches(entry))
        if hits:
            return tuple(sorted(hits, key=lambda entry: asked != entry.name.lower()))
    return ()


def _formula_names(metric: Metric) -> set[str]:
    """Names in its formula and peak, as declared."""
    return set(re.findall(r"[a-z_][a-z0-9_]*", f"{metric.written} {metric.written_peak}"))


_Key = tuple[str, str, str]  #: Family, table, name.


@dataclass
class _Row:
    """A metric of a table while the targets are gone through."""

    panel: Panel
    table: MetricTable
    metric: Metric  #: On the first target that has it.
    by_target: dict[str, tuple[Metric, Metric | None]]  #: The metric, and that of the reference's rules.


def _metrics(
    target: str, more: Sequence[Path], *, amd: bool = False
) -> Iterator[tuple[_Key, Panel, MetricTable, Metric]]:
    family = family_of(target)
    name = family.common["family"] if family else ""
    for panel in panels_of(target, amd=amd, more=more):
        for table in panel.tables:
            for metric in table.metrics:
                yield (name if panel.number < FIRST_OWN_PANEL else "", table.id, metric.name), panel, table, metric


def _entry(family: str, row: _Row) -> CatalogEntry:
    variants: dict[tuple[object, ...], Variant] = {}
    for target, (metric, reference_metric) in row.by_target.items():
        reference = reference_metric if metric.defect else None  # else the rules do not differ
        form_of_reference = reference and (reference.formula, reference.peak, reference.unit)
        key = (metric.unit, metric.formula, metric.peak, metric.level, form_of_reference)
        variants.setdefault(key, Variant({}, metric, reference)).ids[target] = metric.id
    return CatalogEntry(
        family,
        row.panel.number,
        row.panel.word,
        row.panel.title,
        row.table.id,
        row.table.title,
        row.metric.name,
        next(iter(variants.values())).metric.unit,
        row.metric.about,
        row.metric.source,
        tuple(variants.values()),
    )


_ABOUT = ("panel_word", "panel_title", "table_id", "table_title", "name", "unit", "about", "source")


def difference(variant: Variant) -> str:
    """The definition of ROCm Compute Profiler 3.3, where it differs; else empty."""
    ours, theirs = variant.metric, variant.reference
    if theirs is None:
        return ""
    parts = []
    if theirs.formula != ours.formula:
        parts.append(theirs.written or "no formula")
    if theirs.level != ours.level:
        parts.append(f"level {theirs.level or 'none'}")
    if theirs.peak != ours.peak:
        parts.append(f"peak {theirs.written_peak or 'none'}")
    if theirs.maximum != ours.maximum:
        parts.append(f"its maximum is the {theirs.maximum}")
    if theirs.unit.endswith("/N") != ours.unit.endswith("/N"):
        parts.append(f"in {theirs.unit}")
    return f"ROCm Compute Profiler 3.3 has {'; '.join(parts)} (defect {ours.defect})"


def as_builtins(entry: CatalogEntry) -> dict[str, Any]:
    """A metric as plain values, for JSON."""
    forms = [
        {
            "ids": variant.ids,
            **{name: getattr(variant.metric, name) for name in ("formula", "written", "peak", "level")},
            "counters": list(counters_of(variant.metric)),
            "defect": variant.metric.defect,
            "reference": difference(variant),
            "reference_formula": variant.reference.formula if variant.reference else variant.metric.formula,
            "reference_peak": variant.reference.peak if variant.reference else variant.metric.peak,
        }
        for variant in entry.variants
    ]
    about = {name: getattr(entry, name) for name in _ABOUT}
    return {"family": entry.family, "panel": entry.panel_number, **about, "forms": forms}


def csv_rows(entries: Sequence[CatalogEntry]) -> list[dict[str, Any]]:
    """One row per metric and target."""
    return [
        {"target": target, "metric_id": identity, "panel": entry.panel_word}
        | {name: getattr(entry, name) for name in ("table_title", "name", "unit")}
        | {name: getattr(variant.metric, name) or "" for name in ("formula", "peak", "level")}
        | {"counters": " ".join(counters_of(variant.metric)), "defect": variant.metric.defect}
        | {"reference": difference(variant), "about": entry.about, "source": entry.source}
        for entry in entries
        for variant in entry.variants
        for target, identity in variant.ids.items()
    ]
