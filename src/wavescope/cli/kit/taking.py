"""A capture as the terminal shows it: the plan, the verdicts as they come, and what to look at afterwards."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from wavescope.cli.kit.io import console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from rich.console import RenderableType

    from wavescope.capture.command import Command
    from wavescope.capture.wanted import Wanted
    from wavescope.cli.kit.capture import CaptureRequest


def take(request: CaptureRequest, wanted: Wanted) -> None:
    """Print the plan with --dry-run; else take the capture, and say what it is worth and what to do next."""
    if request.is_dry_run:
        show_plan(request, wanted)
    else:
        finish(request, take_job(request, wanted, request.folder))


def planned(request: CaptureRequest, wanted: Wanted, folder: Path) -> tuple[Wanted, tuple[Command, ...]]:
    """What is wanted with everything chosen, and the commands of the first attempt."""
    from dataclasses import replace

    from wavescope.capture.choices import chosen
    from wavescope.capture.commands import commands_of

    gpu = request.planned_gpu
    if gpu is not None and request.gpu != "any":
        wanted = replace(wanted, gpu_index=gpu.index)
    wanted, notes = chosen(wanted, gpu)
    raw = str((folder / "attempts" / "1" / "raw").absolute())
    commands = commands_of(wanted, request.installation, folder=raw, environment=request.machine.variables)
    return wanted, tuple(replace(each, notes=(*notes, *each.notes)) for each in commands)


def show_plan(request: CaptureRequest, *steps: Wanted) -> None:
    """Print what would be run, one step after the other."""
    plans = [planned(request, wanted, request.folder) for wanted in steps]
    if request.as_json:
        for wanted, commands in plans:
            say_json({"event": "planned", "wanted": wanted, "commands": list(map(_as_json, commands))})
        return
    from wavescope.report.capture.plan import plan_report

    for wanted, commands in plans:
        show(
            lambda width, wanted=wanted, commands=commands: plan_report(
                wanted,
                commands,
                request.installation,
                request.planned_gpu,
                width=width,
                attempts=request.attempts,
            )
        )


def show(report: Callable[[int], Iterable[RenderableType]], *, stderr: bool = False) -> None:
    """Print the parts of a report for a console of some width; commands for a shell are never wrapped or cut."""
    from wavescope.report.capture.shell import ShellText

    out = console(stderr=stderr)
    for part in report(out.width):
        out.print(part, soft_wrap=isinstance(part, ShellText))


def _as_json(command: Command) -> dict[str, Any]:
    return {
        "words": command.words,
        "variables": command.variables,
        "removed": command.removed,
        "cwd": command.cwd,
        "notes": command.notes,
        "line": command.line,
    }


def say_json(event: dict[str, Any]) -> None:
    """Print one event as one line."""
    from wavescope.base.shown import json_bytes

    click.echo(json_bytes(event).decode())
    sys.stdout.flush()


def take_job(request: CaptureRequest, wanted: Wanted, folder: Path) -> Any:
    """Take what is wanted into a job folder, and say what happens as it comes."""
    from wavescope.capture import taking

    return taking.take(
        request.job(wanted),
        folder,
        machine=request.machine,
        runner=request.runner,
        say=say_json,
        resume=request.is_resumed,
    )


def finish(request: CaptureRequest, result: Any) -> None:
    """Say what a capture is worth and what to look at."""
