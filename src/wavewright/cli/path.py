"""`wavewright path`: its options."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.io import console
from wavewright.cli.kit.run import run_verb

if TYPE_CHECKING:
    import polars as pl

    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest

_SCENARIOS = "kernel=NAME:-20%, launch-gaps, rank=N, bandwidth=GB/S, copies, host=-50%"


@run_verb
@click.option(
    "--what-if",
    "texts",
    multiple=True,
    metavar="CHANGE",
    help=f"Predict the time after a change; may be repeated. One of: {_SCENARIOS}.",
)
@click.option("--steps", "by_step", is_flag=True, help="The path of each step too, found as `wavewright steps` does.")
@click.option("--step", "marker", metavar="MARKER", help="The marker range that is a step; implies --steps.")
@click.option("--segments", is_flag=True, help="With --csv: one row per segment of the path, in the order of time.")
def command(request: RunRequest, texts: tuple[str, ...], by_step: bool, marker: str | None, segments: bool) -> None:
    """The critical path goes from the last event back to the first: each event waited for something, and what came last
    held it up. Its segments add up to the time of the run. Ranks meet in collectives; the path goes on in the one that
    came last. Slack is how much later an event could end without changing the time.

    --what-if computes all events again after a change, as an interval where the record does not say what waited for
    what. --csv prints the contributors; --json has every segment too.

    \b
    wavewright path results.db
    wavewright path ranks/ --what-if kernel=gemm:-20% --what-if rank=5
    """
    from wavewright.analysis.run.graph import combine_graph, partial_graph
    from wavewright.analysis.run.graph.path import moments, path_of, stacks_of, with_stacks, with_steps
    from wavewright.analysis.run.graph.scenarios import what_if

    gathered = request.gather(partial_graph)
    graph = combine_graph(gathered.values)
    answer = path_of(graph)
    scenarios = what_if(graph, texts)
    if by_step or marker is not None:
        answer = with_steps(answer, graph, _steps(request, marker))
    wanted = moments(graph, answer)
    if any(rows.height for rows in wanted.values()):
        answer = with_stacks(answer, request.gather(partial(stacks_of, moments=wanted)).values)

    def report() -> Parts:
        from wavewright.words.run.path import path_report

        return path_report(answer, scenarios, width=console().width, limit=request.limit)

    from wavewright.model.answer import to_builtins

    table = answer.segments if segments else answer.contributors
    request.give(answer, table, report, gathered.losses, inputs=gathered.paths, what_if=to_builtins(scenarios))


def _steps(request: RunRequest, marker: str | None) -> pl.DataFrame:
    """The steps of all runs."""
    from wavewright.analysis.run.select.step_ranges import marker_pattern
    from wavewright.analysis.run.steps import combine_steps, partial_steps
    from wavewright.errors import UsageError

    if marker is not None:
        marker_pattern(marker)
    steps = combine_steps(request.gather(partial(partial_steps, marker=marker)).values).steps
    if not steps.height:
        what = "no steps were found" if marker is None else f"no marker range {marker!r}"
        raise UsageError(what, advice="wavewright summary --domain MARKER lists markers; --step MARKER names one")
    return steps
