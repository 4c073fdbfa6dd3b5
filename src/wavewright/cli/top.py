"""`wavewright top`: its options."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.io import console
from wavewright.cli.kit.run import run_verb

if TYPE_CHECKING:
    from wavewright.analysis.run.kernels.top import TopGrouping
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest


@run_verb
@click.option("--all", "with_calls", is_flag=True, help="API calls, markers and allocations too.")
@click.option(
    "--by",
    type=click.Choice(["name", "category", "file"]),
    default="name",
    show_default=True,
    help="One row per name, or per category of kernels (GEMM, attention, ...); or one table per file.",
)
def command(request: RunRequest, with_calls: bool, by: str) -> None:
    """PATHS are runs or folders of them; all of them together give one answer."""
    from wavewright.analysis.run.kernels.top import combine_top, partial_top

    grouping: TopGrouping = "file" if by == "file" else "all"
    gathered = request.gather(partial(partial_top, with_calls=with_calls, by=grouping))
    answer = combine_top(gathered.values, with_calls=with_calls, by=grouping)

    def report() -> Parts:
        from wavewright.words.run.top import top_report

        return top_report(answer, by=by, width=console().width, limit=request.limit)

    table = answer.categories if by == "category" else answer.things
    table = table if by == "file" else table.drop("path", strict=False)
    request.give(answer, table, report, gathered.losses, inputs=gathered.paths)
