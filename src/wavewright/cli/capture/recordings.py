"""`wavewright capture discover`, `att`, `counters`, `samples`, `run` and `input`: captures of a program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from wavewright.base.files import open_regular
from wavewright.capture.inputs.checks import CheckedFile, checked
from wavewright.capture.inputs.files import read_input
from wavewright.capture.inputs.jobs import all_recordings
from wavewright.capture.kinds import Counters, Discovery, RunTrace, Samples, ThreadTraces
from wavewright.capture.plans.counter_passes import passes_for
from wavewright.capture.plans.discovery import discovered, with_suggestion
from wavewright.capture.rocprofv3.options import version_of
from wavewright.cli.kit.capture import STAND_IN, CaptureRequest
from wavewright.cli.kit.capture_output import NOT_GOOD, take
from wavewright.cli.kit.capture_output import take_elsewhere as take_elsewhere  # the group takes it from here
from wavewright.cli.kit.io import emit_event, show
from wavewright.errors import UsageError

_STOCHASTIC = (7, 0)  #: First release with stochastic samples.
_DEFINITIONS_BYTES_MAX = 4 << 20  #: Bytes of a file of counter definitions that are read.


def discover(request: CaptureRequest) -> None:
    """List the kernels of a program."""
    take(request, Discovery(**request.common))


def att(
    request: CaptureRequest,
    launch: tuple[int, ...],
    is_single: bool,
    discovery: str | None,
    counters: str,
    kernel: str | None,
    regex: str | None,
    exclude: str,
    arguments_library: Path | None,
    **window: Any,
) -> None:
    """Trace chosen launches of a kernel."""
    if is_single and launch:
        raise UsageError("--one chooses a launch, and --launch says which", advice="give one of them")
    if arguments_library is not None and not arguments_library.is_file():
        advice = "build it: examples/hip-arguments/record_arguments.cpp says how in its first lines"
        raise UsageError("no such library", where=str(arguments_library), advice=advice)
    recording = ThreadTraces(
        **request.common,
        **_kernel_choice(kernel, regex, exclude, launch),
        launch_count=1 if is_single else 2,
        counters=tuple(counters.replace(",", " ").split()),
        arguments_library=str(arguments_library.absolute()) if arguments_library else "",
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
    gpu = target or (request.planned_gpu and request.planned_gpu.target)
    if not gpu:
        raise UsageError("for which GPU? None is found here", advice="name it: --target gfx942 or --target MI300X")
    planned = passes_for(gpu, counters=names, **choice)
    chosen = _kernel_choice(kernel, regex, exclude, launch)
    recording = Counters(**request.common, **chosen, passes=planned.passes, definitions=planned.definitions)
    take(request, recording, planned.notes)


def run(request: CaptureRequest, what: str, tool: str) -> None:
    """Trace a whole program."""
    parts = tuple(dict.fromkeys(part.strip() for part in what.split(",") if part.strip()))
    take(request, RunTrace(**request.common, parts=parts, tool=tool))


def samples(request: CaptureRequest, method: str, **interval: Any) -> None:
    """Take PC samples of all kernels."""
    chosen_method = None if method == "auto" else method
    # An unknown release, (), is left to choose by itself.
    if chosen_method is None and () < version_of(request.installation.rocm_version) < _STOCHASTIC:
        chosen_method = "host_trap"
    take(request, Samples(**request.common, method=chosen_method, **interval))


def input(request: CaptureRequest, path: Path) -> None:  # noqa: A001 - the name of the verb
    """Check an input file, and run it."""
    file = checked(read_input(path), request.installation)
    is_alone = request.program == (STAND_IN,)
    if request.as_json:
        emit_event({"event": "checked", **file.as_json()})
    else:
        from wavewright.words.capture.input_files import checks_report

        show(lambda width: checks_report(file), stderr=not is_alone)
    if not is_alone:
        _run_jobs(request, file)
    elif not file.is_good:
        raise click.exceptions.Exit(NOT_GOOD)


def _definitions_in(name: str) -> str | None:
    """The text of a file with definitions of counters, which a job names; None = it cannot be read."""
    try:
        with open_regular(name) as stream:
            return stream.read(_DEFINITIONS_BYTES_MAX).decode()
    except (OSError, ValueError):
        return None


def _run_jobs(request: CaptureRequest, file: CheckedFile) -> None:
    recordings = all_recordings([job.keys for job in file.jobs], request.common, _definitions_in)
    if not recordings:
        what = "there is nothing in it that can be run"
        raise UsageError(what, where=file.name, advice="see what is said about each job")
    if len(recordings) == 1:
        take(request, recordings[0])
        return
    is_good = True
    for number, recording in enumerate(recordings, start=1):
        try:
            take(replace(request, output=request.folder / f"capture_{number}", opens=False), recording)
        except click.exceptions.Exit as ending:  # one that is not good does not stop the others
            if ending.exit_code != NOT_GOOD:
                raise
            is_good = False
    if not is_good:
        raise click.exceptions.Exit(NOT_GOOD)
