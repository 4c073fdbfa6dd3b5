"""`wavewright overlap`: what runs at the same time?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.cli.kit.io import console
from wavewright.cli.kit.run import run_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest


@run_verb
def command(request: RunRequest) -> None:
    """What runs at the same time: copies and kernels, communication and computation, streams, processes, calls?

    Exposed is what nothing hides: communication without computation, copies without any kernel. --csv prints one row
    per GPU and process; --json has streams, processes, levels and the calls of the host too.

    \b
    wavewright overlap results.db
    wavewright overlap ranks/ --json
    """
    from wavewright.analysis.run.overlap import combine_overlap, partial_overlap

    gathered = request.gather(partial_overlap)
    answer = combine_overlap(gathered.values)

    def report() -> Parts:
        from wavewright.report.run.overlap import overlap_report

        return overlap_report(answer, width=console().width, limit=request.limit)

    request.give(answer, answer.gpus, report, gathered.losses, inputs=gathered.paths)
