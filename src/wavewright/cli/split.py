"""`wavewright split`: one ROCpd database per part of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.io import progress
from wavewright.cli.kit.writing import inputs_of, opened, refuse_inputs, show_written, writing_options
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option(
    "--by",
    type=click.Choice(("process", "rank", "gpu", "marker")),
    default="process",
    show_default=True,
    help="What a part is.",
)
@click.option("--marker", metavar="TEXT", help="With --by marker: one part per range whose text contains TEXT.")
@writing_options("DIR")
def command(
    paths: tuple[str, ...],
    by: Any,
    marker: str | None,
    output: Path,
    force: bool,
    show_secrets: bool,
    as_json: bool,
) -> None:
    """Write one ROCpd database per process, rank, GPU, or range of a marker.

    With --by marker, part n holds what every process did during its n-th range of that marker; /TEXT/ is a regular
    expression. With --by gpu, calls on CPUs are in every part.

    \b
    wavewright split merged.db -o ranks/ --by rank
    wavewright split results.db -o steps/ --by marker --marker "step"
    """
    from wavewright.analysis.run.select.choice import RunSelection
    from wavewright.analysis.run.select.run_parts import parts_of
    from wavewright.export.run.rocpd.split import write_parts

    if (marker is not None) != (by == "marker"):
        raise UsageError("--marker and --by marker belong together", advice='--by marker --marker "step"')
    inputs = inputs_of(paths)
    run = opened(inputs, RunSelection(), show_secrets=show_secrets)
    parts = {output / f"{part.name}_results.db": part.run for part in parts_of(run, by, marker)}
    refuse_inputs(list(parts), inputs)
    with progress(f"writing {len(parts):,} parts"):
        written = write_parts(parts, force=force)
    show_written(paths, written, [(source.path, source.losses) for source in run.origins], as_json=as_json)
