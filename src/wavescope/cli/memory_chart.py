"""`wavescope memory-chart`: traffic between waves, caches and memory, as a diagram"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavescope.cli.kit.counters import counter_verb
from wavescope.cli.kit.io import console, progress
from wavescope.cli.kit.picture import picture_options
from wavescope.cli.kit.request import amd_option
from wavescope.facts.metrics.names import NORMALIZATIONS

if TYPE_CHECKING:
    from wavescope.cli.kit.counters import CounterRequest
    from wavescope.cli.kit.picture import PictureRequest
    from wavescope.cli.kit.request import Parts


@counter_verb
@click.option(
    "--per",
    "normalization",
    type=click.Choice(list(NORMALIZATIONS)),
    default="kernel",
    help="What requests are divided by. Default: kernel, which is the amount of one dispatch.",
)
@amd_option
@picture_options
def command(request: CounterRequest, normalization: str, amd: bool, picture: PictureRequest) -> None:
    """What flows between waves, caches and memory: requests, hit rates, latencies, and traffic against its peak.

    PATH is a counter capture, as of `wavescope counters`. Numbers are means over the chosen dispatches: choose one
    kernel with --kernel. `wavescope metrics NAME` explains each of them.

    \b
    wavescope memory-chart workloads/gemm/MI300X --kernel 0
    wavescope memory-chart run/ --per wave -o chart.svg
    """
    from wavescope.analysis.counters.memory_chart import memory_chart, one_table

    counters, choice = request.counters, request.choice
    with progress("computing metrics"):
        answer = memory_chart(counters, choice=choice, normalization=normalization, amd=amd)

    def drawn(theme: str) -> str:
        from wavescope.report.counters.memory_chart.svg import memory_chart_svg

        return memory_chart_svg(answer, theme=theme)

    def report() -> Parts:
        from wavescope.report.counters.memory_chart import memory_chart_report

        screen = console()
        has_colours = screen.color_system is not None and not screen.no_color
        return (*memory_chart_report(answer, width=screen.width, has_colours=has_colours), *picture.lines())

    picture.write(drawn)
    request.give(answer, one_table(answer), report, counters.losses, is_cut=True, **picture.told)
