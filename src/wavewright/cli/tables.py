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
@click.option("--show-secrets", is_flag=True, help="Show all values of environment variables and command lines.")
def command(request: RunRequest, show_secrets: bool) -> None:
    """Which tables does a run hold, and how large are they?

    PATHS are runs of any format, or folders of them. Shows the tables that every format becomes, those that only
    this format has, and for databases the stored tables with their sizes. --csv prints the first of these;
    --json has all, and the names of environment variables (values with --show-secrets).

    \b
    wavewright tables results.db
    wavewright tables results.db --show-secrets
    """
    from wavewright.analysis.run.contents.run_contents import combine_contents, partial_contents

    gathered = request.gather(partial_contents, show_secrets=show_secrets)
    answer = combine_contents(gathered.values)

    def report() -> Parts:
        from wavewright.words.run.contents import contents_report

        return contents_report(answer, width=console().width, limit=request.limit, show_secrets=show_secrets)

    request.give(answer, answer.tables_found, report, gathered.losses, inputs=gathered.paths)
