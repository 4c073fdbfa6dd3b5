"""`wavewright capture run`: a trace of the whole program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.capture import capture_verb
from wavewright.cli.kit.taking import take

if TYPE_CHECKING:
    from wavewright.cli.kit.capture import CaptureRequest


@capture_verb
@click.option(
    "--what",
    default="kernel,hip,memory,markers",
    show_default=True,
    metavar="PARTS",
    help="What is recorded, separated by commas; an unknown part lists all of them.",
)
@click.option(
    "--tool",
    type=click.Choice(["auto", "rocprofv3", "rpd", "rocprof-compute"]),
    default="auto",
    show_default=True,
    help="What records it; auto = the first that is installed. rpd is runTracer.sh of rocmProfileData, rocprof-compute "
    "takes counters of every kernel.",
)
def command(request: CaptureRequest, what: str, tool: str) -> None:
    """Where does the time of a program go? A trace of kernels, HIP calls, copies and markers.

    \b
    wavewright capture run -- python train.py
    wavewright capture run --what kernel,markers -- ./app
    wavewright capture run --tool rpd -- python train.py
    """
    from wavewright.capture.plans.other_tools import installed_tool
    from wavewright.capture.wanted import RunTrace

    notes = []
    if tool == "auto":
        tool = "rocprofv3" if request.rocm_version or request.rocprofv3 else installed_tool(request.machine)
        notes = [] if tool == "rocprofv3" else [f"there is no rocprofv3 here: {tool} records the run"]
    parts = tuple(dict.fromkeys(part.strip() for part in what.split(",") if part.strip()))
    take(request, RunTrace(**request.common, parts=parts, tool=tool), notes)
