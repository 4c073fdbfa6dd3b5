"""`wavescope hotspots`: where does the time go?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavescope.cli.kit.io import console
from wavescope.cli.kit.trace import trace_sums_verb

if TYPE_CHECKING:
    from wavescope.cli.kit.trace import Asked

_UNITS = ("instruction", "line", "file", "function", "kernel", "block", "loop")


@trace_sums_verb
@click.option(
    "--by", type=click.Choice(_UNITS), default="instruction", show_default=True, help="What to add cycles up by."
)
@click.option(
    "--sort",
    type=click.Choice(("exposed", "stall", "latency", "idle", "hits")),
    default="exposed",
    show_default=True,
    help="What the costliest is; exposed = cycles that no other wave's work hid.",
)
@click.option(
    "--frame",
    "attribution",
    type=click.Choice(("innermost", "outermost", "mine")),
    default="innermost",
    show_default=True,
    help="Which frame of inlined code stands for an instruction; mine = the first that is not in a library.",
)
@click.option(
    "--mine",
    metavar="PREFIX",
    multiple=True,
    help="With --frame mine: paths of your code, instead of everything outside libraries; may be repeated.",
)
@click.option(
    "--hidden",
    "rule",
    type=click.Choice(("reference", "corrected")),
    default="reference",
    show_default=True,
    help="Rule of hidden latency: as AMD's viewer, or without what a wave does for itself.",
)
def command(asked: Asked, by: str, sort: str, attribution: str, mine: tuple[str, ...], rule: str) -> None:
    """Tell where the time of PATH goes: cycles by instruction, source line, file, function, kernel, block or loop."""
    if mine:
        attribution = "mine"
    if asked.trace.samples.height:
        _samples(asked, by, attribution, mine)
        return
    if not asked.trace.stored_totals.height:
        asked.require_instructions()
    from wavescope.analysis.trace.costs.hotspots import hotspots

    answer = hotspots(asked.trace, rows=asked.rows, by=by, attribution=attribution, mine=mine, sort=sort, rule=rule)
    if asked.as_json:
        asked.emit(answer)
        return
    from wavescope.report.trace.hotspots import hotspots_report

    asked.show_by_row(*hotspots_report(answer, limit=asked.limit, width=console().width))


def _samples(asked: Asked, by: str, attribution: str, mine: tuple[str, ...]) -> None:
    from wavescope.analysis.trace.costs.sample_hotspots import sample_hotspots

    answer = sample_hotspots(asked.trace, rows=asked.rows, by=by, attribution=attribution, mine=mine)
    if asked.as_json:
        asked.emit(answer)
        return
    from wavescope.report.trace.hotspots import sample_report

    asked.show(*sample_report(answer, limit=asked.limit, width=console().width))
