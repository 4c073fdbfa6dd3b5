"""`wavewright merge`: many runs in one ROCpd database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.options import declared_options
from wavewright.cli.kit.run import file_progress
from wavewright.cli.kit.writing import inputs_of, refuse_inputs, show_written

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@declared_options("merge")
def command(paths: tuple[str, ...], output: Path, force: bool, show_secrets: bool, as_json: bool) -> None:
    """Write one database of many runs."""
    from wavewright.export.run.rocpd.merging import merge_runs

    inputs = inputs_of(paths)
    refuse_inputs([output], inputs)
    with file_progress(inputs) as done:
        written = merge_runs(inputs, output, show_secrets=show_secrets, force=force, done=done)
    show_written(paths, [written], [], as_json=as_json)
