"""`wavewright steps`: its options."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.io import console
from wavewright.cli.kit.run import run_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest


@run_verb
@click.option("--step", "marker", metavar="MARKER", help="The marker range that is a step (a name, or /REGEX/).")
def command(request: RunRequest, marker: str | None) -> None:
    """Steps are found by a marker that covers the GPU work, else by the repetition of kernels; the first line says how.
    --csv prints one row per step; --json has the spread per process too.

    \b
    wavewright steps trace.json
    wavewright steps ranks/ --step /ProfilerStep/
    """
    from wavewright.analysis.run.select.step_ranges import marker_pattern
    from wavewright.analysis.run.steps import combine_steps, partial_steps
    from wavewright.errors import UsageError

    if marker is not None:
        marker_pattern(marker)
    gathered = request.gather(partial(partial_steps, marker=marker))
    answer = combine_steps(gathered.values)
    if marker is not None and not answer.steps.height and answer.processes.height:
        raise UsageError(f"no marker range {marker!r}", advice="wavewright summary --domain MARKER lists markers")

    def report() -> Parts:
        from wavewright.words.run.steps import steps_report

        return steps_report(answer, width=console().width, limit=request.limit)

    request.give(answer, answer.steps, report, gathered.losses, inputs=gathered.paths)
