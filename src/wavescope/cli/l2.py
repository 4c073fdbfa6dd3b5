"""`wavescope l2`: does a kernel use L2 and memory well, from hardware counters?"""

from __future__ import annotations

from pathlib import Path

import click

from wavescope.base.bounds import BYTES_GB, EA_CHANNELS, TOP
from wavescope.cli.kit.io import console, emit_json, json_option, progress
from wavescope.cli.kit.numbers import Real, Whole


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--kernel", metavar="NAME", help="Only kernels whose name contains NAME.")
@click.option(
    "--ideal-gb", type=Real(BYTES_GB), metavar="GB", help="10^9 bytes that one dispatch has to read at least."
)
@click.option("--ea-channels", type=Whole(EA_CHANNELS), metavar="N", help="Multiply reads of unknown size by N.")
@click.option("--gpu", metavar="NAME", help="Target (gfx942) or product (MI300X) whose peak to compare with.")
@click.option("--top", type=Whole(TOP), metavar="N", help="Kernels to show; 0 = all. Default: 20.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the table of kernels as CSV instead of text.")
@json_option
def command(
    paths: tuple[Path, ...],
    kernel: str | None,
    ideal_gb: float | None,
    ea_channels: int | None,
    gpu: str | None,
    top: int | None,
    as_csv: bool,
    as_json: bool,
) -> None:
    """L2 hit rate, read sizes, bytes, over-fetch and bandwidth of each kernel, and what to conclude.

    PATH is a capture of hardware counters: a workload folder of ROCm Compute Profiler or its pmc_perf.csv, a
    *_counter_collection.csv of rocprofv3 or a folder of its passes, or a ROCpd database with counters. Every PATH is a
    run of its own: runs are shown side by side, never added up.
    """
    import polars as pl

    from wavescope.analysis.counters.l2 import l2
    from wavescope.model.answer import to_builtins
    from wavescope.readers.counters import open_counters
    from wavescope.report.counters.l2 import l2_report

    captures = []
    for path in dict.fromkeys(paths):
        with progress(f"reading {path.name}"):
            captures.append(open_counters(path))
    answer = l2(*captures, kernel=kernel, ideal_gb=ideal_gb, ea_channels=ea_channels, gpu=gpu)
    losses = pl.concat([counters.losses for counters in captures])
    if as_json:
        body = to_builtins(answer, top=top or None)
        emit_json({"input": [str(path) for path in paths], **body, "losses": losses.to_dicts()})
        return
    limit = 20 if top is None else top or 1 << 62
    if as_csv:
        from wavescope.base.csv import write_csv

        shown = answer.kernels.head(top) if top else answer.kernels
        click.echo(write_csv(shown), nl=False)
        if shown.height < answer.kernels.height:
            click.echo(f"showing {shown.height:,} of {answer.kernels.height:,} rows", err=True)
        for line in losses["message"].unique(maintain_order=True):
            click.echo(f"loss: {line}", err=True)
        return
    out = console()
    for part in l2_report(answer, losses, limit=limit):
        out.print(part)
