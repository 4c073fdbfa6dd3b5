"""`wavewright ranks`: is the work spread evenly over ranks?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.cli.kit.io import console
from wavewright.cli.kit.run import run_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest


@run_verb
def command(request: RunRequest) -> None:
    """Compare the ranks of a run whose files are at PATHS: who has more work, who is late, who waits."""
    from wavewright.analysis.run.ranks import combine_ranks, partial_ranks

    gathered = request.gather(partial_ranks)
    answer = combine_ranks(gathered.values)

    def report() -> Parts:
        from wavewright.report.run.ranks import ranks_report

        return ranks_report(answer, width=console().width, limit=request.limit)

    request.give(answer, answer.processes, report, gathered.losses, inputs=gathered.paths)
