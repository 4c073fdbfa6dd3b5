"""`wavewright coverage`: its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.cli.kit.trace import trace_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.trace import TraceRequest


@trace_verb
def command(request: TraceRequest) -> None:
    """Ways through the code and CUs count as well; what speaks against the trace is listed."""
    from wavewright.analysis.trace.trust.coverage import coverage
    from wavewright.analysis.trace.trust.mapping import mapping
    from wavewright.analysis.trace.trust.verdicts import trust_of

    trust = trust_of(request.trace)
    seen, lines = coverage(request.trace, rows=request.rows), mapping(request.trace, rows=request.rows)
    shares = {"executed_share": seen.executed_share, "traced_share": seen.traced_share}
    answer = {"trust": trust, "shares": shares, "coverage": seen, "mapping": lines}

    def report() -> Parts:
        from wavewright.words.trace.coverage import FEW, coverage_report

        few = FEW if request.top is None else request.limit
        return coverage_report(trust, seen, lines, limit=request.limit, few=few)

    request.give(answer, seen.functions, report, request.trace.losses)
