"""`wavescope gaps`: when do the GPUs idle, and who makes them wait?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from wavescope.cli.kit.io import console
from wavescope.cli.kit.run import run_verb

if TYPE_CHECKING:
    from wavescope.cli.kit.request import Parts
    from wavescope.cli.kit.run import RunRequest


@run_verb
@click.option(
    "--by",
    type=click.Choice(["gpu", "stream"]),
    default="gpu",
    show_default=True,
    help="Gaps between all work of a GPU, or of each of its streams.",
)
def command(request: RunRequest, by: str) -> None:
    """When do the GPUs idle between their work, and who makes them wait?

    Every gap is divided: what the thread that launched the next work did before (synchronisation, allocation, copies,
    other calls, its own code), the launch itself, or a queue that was not empty. --csv prints one row per GPU (or
    stream); --json has the causes, lengths and longest gaps too.

    \b
    wavescope gaps results.db
    wavescope gaps ranks/ --by stream --top 5
    """
    from wavescope.analysis.run.gaps import combine_gaps
    from wavescope.analysis.run.gaps.partial import partial_gaps
    from wavescope.analysis.run.gpus import merged_elsewhere, partial_intervals, shared_gpus

    question = partial(partial_gaps, by_stream=by == "stream", keep=max(100, request.limit))
    gathered = request.gather(question)
    shared = shared_gpus(gathered.values) if by == "gpu" else None
    if shared:  # gaps of such a GPU are known only when all of its work is
        elsewhere = merged_elsewhere(request.gather(partial(partial_intervals, shared=shared)).values)
        gathered = request.gather(partial(question, elsewhere=elsewhere))
    answer = combine_gaps(gathered.values)

    def report() -> Parts:
        from wavescope.report.run.gaps import gaps_report

        return gaps_report(answer, width=console().width, limit=request.limit)

    request.give(answer, answer.gpus, report, gathered.losses, inputs=gathered.paths)
