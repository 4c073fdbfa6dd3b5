"""`wavescope loops`: how often do loops run, and what does an iteration cost?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.cli.kit.io import console
from wavescope.cli.kit.trace import trace_verb

if TYPE_CHECKING:
    from wavescope.cli.kit.trace import Asked


@trace_verb
def command(asked: Asked) -> None:
    """Tell how often the loops of PATH run, and the cycles of an iteration: first, steady, last, and what is stall."""
    from wavescope.analysis.trace.costs.loops import loops

    answer = loops(asked.require_instructions(), rows=asked.rows)
    if asked.as_json:
        asked.emit(answer)
        return
    from wavescope.report.trace.loops import loops_report

    asked.show_by_row(*loops_report(answer, limit=asked.limit, width=console().width))
