"""`wavescope roofline`: is a kernel bound by arithmetic or by which memory level, and how far from the roof?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wavescope.cli._counters import counter_verb
from wavescope.cli._io import console
from wavescope.errors import UsageError
from wavescope.metrics import RULES

if TYPE_CHECKING:
    from wavescope.cli._counters import AskedCounters


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
@click.option("--device", type=int, metavar="N", help="GPU of roofline.csv whose benchmark counts. Default: the first.")
@click.option(
    "--compat",
    type=click.Choice(RULES[1:]),
    help="Bytes as this version of ROCm Compute Profiler counts them: lines of 64 bytes on every GPU.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a picture: FILE.svg, or FILE.png with the extra [plot].",
)
@click.option(
    "--theme",
    type=click.Choice(["auto", "light", "dark"]),
    default="auto",
    help="Colours of the picture; auto = dark where the viewer prefers it (PNG: light).",
)
@click.option("--force", is_flag=True, help="Replace an existing FILE.")
def _roofline(
    asked: AskedCounters,
    by: str,
    precision: str,
    level: str,
    ceilings: str,
    device: int | None,
    compat: str | None,
    output: Path | None,
    theme: str,
    force: bool,
) -> None:
    """Kernels under the roofs of arithmetic and of each level of memory.

    PATH is a counter capture: a workload folder of ROCm Compute Profiler, its analysis database, or counters of
    rocprofv3. A roofline.csv beside them gives the measured roofs.
    """
    from wavescope.analysis.roofline import roofline
    from wavescope.analysis.roofline.kinds import chosen_levels, chosen_precisions
    from wavescope.report.roofline import roofline_report

    levels, precisions = chosen_levels(level), chosen_precisions(precision)
    if output is not None:
        from wavescope.export.picture import check_picture

        check_picture(output)
    elif theme != "auto" or force:
        what = "--theme and --force are about a picture, and none is written"
        raise UsageError(what, advice="give its name with -o FILE.svg")
    answer = roofline(
        asked.counters,
        choice=asked.choice,
        by=by,
        top=asked.top or None,
        ceilings=ceilings,
        device=device,
        rules=compat or "corrected",
    )
    if output is not None:
        from wavescope.export.picture import write_picture
        from wavescope.report.roofline_svg import roofline_svg

        svg = roofline_svg(answer, levels=levels, precisions=precisions, limit=asked.limit, theme=theme)
        write_picture(svg, output, force=force)
    out = console()
    asked.give(
        answer,
        answer.points,
        lambda: roofline_report(answer, levels=levels, precisions=precisions, limit=asked.limit, width=out.width),
        is_cut=True,
        **({"output": str(output)} if output else {}),
    )


command = counter_verb(_roofline)
