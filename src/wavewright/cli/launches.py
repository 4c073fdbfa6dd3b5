"""`wavewright launches`: its options."""

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
    """A graph counts as one launch. --csv prints one row per function; --json has the queue depth over time too.

    \b
    wavewright launches trace.json
    wavewright launches ranks/ --rank 3 --step execute_model
    """
    from wavewright.analysis.run.contents.launch_statistics import combine_launch_statistics, partial_launch_statistics
    from wavewright.analysis.run.select.step_ranges import marker_pattern

    if marker is not None:
        marker_pattern(marker)
    gathered = request.gather(partial(partial_launch_statistics, marker=marker))
    answer = combine_launch_statistics(gathered.values)

    def report() -> Parts:
        from wavewright.words.run.launches import launches_report

        return launches_report(answer, width=console().width, limit=request.limit)

    request.give(answer, answer.functions, report, gathered.losses, inputs=gathered.paths)
