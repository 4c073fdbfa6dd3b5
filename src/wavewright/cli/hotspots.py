"""`wavewright hotspots`: its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.lanes import evaluated_lanes
from wavewright.cli.kit.trace import trace_totals_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.trace import TraceRequest

_UNITS = ("instruction", "line", "file", "function", "kernel", "block", "loop")


@trace_totals_verb
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
@click.option("--lanes", is_flag=True, help="With extra LDS cycles and cache segments (see wavewright lanes).")
def command(request: TraceRequest, by: str, sort: str, attribution: str, mine: tuple[str, ...], lanes: bool) -> None:
    """Cycles are added up over waves; exposed ones are those that no other wave's work hid."""
    if mine:
        attribution = "mine"
    sums = evaluated_lanes(request) if lanes else None
    if request.trace.samples.height:
        _samples(request, by, attribution, mine)
        return
    if not request.trace.stored_totals.height:
        request.require_instructions()
    from wavewright.analysis.trace.costs.hotspots import hotspots

    answer = hotspots(
        request.trace, rows=request.rows, by=by, attribution=attribution, mine=mine, sort=sort, lane_sums=sums
    )

    def report() -> Parts:
        from wavewright.words.trace.hotspots import hotspots_report

        return hotspots_report(answer, limit=request.limit)

    request.give(answer, answer.units, request.with_code(report), request.trace.losses)


def _samples(request: TraceRequest, by: str, attribution: str, paths: tuple[str, ...]) -> None:
    from wavewright.analysis.trace.costs.sample_hotspots import sample_hotspots

    answer = sample_hotspots(request.trace, rows=request.rows, by=by, attribution=attribution, mine=paths)

    def report() -> Parts:
        from wavewright.words.trace.hotspots import sample_report

        return sample_report(answer, limit=request.limit)

    request.give(answer, answer.units, report, request.trace.losses)
