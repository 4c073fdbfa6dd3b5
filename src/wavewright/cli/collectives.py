"""`wavewright collectives`: its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.io import console
from wavewright.cli.kit.run import run_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest


@run_verb
@click.option("--calls", "with_calls", is_flag=True, help="Every call of several ranks too; --csv prints these then.")
def command(request: RunRequest, with_calls: bool) -> None:
    """Give the files of all ranks. --csv prints one row per collective and size, with --calls one per call; --json has
    the arrival of every rank too.

    \b
    wavewright collectives ranks/
    wavewright collectives ranks/ --calls --csv
    """
    from wavewright.analysis.run.ranks.collective_times import combine_collectives, partial_collectives

    gathered = request.gather(partial_collectives)
    answer = combine_collectives(gathered.values)

    def report() -> Parts:
        from wavewright.words.run.collectives import collectives_report

        return collectives_report(answer, width=console().width, limit=request.limit, with_calls=with_calls)

    table = answer.calls if with_calls else answer.collectives
    request.give(answer, table, report, gathered.losses, inputs=gathered.paths)
