"""`wavewright tables`: which tables does a run hold?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.cli.kit.commands import run_verb
from wavewright.cli.kit.options import declared_options

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest


@run_verb
@declared_options("tables")
def command(request: RunRequest, show_secrets: bool) -> None:
    """List the tables of runs."""
    from wavewright.analysis.run.contents.run_contents import combine_contents, partial_contents

    gathered = request.gather(partial_contents, show_secrets=show_secrets)
    answer = combine_contents(gathered.values)

    def report() -> Parts:
        from wavewright.words.run.data.contents import contents_report

        return contents_report(answer, limit=request.limit, show_secrets=show_secrets)

    request.give(answer, answer.tables_found, report, gathered.losses, inputs=gathered.paths)
