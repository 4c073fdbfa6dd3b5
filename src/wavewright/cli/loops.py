"""`wavewright loops`: its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.trace import trace_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.trace import TraceRequest


@trace_verb
@click.option(
    "--by",
    type=click.Choice(("loop", "iteration")),
    default="loop",
    show_default=True,
    help="One row per loop, or one per iteration number of each loop: which iteration is slow?",
)
def command(request: TraceRequest, by: str) -> None:
    """The cycles of an iteration: first, steady, last, slowest, and the stall in it."""
    from wavewright.analysis.trace.costs.loops import loops

    answer = loops(request.require_instructions(), rows=request.rows)

    def report() -> Parts:
        from wavewright.words.trace.loops import loops_report

        return loops_report(answer, by=by, limit=request.limit)

    table = answer.iterations if by == "iteration" else answer.loops
    request.give(answer, table, request.with_code(report), request.trace.losses)
