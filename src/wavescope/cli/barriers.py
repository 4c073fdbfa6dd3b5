"""`wavescope barriers`: who arrives last, and what do the others lose?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.cli.kit.trace import trace_verb

if TYPE_CHECKING:
    from wavescope.cli.kit.trace import Asked


@trace_verb
def command(asked: Asked) -> None:
    """Tell for every barrier of PATH how far apart waves arrive, who is last and how many cycles the others lose."""
    from wavescope.analysis.trace.barriers import barriers
    from wavescope.report.trace.barriers import barriers_report

    answer = barriers(asked.require_instructions(), rows=asked.rows)
    if asked.as_json:
        asked.emit(answer)
    else:
        asked.show_by_row(*barriers_report(answer, limit=asked.limit))
