"""`wavewright metrics`: which metrics are there, and how is each computed?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wavewright.base.shown import quoted
from wavewright.cli.kit.form import refuse_with_brief
from wavewright.cli.kit.io import console, emit_json, json_option
from wavewright.cli.kit.options import read_declaration
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.facts.metrics.catalog import CatalogEntry


def _names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Completions of NAME: panels, tables and names of metrics."""
    from wavewright.facts.metrics.catalog import catalog

    asked = incomplete.lower()
    words = dict.fromkeys(word for entry in catalog() for word in (entry.panel_word, entry.table_id, entry.name))
    return [word for word in words if word.lower().startswith(asked)]


def _targets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from wavewright.facts.metrics.families import METRIC_TARGETS

    return [target for target in METRIC_TARGETS if target.startswith(incomplete)]


def _panels(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from wavewright.facts.metrics.catalog import catalog

    words = dict.fromkeys(entry.panel_word for entry in catalog())
    return [word for word in words if word.startswith(incomplete)]


@click.command(help=read_declaration("cli", "options", "metrics")["help"])
@click.argument("name", required=False, shell_complete=_names)
@click.option(
    "--target", metavar="GPU", shell_complete=_targets, help="Only what this GPU has: gfx942 or MI300X. Default: all."
)
@click.option(
    "--panel",
    "panels",
    multiple=True,
    metavar="PANEL",
    shell_complete=_panels,
    help="Only this panel: l2 or 17; may be repeated.",
)
@click.option(
    "--more",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A TOML file with metrics of your own; may be repeated.",
)
@click.option(
    "--csv",
    "as_csv",
    is_flag=True,
    callback=refuse_with_brief,
    help="Print one row per metric and target as CSV instead of text.",
)
@json_option
def command(
    name: str | None, target: str | None, panels: tuple[str, ...], more: tuple[Path, ...], as_csv: bool, as_json: bool
) -> None:
    """List or explain metrics."""
    entries = _chosen(name, target, panels, more)
    if as_json:
        from wavewright.facts.metrics.catalog_rows import as_builtins

        emit_json({"metrics": [as_builtins(entry) for entry in entries]})
    elif as_csv:
        import polars as pl

        from wavewright.base.csv import write_csv
        from wavewright.facts.metrics.catalog_rows import csv_rows

        click.echo(write_csv(pl.DataFrame(csv_rows(entries), infer_schema_length=None)), nl=False)
    else:
        from wavewright.report.counters.metrics import explanation_report, list_report, panels_report

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
    from wavewright.facts.metrics.catalog import catalog, found
    from wavewright.facts.metrics.families import METRIC_TARGETS

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
    hits = found(entries, name)
    if not hits:
        from difflib import get_close_matches

        near = get_close_matches(name, [entry.name for entry in entries], n=3, cutoff=0.6)
        advice = f"did you mean {', '.join(dict.fromkeys(near))}?" if near else "`wavewright metrics` lists the panels"
        if os.path.exists(name):  # noqa: PTH110  # Path.exists raises for some names
            advice = f"`wavewright counters {quoted(name)}` evaluates them for a capture"
        raise UsageError(f"no metric, table, panel or counter is called {name[:60]!r}", advice=advice)
    return hits


def _target_of(target: str | None) -> str | None:
    """The target that was asked for by its name or by a product's; None = none was.

    Raises
    ------
    UsageError
        When no metrics are declared for it.
    """
    from wavewright.facts import gpus
    from wavewright.facts.metrics.families import METRIC_TARGETS

    if target is None:
        return None
    asked = gpus.of(target).target
    if asked not in METRIC_TARGETS:
        raise UsageError(f"no metrics are declared for {asked}", advice=f"targets: {', '.join(METRIC_TARGETS)}")
    return asked
