"""A capture as the terminal shows it: the plan, the verdicts as they come, and what to look at afterwards."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from wavewright.base.shown import quoted
from wavewright.cli.kit.io import console, emit_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from wavewright.capture.jobs.job import Job
    from wavewright.capture.jobs.result import Result
    from wavewright.capture.plans.command import Command
    from wavewright.capture.plans.planning import Planned
    from wavewright.capture.wanted import Wanted
    from wavewright.cli.kit.capture import CaptureRequest
    from wavewright.model.blocks import AnyBlock

_NOT_GOOD = 1


def take(request: CaptureRequest, wanted: Wanted, notes: Sequence[str] = ()) -> None:
    """Print the plan with --dry-run; else take the capture, and say what it is worth and what to do next.

    `notes` say what was chosen before. Ends the program with status 1 if the capture is not good.
    """
    if request.is_dry_run:
        show_plan(request, wanted if request.program else _stored_job(request.folder).wanted, notes)
        return
    _finish(request, taken(request, wanted, notes))


def take_elsewhere(request: CaptureRequest, verb: str, words: Sequence[str]) -> None:
    """Take the capture on another machine or in a container, bring its folder, and say what it is worth."""
    from wavewright.base.shown import printable
    from wavewright.capture.jobs.folder import FINISHED, JOB
    from wavewright.capture.jobs.record import stored_result
    from wavewright.capture.other_machines import relay, take_there

    assert request.place is not None  # noqa: S101 - asked before
    if request.is_dry_run:
        form = ["--json"] if request.as_json else []
        status = relay(request.place, ["capture", verb, *form, *words], lambda line: click.echo(printable(line)))
        raise click.exceptions.Exit(status)
    if not (request.is_resumed and (request.folder / FINISHED).is_file()):
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
        _open(result.folder)
    if not result.is_good:
        raise click.exceptions.Exit(_NOT_GOOD)


def taken(request: CaptureRequest, wanted: Wanted, notes: Sequence[str] = ()) -> Result:
    """What became of a capture that is taken now, told as it goes on."""
    from wavewright.capture.jobs import taking
    from wavewright.capture.machines.runner import Runner

    with _teller(request) as say, _no_empty_folder(request.folder):
        for note in notes:
            say({"event": "note", "text": note})
        return taking.take(
            request.job(wanted) if request.program else _stored_job(request.folder),
            request.folder,
            machine=request.machine,
            runner=Runner(),
            installation=request.installation,
            say=say,
            resume=request.is_resumed,
            force=request.is_forced,
            clean=request.is_cleaned,
        )


def _stored_job(folder: Path) -> Job:
    from wavewright.capture.jobs.folder import JobFolder

    return JobFolder(folder).stored_job()[1]


@contextmanager
def _no_empty_folder(folder: Path) -> Iterator[None]:
    """Leave no folder behind in which nothing was tried, because a GPU or the profiler was missing or busy."""
    from wavewright.errors import WavewrightError

    is_new = not folder.exists()
    try:
        yield
    except WavewrightError:
        if is_new and folder.is_dir() and not any((folder / name / "1").exists() for name in ("attempts", "discovery")):
            from wavewright.capture.jobs.folder import JobFolder

            with suppress(WavewrightError, OSError):
                JobFolder(folder).remove()
                (folder / ".lock").unlink(missing_ok=True)
                folder.rmdir()
        raise


@contextmanager
def _teller(request: CaptureRequest) -> Iterator[Callable[[dict[str, Any]], None]]:
    """What takes events: lines of JSON on standard output, or sentences on standard error with a progress display."""
    if request.as_json:
        yield emit_event
        return
    from wavewright.words.capture.events import event_line, progress_line

    out = console(stderr=True)
    status = out.status("the capture is prepared") if sys.stderr.isatty() else None

    def say(event: dict[str, Any]) -> None:
        now = progress_line(event)
        if status is not None and now is not None:
            status.update(now)
        line = event_line(event)
        if line is not None:
            out.print(line)

    if status is None:
        yield say
        return
    with status:
        yield say


def _show_result(request: CaptureRequest, result: Result) -> None:
    from wavewright.capture.wanted import Discovery
    from wavewright.words.capture.result import result_json, result_report

    if isinstance(result.job.wanted, Discovery) and result.best is not None and result.best.judgement.is_kept:
        _show_discovery(request, result)
        return
    if request.as_json:
        emit_event(result_json(result))
    else:
        show(lambda width: result_report(result, width=width))


def _show_discovery(request: CaptureRequest, result: Result) -> None:
    from wavewright.words.capture.discovery import discovery_json, discovery_report
    from wavewright.words.capture.result import result_json

    kernels = result.kernels()
    suggestion = kernels.suggestion()
    words = _att_words(request, result)
    if request.as_json:
        emit_event({**result_json(result), **discovery_json(kernels, suggestion, " ".join(words))})
    else:
        show(lambda width: discovery_report(kernels, suggestion, words, width=width))


def _att_words(request: CaptureRequest, result: Result) -> list[str]:
    """The command that traces what a discovery suggests, quoted for a shell: the same program in the same way."""
    wanted = result.job.wanted
    options = [word for name, value in wanted.variables.items() for word in ("--env", f"{name}={value}")]
    options += ["--cwd", wanted.cwd] if wanted.cwd else []
    words = ["wavewright", "capture", "att", "--discovery", str(result.folder), *options, "--", *wanted.program]
    return [quoted(word) for word in words]


def _open(folder: Path) -> None:
    """Show the capture in a browser, as `wavewright open` does."""
    root = click.get_current_context().find_root().command
    root.main(["open", str(folder)], prog_name="wavewright", standalone_mode=False)


def show_plan(request: CaptureRequest, wanted: Wanted, notes: Sequence[str] = ()) -> None:
    """Print what would be run, one step after the other, and the attempts that would follow."""
    from wavewright.capture.jobs.plan import STAND_IN_KERNEL, STAND_IN_LAUNCHES, first_steps

    if request.installation.is_assumed and not request.rocm_version:
        notes = ("no rocprofv3 was found here: this is for the newest tested release; --rocm-version 7.2", *notes)
    steps = first_steps(
        request.job(wanted),
        request.installation,
        request.planned_gpu,
        folder=request.folder,
        variables=request.machine.variables,
    )
    launches = " ".join(map(str, STAND_IN_LAUNCHES))
    stand_in_note = f"{STAND_IN_KERNEL} and launches {launches} stand for what the discovery will suggest"
    plans: list[tuple[Planned, tuple[str, ...]]] = [(step, ()) for step in steps[:-1]]
    plans.append((steps[-1], (*notes, stand_in_note) if len(steps) > 1 else tuple(notes)))
    if request.as_json:
        from wavewright.capture.jobs.stored import wanted_values

        for number, (plan, more) in enumerate(plans, 1):
            commands = list(map(_as_json, plan.commands))
            event = {"event": "planned", "step": number, "steps": len(plans), "wanted": wanted_values(plan.wanted)}
            emit_event({**event, "commands": commands, "notes": [*more, *plan.notes]})
        return
    from wavewright.words.capture.plan import plan_report

    def report(width: int) -> Iterator[AnyBlock]:
        for number, (plan, more) in enumerate(plans, 1):
            yield from plan_report(
                plan.wanted,
                plan.commands,
                request.installation,
                request.planned_gpu,
                notes=(*more, *plan.notes),
                width=width,
                attempts=request.attempts,
                step=(number, len(plans)),
            )

    show(report)


def show(report: Callable[[int], Iterable[AnyBlock]], *, stderr: bool = False) -> None:
    """Print the parts of a report for a console of some width."""
    out = console(stderr=stderr)
    for part in report(out.width):
        out.print(part)


def _as_json(command: Command) -> dict[str, Any]:
    return {
        "words": command.words,
        "variables": command.variables,
        "removed": command.removed,
        "cwd": command.cwd,
        "notes": command.notes,
        "line": command.line,
    }
