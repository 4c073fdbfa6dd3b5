"""`wavescope regions`: which regions take the time of the threads?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from wavescope.base.bounds import BINS, SHARE
from wavescope.cli.kit.io import console
from wavescope.cli.kit.numbers import Real, Whole
from wavescope.cli.kit.run import run_verb

if TYPE_CHECKING:
    from wavescope.cli.kit.request import Parts
    from wavescope.cli.kit.run import RunRequest


@run_verb
@click.option("--depth", type=Whole(BINS), help="Levels of the tree to show; default: all.")
@click.option(
    "--min-share",
    type=Real(SHARE),
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="Leave out nodes below this share of the time, and of the GPU time.",
)
def command(request: RunRequest, depth: int | None, min_share: float) -> None:
    """Which regions take the time of the threads, with and without what they enclose, and what GPU work do they cause?

    Regions (calls, markers, operators) are nested by time and added up by path over threads, processes and ranks. With
    --domain only regions of that domain are nodes; GPU work launched inside them is theirs. --csv prints the whole
    tree, one row per path; --json too.

    \b
    wavescope regions results.db --domain MARKER
    wavescope regions ranks/ --depth 3 --min-share 5
    """
    from wavescope.analysis.run.regions import combine_regions, partial_regions

    domains = request.selection.domains
    request = replace(
        request, selection=replace(request.selection, domains=())
    )  # other calls still tell what they launched
    gathered = request.gather(partial(partial_regions, domains=domains))
    answer = combine_regions(gathered.values)

    def report() -> Parts:
        from wavescope.report.run.regions import regions_report

        return regions_report(
            answer, width=console().width, limit=request.limit, depth=depth, min_share=min_share / 100
        )

    request.give(answer, answer.tree, report, gathered.losses, inputs=gathered.paths)
