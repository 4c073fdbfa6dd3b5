"""`wavewright l2`: its options."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.base.bounds import BYTES_GB, EA_CHANNELS
from wavewright.cli.kit.io import progress, with_options
from wavewright.cli.kit.numbers import Real, Whole
from wavewright.cli.kit.request import Request, form_options, target_option

if TYPE_CHECKING:
    from wavewright.cli.kit.request import Parts


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--kernel", metavar="NAME", help="Only kernels whose name contains NAME.")
@click.option(
    "--ideal-gb", type=Real(BYTES_GB), metavar="GB", help="10^9 bytes that one dispatch has to read at least."
)
@click.option("--ea-channels", type=Whole(EA_CHANNELS), metavar="N", help="Multiply reads of unknown size by N.")
@target_option
@partial(with_options, options=form_options)
def command(
    paths: tuple[Path, ...],
    kernel: str | None,
    ideal_gb: float | None,
    ea_channels: int | None,
    target: str | None,
    **form: Any,
) -> None:
    """PATH is a capture of hardware counters: a workload folder of ROCm Compute Profiler or its pmc_perf.csv, a
    *_counter_collection.csv of rocprofv3 or a folder of its passes, or a ROCpd database with counters. Every PATH is a
    separate run: runs are shown side by side, never added up.
    """
    import polars as pl

    from wavewright.analysis.counters.l2 import l2
    from wavewright.readers.counters import open_counters

    request = Request(paths=paths, **form)
    captures = []
    for path in dict.fromkeys(paths):
        with progress(f"reading {path.name}"):
            captures.append(open_counters(path))
    answer = l2(*captures, kernel=kernel, ideal_gb=ideal_gb, ea_channels=ea_channels, gpu=target)
    losses = pl.concat([counters.losses for counters in captures])

    def report() -> Parts:
        from wavewright.words.counters.l2 import l2_report

        return l2_report(answer, limit=request.limit)

    request.give(answer, answer.kernels, report, losses)
