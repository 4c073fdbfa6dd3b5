"""`wavescope capture run`: a trace of the whole program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavescope.cli.kit.capture import capture_verb
from wavescope.cli.kit.taking import take
from wavescope.errors import UsageError

if TYPE_CHECKING:
    from wavescope.cli.kit.capture import CaptureRequest

PARTS = ("kernel", "hip", "memory", "markers", "hsa", "scratch", "rccl")


@capture_verb
@click.option(
    "--what",
    default="kernel,hip,memory,markers",
    show_default=True,
    metavar="PARTS",
    help=f"What is recorded, of {', '.join(PARTS)}.",
)
@click.option(
    "--tool",
    type=click.Choice(["rocprofv3", "rpd", "rocprof-compute"]),
    default="rocprofv3",
    show_default=True,
    help="What records it: rpd is runTracer.sh of rocmProfileData, rocprof-compute takes counters of every kernel.",
)
def command(request: CaptureRequest, what: str, tool: str) -> None:
    """Where does the time of a program go? A trace of kernels, HIP calls, copies and markers.

    \b
    wavescope capture run -- python train.py
    wavescope capture run --what kernel,markers -- ./app
    wavescope capture run --tool rpd -- python train.py
    """
    from wavescope.capture.wanted import RunTrace

    parts = tuple(dict.fromkeys(part.strip() for part in what.split(",") if part.strip()))
    unknown = [part for part in parts if part not in PARTS]
    if unknown or not parts:
        problem = f"--what has no {unknown[0][:40]!r}" if unknown else "--what is empty"
        raise UsageError(problem, advice=f"choose of {', '.join(PARTS)}")
    take(request, RunTrace(**request.common, parts=parts, tool=tool))
