"""`wavewright split`: one ROCpd database per part of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.io import progress
from wavewright.cli.kit.options import declared_options
from wavewright.cli.kit.writing import inputs_of, opened, refuse_inputs, show_written
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@declared_options("split")
def command(
    paths: tuple[str, ...],
    by: Any,
    marker: str | None,
    output: Path,
    force: bool,
    show_secrets: bool,
    as_json: bool,
) -> None:
    """Write the parts of a run."""
    from wavewright.analysis.run.select.choice import RunSelection
    from wavewright.analysis.run.select.splitting import parts_of
    from wavewright.export.run.rocpd.splitting import write_parts

    if (marker is not None) != (by == "marker"):
        raise UsageError("--marker and --by marker belong together", advice='--by marker --marker "step"')
    inputs = inputs_of(paths)
    run = opened(inputs, RunSelection(), show_secrets=show_secrets)
    parts = {output / f"{part.name}_results.db": part.run for part in parts_of(run, by, marker)}
    refuse_inputs(list(parts), inputs)
    with progress(f"writing {len(parts):,} parts"):
        written = write_parts(parts, force=force)
    show_written(paths, written, [(source.path, source.losses) for source in run.origins], as_json=as_json)
