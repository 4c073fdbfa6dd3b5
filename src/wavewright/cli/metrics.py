"""`wavewright metrics`: which metrics are there, and how is each computed?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import click

from wavewright.base.shown import quoted
from wavewright.cli.kit.io import console, emit_json
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.facts.metrics.catalog import CatalogEntry, as_builtins, catalog, csv_rows, entries_for
from wavewright.facts.metrics.families import METRIC_TARGETS


def command(
    name: str | None, target: str | None, panels: tuple[str, ...], more: tuple[Path, ...], as_csv: bool, as_json: bool
) -> None:
    """List or explain metrics."""
    entries = _chosen(name, target, panels, more)
    if as_json:
        emit_json({"metrics": [as_builtins(entry) for entry in entries]})
    elif as_csv:
        import polars as pl

        from wavewright.base.csv import write_csv

        click.echo(write_csv(pl.DataFrame(csv_rows(entries), infer_schema_length=None)), nl=False)
    else:
        from wavewright.words.counters.metrics import explanation_report, list_report, panels_report

        out = console()
        if name is not None:
            parts = explanation_report(entries)
        elif target is None and not panels and not more:
            parts = panels_report(entries)
        else:
            parts = list_report(entries, target=_target_of(target))
        for part in parts:
            out.print(part)


def _chosen(
    name: str | None, target: str | None, panels: tuple[str, ...], more: tuple[Path, ...]
) -> Sequence[CatalogEntry]:
    asked = _target_of(target)
    entries = catalog(METRIC_TARGETS if asked is None else (asked,), more=more)
    if panels:
        words = {word for entry in entries for word in (str(entry.panel_number), entry.panel_word)}
        unknown = [panel for panel in panels if panel.lower() not in words]
        if unknown:
            panel_names = dict.fromkeys(f"{entry.panel_word} ({entry.panel_number})" for entry in entries)
            raise UsageError(f"no panel {unknown[0][:60]!r}", advice=f"panels: {', '.join(panel_names)}")
        wanted = {panel.lower() for panel in panels}
        entries = tuple(entry for entry in entries if wanted & {str(entry.panel_number), entry.panel_word})
    if name is None:
        return entries
    hits = entries_for(entries, name)
    if not hits:
        near = get_close_matches(name, [entry.name for entry in entries], n=3, cutoff=0.6)
        advice = f"did you mean {', '.join(dict.fromkeys(near))}?" if near else "`wavewright metrics` lists the panels"
        if os.path.exists(name):  # noqa: PTH110  # Path.exists raises for some names
            advice = f"`wavewright counters {quoted(name)}` evaluates them for a capture"
        raise UsageError(f"no metric, table, panel or counter is called {name[:60]!r}", advice=advice)
    return hits


def _target_of(target: str | None) -> str | None:
    """The target of a name or a product's name. Raises `UsageError` when no metrics are declared for it."""
    if target is None:
        return None
    asked = gpus.of(target).target
    if asked not in METRIC_TARGETS:
        raise UsageError(f"no metrics are declared for {asked}", advice=f"targets: {', '.join(METRIC_TARGETS)}")
    return asked
