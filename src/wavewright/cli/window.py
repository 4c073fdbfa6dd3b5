"""`wavewright window`: a smaller run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.run import selection_options
from wavewright.cli.kit.writing import format_option, write_chosen, writing_options
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.analysis.run.select.choice import RunSelection


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@format_option("What to write; `wavewright convert --help` tells what they are.", default="rocpd")
@writing_options("OUT")
@selection_options
def command(paths: tuple[str, ...], file_format: str, output: Path, selection: RunSelection, **options: bool) -> None:
    """Write a part of runs: a time window, some ranks, GPUs, kernels or domains.

    Percent and times with units are of the run as each file recorded it on each node. Events that the window cuts are
    kept whole; --inside leaves them out. Counters follow their dispatch, arguments their call.

    \b
    wavewright window results.db --time 30%:60% -o part.db
    wavewright window ranks/ --between "step 10" "step 12" --rank 0 -o steps.db
    wavewright window results.db --kernel gemm --domain HIP -o gemm.db
    """
    from wavewright.analysis.run.select.choice import RunSelection

    if selection in (RunSelection(), RunSelection(is_inside=True)):
        what = "nothing says which part to write"
        raise UsageError(what, advice="give --time, --between, --rank, --gpu, --kernel, ...; or use `wavewright merge`")
    write_chosen(paths, file_format, output, selection, **options)
