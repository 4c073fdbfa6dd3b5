"""`wavescope coverage`: can this trace be trusted?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.cli.kit.trace import trace_verb

if TYPE_CHECKING:
    from wavescope.cli.kit.trace import Asked


@trace_verb
def command(asked: Asked) -> None:
    """Tell what PATH covers (code, ways through it, waves, CUs, source lines) and whether it can be trusted."""
    from wavescope.analysis.common.caveats import verdict
    from wavescope.analysis.trace.trust.caveats import caveats_of
    from wavescope.analysis.trace.trust.coverage import coverage
    from wavescope.analysis.trace.trust.mapping import mapping
    from wavescope.report.trace.coverage import FEW, coverage_report

    caveats = caveats_of(asked.trace)
    seen, lines = coverage(asked.trace, rows=asked.rows), mapping(asked.trace, rows=asked.rows)
    if asked.as_json:
        shares = {"executed_share": seen.executed_share, "traced_share": seen.traced_share}
        answer = {"trust": verdict(caveats), "caveats": caveats, "shares": shares, "coverage": seen, "mapping": lines}
        asked.emit(answer)
        return
    few = FEW if asked.top is None else asked.limit
    asked.show(*coverage_report(verdict(caveats), caveats, seen, lines, limit=asked.limit, few=few))
