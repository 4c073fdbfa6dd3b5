"""`wavewright window`: a smaller run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.options import declared_options
from wavewright.cli.kit.run import selection_options
from wavewright.cli.kit.writing import write_chosen
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.analysis.run.select.choice import RunSelection


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@declared_options("window")
@selection_options
def command(paths: tuple[str, ...], file_format: str, output: Path, selection: RunSelection, **options: bool) -> None:
    """Write a part of runs."""
    from wavewright.analysis.run.select.choice import RunSelection

    if selection in (RunSelection(), RunSelection(is_inside=True)):
        what = "nothing says which part to write"
        raise UsageError(what, advice="give --time, --between, --rank, --gpu, --kernel, ...; or use `wavewright merge`")
    write_chosen(paths, file_format, output, selection, **options)
