"""`wavescope waits`: which instruction does each wait wait for?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.cli.kit.io import console
from wavescope.cli.kit.trace import trace_verb

if TYPE_CHECKING:
    from wavescope.cli.kit.request import Parts
    from wavescope.cli.kit.trace import TraceRequest


@trace_verb
def command(request: TraceRequest) -> None:
    """List the waits of PATH with what they waited for, how far ahead it was issued and how far would be enough."""
    from wavescope.analysis.trace.waits import waits

    answer = waits(request.require_instructions(), rows=request.rows)

    def report() -> Parts:
        from wavescope.report.trace.waits import waits_report

        return waits_report(answer, limit=request.limit, width=console().width)

    request.give(answer, answer.waits, request.with_code(report), request.trace.losses)
