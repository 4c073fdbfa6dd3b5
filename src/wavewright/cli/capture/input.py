"""`wavewright capture -i FILE`: an input file of rocprofv3 explained, and run as it is meant."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.capture import capture_verb
from wavewright.cli.kit.io import emit_event, with_options
from wavewright.cli.kit.taking import show, take
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wavewright.capture.inputs.explanation import Explanation
    from wavewright.capture.wanted import Wanted
    from wavewright.cli.kit.capture import CaptureRequest

_STAND_IN = "PROGRAM"  #: Where no program is given: the file is only explained.
_NOT_GOOD = 1
_DEFINITIONS_BYTES_MAX = 4 << 20


def _verb(request: CaptureRequest, path: Path, is_explained_only: bool, target: str | None) -> None:
    """What does an input file of rocprofv3 really do? Explains each job for the installed release, and runs it.

    Without a program the file is only explained; --rocm-version tells for which release. With one, each job is run as
    its author means it, by a command of its own: what rocprofv3 would drop, refuse or read otherwise is repaired and
    said. Status 1: some job is not run as meant.

    \b
    wavewright capture -i input.yaml
    wavewright capture -i input.yaml --rocm-version 7.13
    wavewright capture -i input.yaml -- python bench.py
    """
    from wavewright.capture.inputs.explanation import explain
    from wavewright.capture.inputs.files import read_input
    from wavewright.capture.inputs.findings import Level
    from wavewright.facts import gpus

    has_program = request.program != (_STAND_IN,)
    gpu = request.planned_gpu
    explanation = explain(
        read_input(path),
        request.installation,
        program=request.program,
        cwd=request.cwd or ".",
        contents=_contents,
        target=gpus.of(target).target if target else gpu.target if gpu is not None else "",
    )
    _say(request, explanation, is_alone=is_explained_only or not has_program)
    is_good = all(job.is_as_meant for job in explanation.jobs) and bool(explanation.jobs)
    is_good = is_good and not any(finding.level is Level.ERROR for finding in explanation.findings)
    if is_explained_only or not has_program:
        if not is_good:
            raise click.exceptions.Exit(_NOT_GOOD)
        return
    _run(request, explanation)


_OPTIONS = (
    click.option(
        "-i",
        "--input",
        "path",
        type=click.Path(path_type=Path),
        required=True,
        metavar="FILE",
        help="Input file of rocprofv3: .yaml, .yml, .json or .txt.",
    ),
    click.option("--explain", "is_explained_only", is_flag=True, help="Only explain the file, and run nothing."),
    click.option("--target", metavar="GPU", help="The GPU, as gfx942 or MI300X, whose counters are compared."),
)
command = capture_verb(with_options(_verb, _OPTIONS), stand_in=_STAND_IN)


def _contents(name: str) -> str | None:
    """A file with definitions of counters, which a job names."""
    from wavewright.base.files import open_regular

    try:
        with open_regular(name) as stream:
            return stream.read(_DEFINITIONS_BYTES_MAX).decode()
    except (OSError, ValueError):
        return None


def _say(request: CaptureRequest, explanation: Explanation, *, is_alone: bool) -> None:
    from wavewright.report.capture.input_files import explanation_json, explanation_report

    if request.as_json:
        emit_event({"event": "explained", **explanation_json(explanation)})
    else:
        show(lambda width: explanation_report(explanation, width=width), stderr=not is_alone)


def _run(request: CaptureRequest, explanation: Explanation) -> None:
    wishes = joined([wanted for job in explanation.jobs for wanted in job.wanted])
    if not wishes:
        what = "there is nothing in it that can be run"
        raise UsageError(what, where=explanation.name, advice="see what is said about each job")
    is_good = True
    for number, wanted in enumerate(wishes, start=1):
        complete = _completed(request, wanted)
        if len(wishes) == 1:
            take(request, complete)
            return
        below = replace(request, output=request.folder / f"capture_{number}", opens=False)
        if request.write_input is not None:
            name = request.write_input
            below = replace(below, write_input=name.with_name(f"{name.stem}_{number}{name.suffix}"))
        is_good &= _is_taken(below, complete, take)
    if not is_good:
        raise click.exceptions.Exit(_NOT_GOOD)


def _is_taken(request: CaptureRequest, wanted: Wanted, take: Callable[..., None]) -> bool:
    """Take one capture of several: one that is not good does not stop the others."""
    try:
        take(request, wanted)
    except click.exceptions.Exit as ending:
        if ending.exit_code != _NOT_GOOD:
            raise
        return False
    return True


def _completed(request: CaptureRequest, wanted: Wanted) -> Wanted:
    """With what the command line says about the program and its options."""
    common: dict[str, Any] = request.common
    return replace(wanted, **common | {"extra": (*wanted.extra, *request.extra)})


def joined(wishes: Sequence[Wanted]) -> list[Wanted]:
    """The same, with passes of counters that differ in nothing else made one capture."""
    from wavewright.capture.wanted import Counters

    results: list[Wanted] = []
    for wanted in wishes:
        before = results[-1] if results else None
        if isinstance(wanted, Counters) and isinstance(before, Counters):
            together = replace(before, passes=(*before.passes, *wanted.passes))
            if replace(wanted, passes=together.passes) == together:
                results[-1] = together
                continue
        results.append(wanted)
    return results
