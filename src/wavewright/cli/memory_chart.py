"""`wavewright memory-chart`: its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.counters import counter_verb
from wavewright.cli.kit.io import console, progress
from wavewright.cli.kit.picture import picture_options
from wavewright.cli.kit.request import amd_option
from wavewright.facts.metrics.names import NORMALIZATIONS

if TYPE_CHECKING:
    from wavewright.cli.kit.counters import CounterRequest
    from wavewright.cli.kit.picture import PictureRequest
    from wavewright.cli.kit.request import Parts


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
    """PATH is a counter capture, as of `wavewright counters`. Numbers are means over the chosen dispatches: choose one
    kernel with --kernel. `wavewright metrics NAME` explains each of them.

    \b
    wavewright memory-chart workloads/gemm/MI300X --kernel 0
    wavewright memory-chart run/ --per wave -o chart.svg
    """
    from wavewright.analysis.counters.memory_chart import memory_chart, one_table

    counters, choice = request.counters, request.choice
    with progress("computing metrics"):
        answer = memory_chart(counters, choice=choice, normalization=normalization, amd=amd)

    def drawn(theme: str) -> str:
        from wavewright.words.counters.memory_chart.svg import memory_chart_svg

        return memory_chart_svg(answer, theme=theme)

    def report() -> Parts:
        from wavewright.words.counters.memory_chart import memory_chart_report

        screen = console()
        has_colours = screen.color_system is not None and not screen.no_color
        return (*memory_chart_report(answer, width=screen.width, has_colours=has_colours), *picture.lines())

    picture.write(drawn)
    request.give(answer, one_table(answer), report, counters.losses, is_cut=True, **picture.told)
