"""`wavewright barriers`: who arrives last, and what do the others lose?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.cli.kit.io import console
from wavewright.cli.kit.trace import trace_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.trace import TraceRequest


@trace_verb
def command(request: TraceRequest) -> None:
    """Tell for every barrier of PATH how far apart waves arrive, who is last and how many cycles the others lose."""
    from wavewright.analysis.trace.barriers import barriers

    answer = barriers(request.require_instructions(), rows=request.rows)

    def report() -> Parts:
        from wavewright.report.trace.barriers import barriers_report

        return barriers_report(answer, limit=request.limit, width=console().width)

    request.give(answer, answer.rows, request.with_code(report), request.trace.losses)
