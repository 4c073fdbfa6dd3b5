"""Metrics as plain values, for JSON and CSV, and how they differ from those of ROCm Compute Profiler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wavewright.facts.metrics.catalog import CatalogEntry, Variant, counters_of

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
        {
            "target": target,
            "metric_id": identity,
            "panel": entry.panel_word,
            "table_title": entry.table_title,
            "name": entry.name,
            "unit": entry.unit,
            "formula": variant.metric.formula or "",
            "peak": variant.metric.peak or "",
            "level": variant.metric.level,
            "counters": " ".join(counters_of(variant.metric)),
            "defect": variant.metric.defect,
            "reference": difference(variant),
            "about": entry.about,
            "source": entry.source,
        }
        for entry in entries
        for variant in entry.variants
        for target, identity in variant.ids.items()
    ]
