"""`wavewright busy`: its options."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from wavewright.base.bounds import BINS
from wavewright.cli.kit.io import console
from wavewright.cli.kit.numbers import Whole
from wavewright.cli.kit.run import run_verb

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts
    from wavewright.cli.kit.run import RunRequest


@run_verb
@click.option("--bins", type=Whole(BINS), default=120, show_default=True, help="Maximum number of time bins.")
def command(request: RunRequest, bins: int) -> None:
    """PATHS are runs (ROCpd, RPD, rocprofv3 CSV or JSON, Kineto, ...) or folders of them. Work that overlaps counts
    once; a GPU that several processes use is one GPU. Shares are of the time from the first to the last GPU work of the
    node, or of the window. --csv prints one row per GPU; --json has streams and curves too.

    \b
    wavewright busy results.db
    wavewright busy ranks/ --time 30%:60%
    """
    from wavewright.analysis.run.gpu_time.busy import combine_busy, partial_busy
    from wavewright.analysis.run.select.gpus import shared_gpus

    gathered = request.gather(partial(partial_busy, bins=bins))
    shared = shared_gpus(gathered.values)
    if shared:  # how work of several files overlaps is known from its times only
        gathered = request.gather(partial(partial_busy, bins=bins, shared=shared))
    answer = combine_busy(gathered.values)

    def report() -> Parts:
        from wavewright.words.run.busy import busy_report

        is_window = request.selection.has_window
        return busy_report(answer, width=console().width, limit=request.limit, is_window=is_window)

    request.give(answer, answer.gpus, report, gathered.losses, inputs=gathered.paths)
