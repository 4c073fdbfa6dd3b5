"""`wavescope top`: what takes most time?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from wavescope.cli.kit.io import console
from wavescope.cli.kit.run import run_verb

if TYPE_CHECKING:
    from wavescope.cli.kit.request import Parts
    from wavescope.cli.kit.run import RunRequest


@run_verb
@click.option("--all", "with_calls", is_flag=True, help="API calls, markers and allocations too.")
def command(request: RunRequest, with_calls: bool) -> None:
    """The kernels and copies that take most GPU time in the runs at PATHS."""
    from wavescope.analysis.run.top import combine_top, partial_top

    gathered = request.gather(partial(partial_top, with_calls=with_calls))
    answer = combine_top(gathered.values, with_calls=with_calls)

    def report() -> Parts:
        from wavescope.report.run.top import top_report

        return top_report(answer, width=console().width, limit=request.limit)

    request.give(answer, answer.things, report, gathered.losses, inputs=gathered.paths)
