"""`wavescope stalls`: what do the waves stall on?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavescope.cli.kit.io import console
from wavescope.cli.kit.trace import trace_sums_verb

if TYPE_CHECKING:
    from wavescope.cli.kit.trace import Asked


@trace_sums_verb
@click.option(
    "--classic",
    "as_classic",
    is_flag=True,
    help="The types of the classic analyzer script, from mnemonics alone, for comparing with old reports.",
)
def command(asked: Asked, as_classic: bool) -> None:
    """Tell what the waves of PATH stall on: every wait by what it waited for, every other stall by its pipe."""
    if as_classic:
        from wavescope.analysis.trace.stalls.classic import classic
        from wavescope.report.trace.stalls import classic_report

        has_sums = asked.trace.stored_totals["hit_count"].sum()
        old = classic(asked.trace if has_sums else asked.require_instructions(), rows=asked.rows)
        if asked.as_json:
            asked.emit(old)
        else:
            asked.show(*classic_report(old, limit=asked.limit, width=console().width))
        return
    from wavescope.analysis.trace.stalls import stalls
    from wavescope.report.trace.stalls import stalls_report

    answer = stalls(asked.require_instructions(), rows=asked.rows)
    if asked.as_json:
        asked.emit(answer)
    else:
        asked.show(*stalls_report(answer, limit=asked.limit, width=console().width))
