"""`wavewright capture discover`, `att`, `counters`, `samples` and `run`: captures of a program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.cli.kit.capture_output import capture_verb, take
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from wavewright.cli.kit.capture import CaptureRequest

_STOCHASTIC = (7, 0)  #: First release with stochastic samples.


@capture_verb("discover")
def discover(request: CaptureRequest) -> None:
    """List the kernels of a program."""
    from wavewright.capture.kinds import Discovery

    take(request, Discovery(**request.common))


@capture_verb("att")
def att(
    request: CaptureRequest,
    launch: tuple[int, ...],
    is_single: bool,
    discovery: str | None,
    counters: str,
    kernel: str | None,
    regex: str | None,
    exclude: str,
    **window: Any,
) -> None:
    """Trace chosen launches of a kernel."""
    from wavewright.capture.kinds import ThreadTraces
    from wavewright.capture.plans.discovery import discovered, with_suggestion

    if is_single and launch:
        raise UsageError("--one chooses a launch, and --launch says which", advice="give one of them")
    recording = ThreadTraces(
        **request.common,
        **_kernel_choice(kernel, regex, exclude, launch),
        launch_count=1 if is_single else 2,
        counters=tuple(counters.replace(",", " ").split()),
        **window,
    )
    notes: tuple[str, ...] = ()
    if discovery is not None:
        if not Path(discovery).exists():
            advice = "--discovery takes the folder of a discovery"
            raise UsageError("no such file or folder", where=discovery, advice=advice)
        recording, notes = with_suggestion(recording, discovered(discovery), request.installation.rocm_version)
    take(request, recording, notes)


def _kernel_choice(kernel: str | None, regex: str | None, exclude: str, launch: tuple[int, ...]) -> dict[str, Any]:
    """Fields of `KernelChoice`."""
    if kernel is not None and regex is not None:
        raise UsageError("--kernel and --regex both choose kernels", advice="give one of them")
    if kernel is not None and not kernel.strip():
        raise UsageError("--kernel has no name", advice="`wavewright capture discover` lists the kernels")
    return {"kernel": kernel or "", "kernel_regex": regex or "", "exclude_regex": exclude, "launches": launch}


@capture_verb("counters")
def counters(
    request: CaptureRequest,
    names: tuple[str, ...],
    target: str | None,
    kernel: str | None,
    regex: str | None,
    exclude: str,
    launch: tuple[int, ...],
    **choice: Any,
) -> None:
    """Take hardware counters, in as many passes as it takes."""
    from wavewright.capture.kinds import Counters
    from wavewright.capture.plans.counter_passes import passes_for

    gpu = target or (request.planned_gpu and request.planned_gpu.target)
    if not gpu:
        raise UsageError("for which GPU? None is found here", advice="name it: --target gfx942 or --target MI300X")
    planned = passes_for(gpu, counters=names, **choice)
    chosen = _kernel_choice(kernel, regex, exclude, launch)
    recording = Counters(**request.common, **chosen, passes=planned.passes, definitions=planned.definitions)
    take(request, recording, planned.notes)


@capture_verb("run")
def run(request: CaptureRequest, what: str) -> None:
    """Trace a whole program."""
    from wavewright.capture.kinds import RunTrace

    parts = tuple(dict.fromkeys(part.strip() for part in what.split(",") if part.strip()))
    take(request, RunTrace(**request.common, parts=parts))


@capture_verb("samples")
def samples(request: CaptureRequest, method: str, **interval: Any) -> None:
    """Take PC samples of all kernels."""
    from wavewright.capture.kinds import Samples
    from wavewright.capture.rocprofv3.options import version_of

    chosen_method = None if method == "auto" else method
    if chosen_method is None and () < version_of(request.installation.rocm_version) < _STOCHASTIC:
        chosen_method = "host_trap"
    take(request, Samples(**request.common, method=chosen_method, **interval))
