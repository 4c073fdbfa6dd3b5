"""`wavescope loops`: how often do loops run, and what does an iteration cost?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavescope.cli.kit.io import console
from wavescope.cli.kit.trace import trace_verb

if TYPE_CHECKING:
    from wavescope.cli.kit.trace import TraceRequest


@trace_verb
@click.option(
    "--by",
    type=click.Choice(("loop", "iteration")),
    default="loop",
    show_default=True,
    help="One row per loop, or one per iteration number of each loop: which iteration is slow?",
)
def command(request: TraceRequest, by: str) -> None:
    """Tell how often the loops of PATH run, and the cycles of an iteration: first, steady, last, slowest, and stall."""
    from wavescope.analysis.trace.costs.loops import loops
    from wavescope.report.trace.loops import loops_report

    answer = loops(request.require_instructions(), rows=request.rows)
    request.give(
        answer,
        answer.iterations if by == "iteration" else answer.loops,
        request.with_code(lambda: loops_report(answer, by=by, limit=request.limit, width=console().width)),
        request.trace.losses,
    )
