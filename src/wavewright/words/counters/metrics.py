"""Metrics: panels, lists, and the description of each metric per target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wavewright.base.shown import printable
from wavewright.facts.metrics.catalog import CatalogEntry, Variant, counters_of, difference
from wavewright.facts.metrics.families import METRIC_TARGETS, family_of, target_groups
from wavewright.model.blocks import GAP, AnyBlock, Cell, Column, Grid, GridColumn, Sentence, Table, sentence
from wavewright.words.kit.declared_tables import block_columns

_EXPLAINED_MAX = 12  #: Metrics that are explained in full; more are listed.
_COLUMNS = block_columns("counters/metrics/metrics")


def spans(targets: Sequence[str]) -> str:
    """Targets in few words.

    >>> spans(("gfx940", "gfx941", "gfx942")), spans(("gfx908", "gfx950"))
    ('gfx94x', 'gfx908, gfx950')
    >>> spans(("gfx1100", "gfx1101", "gfx1102", "gfx1200"))
    'gfx11, gfx1200'
    """
    remaining = list(targets)
    for group, members in target_groups().items():
        if all(member in remaining for member in members):
            at = remaining.index(members[0])
            remaining = [name for name in remaining if name not in members]
            remaining.insert(at, group)
    return ", ".join(remaining)


def panels_report(entries: Sequence[CatalogEntry]) -> Iterator[AnyBlock]:
    """Blocks of the panels, with the number of metrics on each target; `entries` are all that there are."""
    for family in dict.fromkeys(entry.family for entry in entries):
        yield _panels_table(family, [entry for entry in entries if entry.family == family])
    words = "wavewright metrics --panel l2 lists the metrics of a panel; wavewright metrics 'hit rate' explains them."
    yield Sentence(words, "advice")


def _panels_table(family: str, entries: Sequence[CatalogEntry]) -> Table:
    targets = list(dict.fromkeys(target for entry in entries for target in entry.ids))
    groups: dict[tuple[int, ...], list[str]] = {}
    panels = list(dict.fromkeys((entry.panel_number, entry.panel_word, entry.panel_title) for entry in entries))
    for target in targets:
        numbers = [entry.panel_number for entry in entries if target in entry.ids]
        counts = tuple(numbers.count(panel[0]) for panel in panels)
        groups.setdefault(counts, []).append(target)
    columns = (Column("panel", "number"), Column("word", "short"), Column("about", "rest"))
    counted_targets = tuple(Column(spans(names).replace(", ", "\n"), "number") for names in groups.values())
    rows = tuple(
        (str(number), word, printable(title), *(str(counts[rank] or "") for counts in groups))
        for rank, (number, word, title) in enumerate(panels)
    )
    title = f"{family}: metrics per panel and target" if family else "Own metrics"
    return Table(title, (*columns, *counted_targets), rows)


def list_report(entries: Sequence[CatalogEntry], *, target: str | None) -> Iterator[AnyBlock]:
    """Blocks of the metrics table by table: id, name, unit, and the formula or the targets that have it."""
    for key in dict.fromkeys((entry.family, entry.table_id) for entry in entries):
        of_table = [entry for entry in entries if (entry.family, entry.table_id) == key]
        title = f"{key[1]} {of_table[0].table_title}  (--panel {of_table[0].panel_word})"
        yield _list(title, of_table, target, has_tables=False)


def _list(title: str, entries: Sequence[CatalogEntry], target: str | None, *, has_tables: bool) -> Table:
    rows = []
    for entry in entries:
        newest = entry.variants[-1].metric
        formula = printable(newest.written) or "none: no counters for it"
        targets = _brief([name for form in entry.variants if form.metric.formula for name in form.ids])
        rows.append((newest.id, entry.table_id, printable(entry.name), printable(entry.unit), formula, targets))
    table = Table(printable(title), _COLUMNS, tuple(rows))
    # for one target, metrics have their ids; for several, whose ids may differ, the targets that have them
    return table.with_columns((0, 2, 3, 4) if target is not None else (1, 2, 3, 4, 5) if has_tables else (2, 3, 4, 5))


def _brief(targets: Sequence[str]) -> str:
    """Targets of one family in very few words: all, `from gfx90a`, or their names."""
    family = family_of(targets[0]) if targets else None
    if family is None:
        return spans(targets) or "-"
    family_targets = [name for name in METRIC_TARGETS if family_of(name) is family]
    if set(family_targets) <= set(targets):
        return f"all {family.common['family']}"
    if len(targets) > 1 and list(targets) == family_targets[family_targets.index(targets[0]) :]:
        return f"from {targets[0]}"
    return spans(targets)


def explanation_report(entries: Sequence[CatalogEntry]) -> Iterator[AnyBlock]:
    """Blocks of each metric in full; where they are many, a list of them."""
    if len(entries) > _EXPLAINED_MAX:
        targets = {target for entry in entries for target in entry.ids}
        title = f"{len(entries)} metrics; name one of them, or its id, to have it explained"
        yield _list(title, entries, min(targets) if len(targets) == 1 else None, has_tables=True)
        return
    for rank, entry in enumerate(entries):
        if rank:
            yield GAP
        yield from _explained(entry)


def _explained(entry: CatalogEntry) -> Iterator[AnyBlock]:
    yield sentence((entry.name, "bold"), f"  [{entry.unit}]  ", (_ids(entry), "dim"))
    place = f"{entry.panel_word}: {printable(entry.panel_title)} / {printable(entry.table_title)}"
    yield sentence((place, "dim"))
    if entry.about:
        yield Sentence(entry.about)
    rows = [fact for variant in entry.variants for fact in _facts(variant)]
    yield Grid((*rows, ("source", printable(entry.source))), (GridColumn(), GridColumn(takes_rest=True)), indent=2)


def _ids(entry: CatalogEntry) -> str:
    """`17.1.2`, or `2.1.2 gfx908, gfx90a; 2.1.3 gfx94x` where targets differ."""
    by_id: dict[str, list[str]] = {}
    for target, identity in entry.ids.items():
        by_id.setdefault(identity, []).append(target)
    if len(by_id) == 1:
        return next(iter(by_id))
    return "; ".join(f"{identity} on {spans(targets)}" for identity, targets in by_id.items())


def _facts(variant: Variant) -> Iterator[tuple[str, str]]:
    """(label, text) of what a metric is on some targets."""
    metric = variant.metric
    yield "on", Cell(spans(variant.targets), "bold")
    if metric.formula is None:
        yield "formula", "none: there are no counters for it"
        return
    yield "formula", _formula(metric.written, metric.formula)
    if metric.level:
        yield "level", f"accumulated in a pass of its own, with {metric.level}"
    if metric.peak is not None:
        yield "peak", _formula(metric.written_peak, metric.peak)
    yield "counters", ", ".join(counters_of(metric)) or "none"
    if variant.reference is not None:
        yield "differs", Cell(difference(variant), "yellow")


def _formula(written: str, whole: str) -> Cell:
    return Cell.of(printable(written), *([(f"\n= {printable(whole)}", "dim")] if whole != written else []))
