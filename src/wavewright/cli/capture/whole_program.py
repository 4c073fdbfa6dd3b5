"""`wavewright capture discover`, `run` and `samples`: captures of all kernels of a program."""

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
def discover(request: CaptureRequest) -> None:
    """Which kernels does a program run, how often and how long, and which one to look at?

    The program runs once, with little overhead. The table says for each kernel its share of the GPU time, its
    launches, whether its grid fills the GPU, its registers and its LDS; then which kernel and which of its launches
    `capture att` would trace, and what was passed over.

    \b
    wavewright capture discover -- python bench.py
    wavewright capture discover --dry-run --rocm-version 6.3 -- ./gemm 4096
    """
    from wavewright.capture.kinds import Discovery

    take(request, Discovery(**request.common))


@capture_verb
@click.option(
    "--what",
    default="kernel,hip,memory,markers",
    show_default=True,
    metavar="PARTS",
    help="What is recorded, separated by commas; an unknown part lists all of them.",
)
def run(request: CaptureRequest, what: str) -> None:
    """Where does the time of a program go? A trace of kernels, HIP calls, copies and markers.

    \b
    wavewright capture run -- python train.py
    wavewright capture run --what kernel,markers -- ./app
    """
    from wavewright.capture.kinds import RunTrace

    parts = tuple(dict.fromkeys(part.strip() for part in what.split(",") if part.strip()))
    take(request, RunTrace(**request.common, parts=parts))


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
def samples(request: CaptureRequest, method: str, unit: str | None, interval: int | None) -> None:
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
