"""`wavewright kernels`: its options."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.io import console
from wavewright.cli.kit.run import run_options
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest

_HANDLE = re.compile(r"k\d{1,9}")


@click.command()
@click.argument("name")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@partial(run_options, is_whole=True)
def command(request: RunRequest, name: str) -> None:
    """NAME is part of the name of a kernel, a /regular expression/, or a handle (k0 = the one with most time); '' means
    every kernel. PATHS are runs or folders of them. Dispatches that a time window cuts count as a whole: part of a call
    has no duration. --csv prints one row per kernel; --json has shapes, histograms, curves and the longest dispatches.

    \b
    wavewright kernels Cijk results.db
    wavewright kernels '/^ncclDev/' ranks/ --rank 3
    """
    from wavewright.analysis.run.kernels import combine_kernels
    from wavewright.analysis.run.kernels.partial import partial_kernels

    gathered = request.gather(partial(partial_kernels, name=_named(request, name)))
    answer = combine_kernels(gathered.values)

    def report() -> Parts:
        from wavewright.words.run.kernels import kernels_report

        return kernels_report(answer, name, width=console().width, limit=request.limit)

    request.give(answer, answer.kernels, report, gathered.losses, inputs=gathered.paths, name=name)


def _named(request: RunRequest, name: str) -> str:
    """What chooses kernels: as given, or the one kernel that a handle such as k0 names, by rank of time."""
    if not _HANDLE.fullmatch(name):
        return name
    from wavewright.analysis.run.kernels import combine_kernels
    from wavewright.analysis.run.kernels.partial import partial_kernels

    names = combine_kernels(request.gather(partial(partial_kernels, name="")).values).kernels["name"].to_list()
    rank = int(name[1:])
    if rank >= len(names):
        advice = f"k0 to k{len(names) - 1}; /{name}/ chooses by name" if names else "the run has none"
        raise UsageError(f"there is no kernel {name}", advice=advice)
    return f"/^{re.escape(names[rank])}$/"
