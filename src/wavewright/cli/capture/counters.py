"""`wavewright capture counters`: hardware counters of a program, in as many passes as it takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wavewright.base.bounds import SOME
from wavewright.cli.kit.capture_output import capture_verb, take
from wavewright.cli.kit.kernel_choice import kernel_fields, kernel_options
from wavewright.cli.kit.numbers import Whole
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from wavewright.cli.kit.capture import CaptureRequest


@capture_verb
@click.option("--panel", "panels", multiple=True, metavar="PANEL", help="Metrics of a panel: sol, l2, lds, ...")
@click.option("--metric", "metrics", multiple=True, metavar="METRIC", help="A metric by its id or a part of its name.")
@click.option("--pmc", "names", multiple=True, metavar="NAMES", help="Counters by name, separated by commas.")
@click.option(
    "--more", type=click.Path(path_type=Path), multiple=True, metavar="FILE", help="Metrics of your own (TOML)."
)
@click.option("--max-passes", type=Whole(SOME), metavar="N", help="At most N passes, those that complete the most.")
@click.option("--target", metavar="GPU", help="The GPU to plan for, as gfx942 or MI300X, where none is found here.")
@kernel_options
def command(
    request: CaptureRequest,
    panels: tuple[str, ...],
    metrics: tuple[str, ...],
    names: tuple[str, ...],
    more: tuple[Path, ...],
    max_passes: int | None,
    target: str | None,
    kernel: str | None,
    regex: str | None,
    exclude: str,
    launch: tuple[int, ...],
) -> None:
    """What did the units of the GPU do? Hardware counters of every dispatch, or of chosen kernels and launches.

    A block of the GPU has few counters, so the program runs once per pass: counters of one ratio are of one pass. The
    passes are judged and joined; counters that are missing, or that are 0 everywhere, are named.

    \b
    wavewright capture counters --panel l2 -- python bench.py
    wavewright capture counters --pmc SQ_WAVES,TCC_HIT_sum,TCC_MISS_sum --kernel gemm -- ./gemm 4096
    wavewright capture counters --metric 17.1.2 --target MI300X --dry-run -- ./gemm
    """
    from wavewright.capture.kinds import Counters
    from wavewright.capture.plans.counter_passes import passes_for

    planned = passes_for(
        _gpu(request, target), panels=panels, metrics=metrics, counters=names, more=more, max_passes=max_passes
    )
    recording = Counters(
        **request.common,
        **kernel_fields(kernel, regex, exclude, launch),
        passes=planned.passes,
        definitions=planned.definitions,
    )
    take(request, recording, planned.notes)


def _gpu(request: CaptureRequest, target: str | None) -> str:
    if target:
        return target
    gpu = request.planned_gpu
    if gpu is None or not gpu.target:
        what = "for which GPU? None is found here"
        raise UsageError(what, advice="name it: --target gfx942 or --target MI300X")
    return gpu.target
