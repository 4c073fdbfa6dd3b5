"""`wavescope states`: what waves do over time."""

from __future__ import annotations

import click

from wavescope.cli._io import console
from wavescope.cli._trace import Asked, trace_verb

_JSON_BINS = 60


@trace_verb
@click.option("--bins", type=click.IntRange(1, 10_000), help="Stretches of time; default: what fits the terminal.")
def command(asked: Asked, bins: int | None) -> None:
    """Show what the waves of PATH do over time.

    Wave states (idle, exec, wait, stall) in all and per shader engine, how busy each pipe is, how often a SIMD issues
    nothing, and how many waves of each kernel are resident. The clocks of the shader engines are aligned.
    """
    from wavescope.analysis.kernel_residency import kernel_residency
    from wavescope.analysis.states import states
    from wavescope.analysis.utilization import utilization
    from wavescope.report.states import states_report

    if not (asked.trace.waves.height or asked.trace.occupancy.height):
        asked.require_instructions()
    width = console().width
    count = bins or (_JSON_BINS if asked.as_json else max(20, width - 8))
    waves = states(asked.trace, bins=count)
    pipes = utilization(asked.trace, rows=asked.rows, bins=count)
    residency = kernel_residency(asked.trace, bins=count)
    if asked.as_json:
        asked.emit({"states": waves, "utilization": pipes, "residency": residency})
    else:
        asked.show(*states_report(waves, pipes, residency, width=width, limit=asked.limit))
