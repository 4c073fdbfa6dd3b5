"""`wavewright capture discover`: which kernels run, and which one to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.cli.kit.capture_output import capture_verb, take

if TYPE_CHECKING:
    from wavewright.cli.kit.capture import CaptureRequest


@capture_verb
def command(request: CaptureRequest) -> None:
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
