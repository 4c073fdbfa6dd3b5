"""`wavewright capture run`: a trace of the whole program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.capture_output import capture_verb, take

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
def command(request: CaptureRequest, what: str) -> None:
    """Where does the time of a program go? A trace of kernels, HIP calls, copies and markers.

    \b
    wavewright capture run -- python train.py
    wavewright capture run --what kernel,markers -- ./app
    """
    from wavewright.capture.kinds import RunTrace

    parts = tuple(dict.fromkeys(part.strip() for part in what.split(",") if part.strip()))
    take(request, RunTrace(**request.common, parts=parts))
