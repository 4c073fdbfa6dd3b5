"""`wavewright roofline`: its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wavewright.base.bounds import ID
from wavewright.cli.kit.counters import counter_verb
from wavewright.cli.kit.io import console
from wavewright.cli.kit.numbers import Whole
from wavewright.cli.kit.picture import picture_options
from wavewright.cli.kit.request import amd_option

if TYPE_CHECKING:
    from wavewright.cli.kit.counters import CounterRequest
    from wavewright.cli.kit.picture import PictureRequest
    from wavewright.cli.kit.request import Parts


@counter_verb
@click.option(
    "--by",
    type=click.Choice(["kernel", "dispatch"]),
    default="kernel",
    help="One point per kernel (mean over its dispatches) or per dispatch.",
)
@click.option(
    "--precision",
    default="",
    metavar="LIST",
    help="Compute roofs to draw: fp16,bf16,fp32,fp64,fp8,fp6f4,i8,i32,i64; integer ones mark integer work. "
    "Default: those that the kernels use.",
)
@click.option("--level", default="", metavar="LIST", help="Memory levels to draw: hbm,mall,l2,l1,lds. Default: all.")
@click.option(
    "--ceilings",
    type=click.Choice(["best", "empirical", "theoretical"]),
    default="best",
    help="Roofs from the benchmark beside the capture (empirical), from the rates of the GPU (theoretical), or the "
    "benchmark where it measured one and rates elsewhere (best).",
)
@click.option(
    "--device", type=Whole(ID), metavar="N", help="GPU of roofline.csv whose benchmark counts; default: the first."
)
@amd_option
@picture_options
def command(
    request: CounterRequest,
    by: str,
    precision: str,
    level: str,
    ceilings: str,
    device: int | None,
    amd: bool,
    picture: PictureRequest,
) -> None:
    """PATH is a counter capture: a workload folder of ROCm Compute Profiler, its analysis database, or counters of
    rocprofv3. A roofline.csv beside them gives the measured roofs.
    """
    from wavewright.analysis.counters.roofline import roofline
    from wavewright.analysis.counters.roofline.kinds import chosen_levels, chosen_precisions

    shown: dict[str, Any] = {
        "levels": chosen_levels(level),
        "precisions": chosen_precisions(precision),
        "limit": request.limit,
    }
    answer = roofline(
        request.counters,
        choice=request.choice,
        by=by,
        top=request.top or None,
        ceilings=ceilings,
        device=device,
        amd=amd,
    )

    def drawn(theme: str) -> str:
        from wavewright.words.counters.roofline.svg import roofline_svg

        return roofline_svg(answer, theme=theme, **shown)

    def report() -> Parts:
        from wavewright.words.counters.roofline import roofline_report

        screen = console()
        parts = roofline_report(answer, width=screen.width, ascii_only=screen.options.ascii_only, **shown)
        return (*parts, *picture.lines())

    picture.write(drawn)
    request.give(answer, answer.points, report, request.counters.losses, is_cut=True, **picture.told)
