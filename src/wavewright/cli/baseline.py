"""`wavewright baseline`: write down what captures measured, so that a gate can judge later ones by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.base.words import amount, counted
from wavewright.cli.kit.io import emit_json
from wavewright.cli.kit.measuring import measured_with_progress
from wavewright.cli.kit.options import declared_options

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@declared_options("baseline")
def command(
    paths: tuple[str, ...],
    output: Path,
    step: str | None,
    kernel: str | None,
    metrics: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Write a baseline."""
    from wavewright.cluster.measuring import kind_of_paths
    from wavewright.export.gate.baseline import write_baseline

    kind = kind_of_paths(paths, asks_for_counters=bool(metrics))
    baseline = measured_with_progress(paths, kind, step=step, kernel=kernel, metrics=metrics)
    write_baseline(baseline, output, force=force)
    size = output.stat().st_size
    counts = [len(capture.quantities) for capture in baseline.captures]
    damages = [f"{capture.label}: {damage}" for capture in baseline.captures for damage in capture.damages]
    if as_json:
        facts = {"output": str(output), "kind": kind, "capture_count": len(counts), "quantity_count": sum(counts)}
        emit_json({**facts, "byte_count": size, "targets": list(baseline.targets)}, inputs=paths, losses=damages)
        return
    from wavewright.report.kit.tables import printable

    gpus = ", ".join(baseline.targets) or "GPU not recorded"
    what = f"{counted(len(counts), 'captures')}, {counted(sum(counts), 'quantities')}, {gpus}, {amount(size)}"
    click.echo(printable(f"{output}: {what}"))
    for damage in damages:
        click.echo(printable(f"damaged, so that a gate cannot tell: {damage}"), err=True)
