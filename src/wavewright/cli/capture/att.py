"""`wavewright capture att`: thread traces of chosen launches of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wavewright.base.bounds import Bounds
from wavewright.cli.kit.capture import JobValue
from wavewright.cli.kit.capture_output import capture_verb, take
from wavewright.cli.kit.kernel_choice import from_discovery, kernel_fields, kernel_options
from wavewright.cli.kit.numbers import Whole
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from wavewright.cli.kit.capture import CaptureRequest

_MASK = Bounds(1, (1 << 64) - 1)


class _Mask(Whole):
    """A mask or a number, decimal or 0x..."""

    kind = "a number, as 17 or 0x11"

    def number(self, text: str) -> float:
        """The number of a text."""
        return int(text, 0)


@capture_verb
@kernel_options
@click.option("--one", "is_single", is_flag=True, help="One launch only: no second one as noise floor.")
@click.option("--discovery", metavar="PATH", help="Choose from this earlier discovery, instead of taking one first.")
@click.option("--cu", "target_cu", type=Whole(Bounds(0, 15)), help="The traced CU (gfx9) or WGP; default: 1.")
@click.option(
    "--simd", "simds", type=_Mask(Bounds(0, 15)), metavar="MASK", help="gfx9: mask of SIMDs; newer: number of one SIMD."
)
@click.option("--se", "se_mask", type=_Mask(_MASK), metavar="MASK", help="Traced shader engines, as 0x11111111.")
@click.option(
    "--buffer", "buffer_bytes", type=JobValue("size"), metavar="SIZE", help="Of all traced engines, as 512MiB."
)
@click.option("--counters", metavar="NAMES", default="", help="gfx9: up to 8 SQ counters sampled into the trace.")
@click.option("--period", "counter_period", type=Whole(Bounds(1, 32)), help="How often; smaller is more often.")
@click.option("--activity", type=Whole(Bounds(1, 16)), help="gfx9: the eight activity counters, at this period.")
@click.option("--target-only", is_flag=True, help="gfx9: counters of the traced CU alone.")
@click.option("--serialize", "serialize_all", is_flag=True, help="Other kernels run one by one, too.")
@click.option("--next", "consecutive", type=Whole(Bounds(1, 10_000)), help="This many dispatches into one trace.")
def command(
    request: CaptureRequest,
    kernel: str | None,
    regex: str | None,
    exclude: str,
    launch: tuple[int, ...],
    is_single: bool,
    discovery: str | None,
    counters: str,
    **window: Any,
) -> None:
    """Where do the waves of a kernel spend their cycles? Thread traces of chosen launches.

    Without --kernel and --launch the program runs twice: first for a discovery, from which the largest kernel that is
    not a library's is taken, and two neighbouring warm launches of it, whose difference is the noise of the capture.
    The data are then judged by our own decoder: an empty, truncated or lossy trace is taken again with another window
    or a larger buffer, a bounded number of times.

    \b
    wavewright capture att -- python bench.py
    wavewright capture att --kernel pa_decode --launch 7-8 -- python bench.py
    wavewright capture att --discovery capture-bench-20261116-160000 -- python bench.py
    """
    from wavewright.capture.kinds import ThreadTraces

    if is_single and launch:
        raise UsageError("--one chooses a launch, and --launch says which", advice="give one of them")
    recording = ThreadTraces(
        **request.common,
        **kernel_fields(kernel, regex, exclude, launch),
        launch_count=1 if is_single else 2,
        counters=tuple(counters.replace(",", " ").split()),
        **window,
    )
    notes: tuple[str, ...] = ()
    if discovery is not None:
        recording, notes = from_discovery(recording, discovery, request.installation.rocm_version)
    take(request, recording, notes)
