"""`wavewright capture samples`: PC samples of a whole program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.base.bounds import SOME
from wavewright.cli.kit.capture_output import capture_verb, take
from wavewright.cli.kit.numbers import Whole

if TYPE_CHECKING:
    from wavewright.cli.kit.capture import CaptureRequest

_STOCHASTIC = (7, 0)  #: First release with stochastic samples.


@capture_verb
@click.option(
    "--method",
    type=click.Choice(["auto", "host_trap", "stochastic"]),
    default="auto",
    show_default=True,
    help="auto: what this GPU supports; stochastic samples tell why a wave waits.",
)
@click.option(
    "--unit",
    type=click.Choice(["time", "cycles", "instructions"]),
    help="Of the interval: time in microseconds (host_trap), cycles (stochastic).",
)
@click.option("--interval", type=Whole(SOME), help="Between two samples; stochastic: a power of two.")
def command(request: CaptureRequest, method: str, unit: str | None, interval: int | None) -> None:
    """Where does a program spend its GPU time, instruction by instruction? PC samples of all its kernels.

    Samples cost little and see every kernel and every CU, but not the order of events: for that, `capture att`.

    \b
    wavewright capture samples -- python bench.py
    wavewright capture samples --method host_trap --interval 100 -- ./gemm 4096
    """
    from wavewright.capture.kinds import Samples
    from wavewright.capture.rocprofv3.options import version_of

    chosen_method = None if method == "auto" else method
    if chosen_method is None and () < version_of(request.installation.rocm_version) < _STOCHASTIC:
        chosen_method = "host_trap"
    take(request, Samples(**request.common, method=chosen_method, unit=unit, interval=interval))
