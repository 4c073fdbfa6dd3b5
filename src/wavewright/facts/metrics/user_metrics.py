"""Metrics of the user: TOML files with [[metrics]], checked as they are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.base.toml import read_toml
from wavewright.errors import UsageError, WavewrightError
from wavewright.facts.metrics.declared import Metric, MetricTable, Panel
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.families import METRIC_TARGETS, family_of
from wavewright.facts.metrics.names import QUANTITIES, expanded, names_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wavewright.facts.metrics.expression import Expression

FIRST_OWN_PANEL = 100  #: Number of the first panel of the user's files; the built-in ones are below.
_METRICS_MAX = 2_000
_TEXT_MAX = 2_000
_KEYS = ("name", "unit", "formula", "peak", "level", "panel", "table", "targets", "about", "source")


def own_panels(target: str, files: Sequence[Path]) -> tuple[Panel, ...]:
    """The user's panels for a target, in the order of the files; metrics for other targets are checked and left out.

    Raises
    ------
    UsageError
        For a file that cannot be read and for every mistake in it: the error names file, metric and character.
    """
    panels: dict[str, dict[str, list[Metric]]] = {}
    for file in files:
        for place, entry in _entries(Path(file)):
            _check(entry, place)
            if "targets" in entry and not _sets_of(target) & set(entry["targets"]):
                continue
            metric = _metric(entry, place, target)
            tables = panels.setdefault(entry.get("panel", "Own metrics"), {})
            tables.setdefault(entry.get("table", entry.get("panel", "Own metrics")), []).append(metric)
    return tuple(_panel(FIRST_OWN_PANEL + rank, title, tables) for rank, (title, tables) in enumerate(panels.items()))


def _panel(number: int, title: str, declared: Mapping[str, Sequence[Metric]]) -> Panel:
    from dataclasses import replace

    tables = []
    for rank, (name, metrics) in enumerate(declared.items(), 1):
        identity = f"{number}.{rank}"
        numbered_metrics = tuple(replace(metric, id=f"{identity}.{index}") for index, metric in enumerate(metrics))
        layout = "peak" if any(metric.peak for metric in numbered_metrics) else "spread"
        tables.append(MetricTable(identity, name, layout, numbered_metrics))
    return Panel(
        number, "own" if number == FIRST_OWN_PANEL else f"own{number - FIRST_OWN_PANEL + 1}", title, tuple(tables)
    )


def _sets_of(target: str) -> set[str]:
    """The target and the groups that hold it, such as gfx94x."""
    family = family_of(target)
    return set(family.sets_of(target)) if family else {target}


def _entries(file: Path) -> list[tuple[str, dict[str, Any]]]:
    """(where, declaration) of each metric of a file."""
    declared = read_toml(file, advice="each metric starts with a line [[metrics]]; see docs/how-to for an example")
    metrics = declared.get("metrics")
    unknown = [name for name in declared if name != "metrics"]
    if unknown or not isinstance(metrics, list) or not all(isinstance(entry, dict) for entry in metrics):
        what = f"unknown entry {unknown[0][:60]!r}" if unknown else "holds no [[metrics]]"
        raise UsageError(what, where=str(file), advice="each metric starts with a line [[metrics]]")
    if len(metrics) > _METRICS_MAX:
        raise UsageError(f"{len(metrics):,} metrics are too many", where=str(file), advice=f"at most {_METRICS_MAX:,}")
    return [
        (f"{file}, metric {number} ({str(entry.get('name'))[:60]!r})", entry) for number, entry in enumerate(metrics, 1)
    ]


def _check(entry: Mapping[str, Any], place: str) -> None:
    """That the declaration is sound, whatever the target."""
    unknown = [key for key in entry if key not in _KEYS]
    if unknown:
        raise UsageError(f"unknown key {unknown[0][:60]!r}", where=place, advice=f"keys: {', '.join(_KEYS)}")
    for key in ("name", "unit", "formula"):
        if key not in entry:
            raise UsageError(f"has no {key}", where=place)
    for key, value in entry.items():
        _check_text(key, value, place)
    for key in ("formula", "peak"):
        if entry.get(key):
            _parsed(entry[key], f"{place}, {key}")


def _metric(entry: Mapping[str, Any], place: str, target: str) -> Metric:
    formula, peak = (_whole(entry.get(key, ""), f"{place}, {key}", target) for key in ("formula", "peak"))
    return Metric(
        id="",
        name=entry["name"],
        unit=entry["unit"],
        formula=formula,
        peak=peak,
        written=entry["formula"],
        written_peak=entry.get("peak", ""),
        level=entry.get("level", ""),
        about=entry.get("about", ""),
        source=entry.get("source", place.split(", metric")[0]),
    )


def _check_text(key: str, value: object, place: str) -> None:
    if key == "targets":
        if isinstance(value, list) and all(isinstance(item, str) and len(item) <= _TEXT_MAX for item in value):
            return
        raise UsageError("targets is not a list of names such as gfx942", where=place)
    if not isinstance(value, str):
        raise UsageError(f"{key} is not a text in quotes", where=place)
    if len(value) > _TEXT_MAX or any(not character.isprintable() for character in value):
        what = f"{key} is longer than {_TEXT_MAX:,} characters, or holds some that cannot be printed"
        raise UsageError(what, where=place)
    if key in ("name", "unit", "formula") and not value.strip():
        raise UsageError(f"{key} is empty", where=place)


def _parsed(formula: str, place: str) -> Expression:
    try:
        return parse(formula)
    except WavewrightError as error:
        raise UsageError(error.what, where=f"{place}, {error.where}", advice=error.advice) from None


def _whole(written: str, place: str, target: str) -> str | None:
    """A formula with our names put in; None = the target lacks some of them, which others have."""
    if not written:
        return None
    expression = _parsed(expanded(written, target), place)
    lacking = [name for name in expression.quantities if name not in QUANTITIES]
    unknown = [name for name in lacking if not any(name in names_of(other) for other in METRIC_TARGETS)]
    if lacking and not unknown:
        return None
    if unknown:
        names = ", ".join([*QUANTITIES, *names_of(target)])
        raise UsageError(f"no quantity {unknown[0][:60]!r} on {target}", where=place, advice=f"quantities: {names}")
    return expression.text
