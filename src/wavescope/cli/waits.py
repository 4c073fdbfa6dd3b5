"""`wavescope waits`: which instruction does each wait wait for?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.cli.kit.io import console
from wavescope.cli.kit.trace import trace_verb

if TYPE_CHECKING:
    from wavescope.cli.kit.trace import Asked


@trace_verb
def command(asked: Asked) -> None:
    """List the waits of PATH with what they waited for, how far ahead it was issued and how far would be enough."""
    from wavescope.analysis.trace.waits import waits
    from wavescope.report.trace.waits import waits_report

    answer = waits(asked.require_instructions(), rows=asked.rows)
    if asked.as_json:
        asked.emit(answer)
    else:
        asked.show_by_row(*waits_report(answer, limit=asked.limit, width=console().width))
