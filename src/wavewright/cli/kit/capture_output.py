"""Verbs that take a capture, here or elsewhere: the plan, the verdicts as they come, and what to look at afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import click
from msgspec import to_builtins

from wavewright.base.shown import printable, quoted
from wavewright.capture.jobs import capture_run
from wavewright.capture.jobs.folder import JOB, JobFolder
from wavewright.capture.jobs.job import Job
from wavewright.capture.jobs.plan import STAND_IN_KERNEL, STAND_IN_LAUNCHES, first_steps
from wavewright.capture.jobs.result import Result, stored_result
from wavewright.capture.kinds import Discovery, Recording, is_by_rocprofv3
from wavewright.capture.other_machines import relay, take_there
from wavewright.cli.kit.capture import CaptureRequest, words_for_there
from wavewright.cli.kit.io import console, emit_event, show
from wavewright.errors import WavewrightError
from wavewright.model.blocks import AnyBlock

NOT_GOOD = 1  #: Exit status after a capture that is not good.


def take(request: CaptureRequest, recording: Recording, notes: Sequence[str] = ()) -> None:
    """Print the plan with --dry-run; else take the capture, and say what it is worth and what to do next.

    `notes` say what was chosen before. Ends the program with status 1 if the capture is not good.
    """
    job = request.job(recording) if request.program else JobFolder(request.folder).stored_job()
    if request.is_dry_run:
        _show_plan(request, job, notes)
        return
    with _teller(request) as say, _no_empty_folder(request.folder):
        for note in notes:
            say({"event": "note", "text": note})
        result = capture_run.take(
            job,
            request.folder,
            machine=request.machine,
            installation=request.installation if is_by_rocprofv3(job.recording) else None,
            say=say,
            resume=request.is_resumed,
            force=request.is_forced,
            clean=request.is_cleaned,
        )
    _finish(request, result)


def take_elsewhere(request: CaptureRequest, verb: str, typed: Sequence[str]) -> None:
    """Take the capture on another machine or in a container, bring its folder, and say what it is worth."""
    assert request.place is not None  # noqa: S101 - asked before
    words = words_for_there(typed)
    if request.is_dry_run:
        form = ["--json"] if request.as_json else []
        status = relay(request.place, ["capture", verb, *form, *words], lambda line: click.echo(printable(line)))
        raise click.exceptions.Exit(status)
    if not (request.is_resumed and JobFolder(request.folder).is_finished):
        with _teller(request) as say:
            how = {"resume": request.is_resumed, "force": request.is_forced}
            take_there(request.place, verb, ["--json", *words], request.folder, say=say, **how)
    if (request.folder / JOB).is_file():
        _finish(request, stored_result(request.folder))
    else:
        click.echo(printable(f"several captures are in {request.folder}"))


def _finish(request: CaptureRequest, result: Result) -> None:
    _show_result(request, result)
    if request.opens and result.best is not None and result.best.judgement.is_kept:
        root = click.get_current_context().find_root().command
        root.main(["open", str(result.folder)], prog_name="wavewright", standalone_mode=False)
    if not result.is_good:
        raise click.exceptions.Exit(NOT_GOOD)


@contextmanager
def _no_empty_folder(folder: Path) -> Iterator[None]:
    """Leave no folder behind in which nothing was tried, because a GPU or the profiler was missing or busy."""
    is_new = not folder.exists()
    try:
        yield
    except WavewrightError:
        if is_new and folder.is_dir() and not any((folder / name / "1").exists() for name in ("attempts", "discovery")):
            with suppress(WavewrightError, OSError):
                JobFolder(folder).remove()
                (folder / ".lock").unlink(missing_ok=True)
                folder.rmdir()
        raise


@contextmanager
def _teller(request: CaptureRequest) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A function that shows events: lines of JSON on standard output, or sentences on standard error."""
    if request.as_json:
        yield emit_event
        return
    from wavewright.words.capture.events import event_lines, progress_line

    out = console(stderr=True)
    status = out.status("the capture is prepared") if sys.stderr.isatty() else None

    def say(event: dict[str, Any]) -> None:
        now = progress_line(event)
        if status is not None and now is not None:
            status.update(now)
        for line in event_lines(event):
            out.print(line)

    with status or nullcontext():
        yield say


def _show_result(request: CaptureRequest, result: Result) -> None:
    from wavewright.words.capture.discovery import discovery_json, discovery_report
    from wavewright.words.capture.result import result_json, result_report

    is_kept = result.best is not None and result.best.judgement.is_kept
    kernels = result.kernels() if isinstance(result.job.recording, Discovery) and is_kept else None
    if kernels is None:
        if request.as_json:
            emit_event(result_json(result))
        else:
            show(lambda width: result_report(result, width=width))
        return
    suggestion, words = kernels.suggestion(), _att_words(result)
    if request.as_json:
        emit_event({**result_json(result), **discovery_json(kernels, suggestion, " ".join(words))})
    else:
        show(lambda width: discovery_report(kernels, suggestion, words, width=width))


def _att_words(result: Result) -> list[str]:
    """The command that traces what a discovery suggests, quoted for a shell: the same program in the same way."""
    recording = result.job.recording
    options = [word for name, value in recording.variables.items() for word in ("--env", f"{name}={value}")]
    options += ["--cwd", recording.cwd] if recording.cwd else []
    words = ["wavewright", "capture", "att", "--discovery", str(result.folder), *options, "--", *recording.program]
    return [quoted(word) for word in words]


def _show_plan(request: CaptureRequest, job: Job, notes: Sequence[str]) -> None:
    """Print what would be run, one step after the other, and the attempts that would follow."""
    installation = request.installation if is_by_rocprofv3(job.recording) else None
    gpu = request.planned_gpu
    if installation is not None and installation.is_assumed and not request.rocm_version:
        notes = ("no rocprofv3 was found here: this is for the newest tested release; --rocm-version 7.2", *notes)
    steps = first_steps(job, installation, gpu, folder=request.folder, variables=request.machine.variables)
    if len(steps) > 1:
        launches = " ".join(map(str, STAND_IN_LAUNCHES))
        notes = (*notes, f"{STAND_IN_KERNEL} and launches {launches} stand for what the discovery will suggest")
    plans = [
        (number, step, (*(notes if step is steps[-1] else ()), *step.notes)) for number, step in enumerate(steps, 1)
    ]
    if request.as_json:
        for number, plan, remarks in plans:
            event = {"event": "planned", "step": number, "steps": len(plans), "wanted": to_builtins(plan.recording)}
            commands = [command.as_json() for command in plan.commands]
            emit_event({**event, "commands": commands, "notes": list(remarks)})
        return
    from wavewright.words.capture.plan import plan_report

    def report(width: int) -> Iterator[AnyBlock]:
        for number, plan, remarks in plans:
            yield from plan_report(
                plan.recording,
                plan.commands,
                installation,
                gpu,
                notes=remarks,
                width=width,
                attempts=request.attempts,
                step=(number, len(plans)),
            )

    show(report)
