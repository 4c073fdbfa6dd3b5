"""`wavewright gaps`: its options."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.io import console
from wavewright.cli.kit.run import run_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest

#: What --csv can print -> the table of the answer.
_TABLES = {"gaps": "largest", "gpus": "gpus", "causes": "causes", "lengths": "histogram"}


@run_verb
@click.option(
    "--by",
    type=click.Choice(["gpu", "stream"]),
    default="gpu",
    show_default=True,
    help="Gaps between all work of a GPU, or of each of its streams.",
)
@click.option(
    "--table",
    type=click.Choice([*_TABLES]),
    default="gaps",
    show_default=True,
    help="What --csv prints: the longest gaps (all with --top 0, at most 10,000), or sums.",
)
def command(request: RunRequest, by: str, table: str) -> None:
    """A gap is the time between two pieces of work of a GPU (or of a stream) in which it does none. It is divided: what
    the thread that launched the next work did before (synchronisation, allocation, copies, other calls, host code), the
    launch itself, and what the launched work waited for (stream wait: an event; queued: other work). Times `at` count
    from the start of the run, as --time does. --domain chooses the regions of call stacks.

    \b
    wavewright gaps results.db
    wavewright gaps results.db --csv > gaps.csv
    wavewright gaps ranks/ --by stream --top 5
    """
    from wavewright.analysis.run.gpu_time.gaps import combine_gaps
    from wavewright.analysis.run.gpu_time.gaps.partial import partial_gaps
    from wavewright.analysis.run.select.gpus import merged_elsewhere, partial_intervals, shared_gpus

    domains = request.selection.domains
    request = replace(request, selection=replace(request.selection, domains=()))  # other calls still tell why
    question = partial(partial_gaps, by_stream=by == "stream", keep=max(100, request.limit), domains=domains)
    gathered = request.gather(question)
    shared = shared_gpus(gathered.values) if by == "gpu" else None
    if shared:  # gaps of such a GPU are known only when all of its work is
        elsewhere = merged_elsewhere(request.gather(partial(partial_intervals, shared=shared)).values)
        gathered = request.gather(partial(question, elsewhere=elsewhere))
    answer = combine_gaps(gathered.values)

    def report() -> Parts:
        from wavewright.words.run.gaps import gaps_report

        is_window = request.selection.has_window
        return gaps_report(answer, width=console().width, limit=request.limit, is_window=is_window)

    request.give(answer, getattr(answer, _TABLES[table]), report, gathered.losses, inputs=gathered.paths)
