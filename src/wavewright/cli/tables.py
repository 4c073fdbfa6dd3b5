"""`wavewright tables`: which tables does a run hold?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.io import console
from wavewright.cli.kit.run import run_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest


@run_verb
@click.option("--environment", is_flag=True, help="Show environment variables with their values; they may be secret.")
def command(request: RunRequest, environment: bool) -> None:
    """Which tables does a run hold, and how large are they?

    PATHS are runs of any format, or folders of them. Shows the tables that every format becomes, those that only
    this format has, and for databases the stored tables with their sizes. --csv prints the first of these;
    --json has all, and the names of environment variables (values with --environment).

    \b
    wavewright tables results.db
    wavewright tables results.db --environment
    """
    from wavewright.analysis.run.contents import combine_contents, partial_contents

    gathered = request.gather(partial_contents, with_environment=environment)
    answer = combine_contents(gathered.values)

    def report() -> Parts:
        from wavewright.report.run.contents import contents_report

        return contents_report(answer, width=console().width, limit=request.limit, with_environment=environment)

    request.give(answer, answer.tables_found, report, gathered.losses, inputs=gathered.paths)
