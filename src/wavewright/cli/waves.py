"""`wavewright waves`: which waves are slow, and where?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.cli.kit.io import console
from wavewright.cli.kit.trace import trace_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.trace import TraceRequest


@trace_verb
def command(request: TraceRequest) -> None:
    """List the waves of PATH, slowest first: place, time, instructions, stall, and where the slow ones lose it."""
    from wavewright.analysis.trace.slow_waves import slow_waves

    answer = slow_waves(request.require_instructions(), rows=request.rows)

    def report() -> Parts:
        from wavewright.report.trace.waves import waves_report

        return waves_report(answer, limit=request.limit, width=console().width)

    request.give(answer, answer.waves, report, request.trace.losses)
