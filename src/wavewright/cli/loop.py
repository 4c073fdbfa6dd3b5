"""`wavewright loop`: did an edit help, what explains it, what to try next?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from wavewright.cli.kit.io import progress
from wavewright.cli.kit.options import declared_command
from wavewright.cli.kit.request import Request

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts

_EXIT_CODES = {"worse": 1, "cannot tell": 6}


@declared_command("gate", "loop")
def command(before: str, after: str, step: str | None, kernel: str | None, threshold: float, as_json: bool) -> None:
    """Judge one turn."""
    from wavewright.cluster.loop import loop

    answer = loop(before, after, step=step, kernel=kernel, threshold=threshold / 100, progress=progress)

    def report() -> Parts:
        from wavewright.words.gate import loop_report

        return loop_report(answer)

    request = Request(paths=(before, after), as_json=as_json)
    request.give(answer, answer.findings, report, (), headline=answer.headline())
    if answer.outcome in _EXIT_CODES:
        sys.exit(_EXIT_CODES[answer.outcome])
