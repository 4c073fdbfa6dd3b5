"""`wavewright merge`: many runs in one ROCpd database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.run import file_progress
from wavewright.cli.kit.writing import inputs_of, refuse_inputs, show_written, writing_options

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@writing_options("FILE")
def command(paths: tuple[str, ...], output: Path, force: bool, show_secrets: bool, as_json: bool) -> None:
    """Put any number of runs into one ROCpd database.

    Tables of ROCpd files are copied as they are; other formats are converted. A run that is in several files is taken
    once. The views of AMD's tools are in the file.

    \b
    wavewright merge rank*/results.db -o all.db
    wavewright merge trace.rpd results.db -o all.db
    """
    from wavewright.export.run.rocpd.merge import merge_runs

    inputs = inputs_of(paths)
    refuse_inputs([output], inputs)
    with file_progress(inputs) as done:
        written = merge_runs(inputs, output, show_secrets=show_secrets, force=force, done=done)
    show_written(paths, [written], [], as_json=as_json)
