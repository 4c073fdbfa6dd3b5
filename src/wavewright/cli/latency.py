"""`wavewright latency`: how long does memory take, and how much of it shows?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.cli.kit.io import console
from wavewright.cli.kit.trace import trace_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.trace import TraceRequest


@trace_verb
def command(request: TraceRequest) -> None:
    """Tell how long each memory operation of PATH takes: from its issue to the end of the wait for it."""
    from wavewright.analysis.trace.memory_latency import memory_latency

    answer = memory_latency(request.require_instructions(), rows=request.rows)

    def report() -> Parts:
        from wavewright.report.trace.latency import latency_report

        return latency_report(answer, limit=request.limit, width=console().width)

    request.give(answer, answer.by_row, report, request.trace.losses)
