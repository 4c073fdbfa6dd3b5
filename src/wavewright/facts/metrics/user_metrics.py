"""Metrics of the user: TOML files with [[metrics]], checked as they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from wavewright.base.toml import read_toml
from wavewright.errors import UsageError, WavewrightError
from wavewright.facts.loader import Fact, UserFact, decoded
from wavewright.facts.metrics.expression import Expression, parse
from wavewright.facts.metrics.families import METRIC_TARGETS, family_of
from wavewright.facts.metrics.metric import Metric, MetricTable, Panel
from wavewright.facts.metrics.names import QUANTITIES, expanded, names_of

FIRST_OWN_PANEL = 100  #: Number of the first panel of the user's files; the built-in ones are below.
_ADVICE = "each metric starts with a line [[metrics]]; see docs/how-to for an example"


class _UserEntry(UserFact, frozen=True):
    name: str
    unit: str
    formula: str
    peak: str = ""
    level: str = ""
    panel: str = "Own metrics"
    table: str = ""
    targets: tuple[Annotated[str, Meta(max_length=2_000)], ...] | None = None
    about: str = ""
    source: str = ""


class _MetricsFile(Fact, frozen=True):
    metrics: Annotated[tuple[dict[str, Any], ...], Meta(min_length=1, max_length=2_000)]


def own_panels(target: str, files: Sequence[Path]) -> tuple[Panel, ...]:
    """The user's panels for a target, in the order of the files; metrics for other targets are checked and left out.

    Raises `UsageError` for a file that cannot be read and for every mistake in it: the error names file, metric and
    character.
    """
    family = family_of(target)
    names = family.sets_of(target) if family else (target,)  # with the groups that hold it, such as gfx94x
    panels: dict[str, dict[str, list[Metric]]] = {}
    for file in files:
        for place, entry in _entries(Path(file)):
            if entry.targets is not None and not set(names) & set(entry.targets):
                continue
            metric = _metric(entry, place, target)
            panels.setdefault(entry.panel, {}).setdefault(entry.table or entry.panel, []).append(metric)
    return tuple(_panel(FIRST_OWN_PANEL + rank, title, tables) for rank, (title, tables) in enumerate(panels.items()))


def _panel(number: int, title: str, declared: Mapping[str, Sequence[Metric]]) -> Panel:
    tables = []
    for rank, (name, metrics) in enumerate(declared.items(), 1):
        identity = f"{number}.{rank}"
        numbered_metrics = tuple(replace(metric, id=f"{identity}.{index}") for index, metric in enumerate(metrics))
        layout = "peak" if any(metric.peak for metric in numbered_metrics) else "spread"
        tables.append(MetricTable(identity, name, layout, numbered_metrics))
    word = "own" if number == FIRST_OWN_PANEL else f"own{number - FIRST_OWN_PANEL + 1}"
    return Panel(number, word, title, tuple(tables))


def _entries(file: Path) -> Iterator[tuple[str, _UserEntry]]:
    """(where, declaration) of each metric of a file, sound whatever the target."""
    declared = decoded(read_toml(file, advice=_ADVICE), _MetricsFile, where=str(file), advice=_ADVICE)
    for number, row in enumerate(declared.metrics, 1):
        place = f"{file}, metric {number} ({str(row.get('name'))[:60]!r})"
        entry = decoded(row, _UserEntry, where=place, advice=f"keys: {', '.join(_UserEntry.__struct_fields__)}")
        for key in ("formula", "peak"):
            if getattr(entry, key):
                _parsed(getattr(entry, key), f"{place}, {key}")
        yield place, entry


def _metric(entry: _UserEntry, place: str, target: str) -> Metric:
    return Metric(
        id="",
        formula=_expanded(entry.formula, f"{place}, formula", target),
        peak=_expanded(entry.peak, f"{place}, peak", target),
        written=entry.formula,
        written_peak=entry.peak,
        source=entry.source or place.split(", metric")[0],
        **{key: getattr(entry, key) for key in ("name", "unit", "level", "about")},
    )


def _parsed(formula: str, place: str) -> Expression:
    try:
        return parse(formula)
    except WavewrightError as error:
        raise UsageError(error.what, where=f"{place}, {error.where}", advice=error.advice) from None


def _expanded(written: str, place: str, target: str) -> str | None:
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
