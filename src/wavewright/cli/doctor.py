"""`wavewright doctor`: is everything here that a good capture needs?"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.io import console, emit_json, json_option, progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.capture.doctor import Change, Check
    from wavewright.capture.machines.machine import Machine
    from wavewright.capture.machines.runner import Runner

_EXIT_CODE = 5  #: Something is missing without which no capture can be taken.


@click.command()
@json_option
@click.option("--all", "is_complete", is_flag=True, help="Say of every check why it matters; cut no line.")
@click.option("--host", metavar="[USER@]MACHINE", help="Look at that machine, over ssh; nothing is installed there.")
@click.option("--container", metavar="NAME", help="Look into this container, here or on --host.")
@click.option("--gpu", "asks_gpu", is_flag=True, help="Also ask the GPUs what they can count and sample: opens them.")
@click.option("--full", is_flag=True, help="Also compile and capture a tiny program on a GPU; implies --gpu.")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    help="Where captures would go, for the room on the disk; default: this folder, or home on another machine.",
)
@click.option("--yes", is_flag=True, help="Give Radeons the steady clock that counters need; says how to go back.")
def command(
    as_json: bool,
    is_complete: bool,
    host: str | None,
    container: str | None,
    asks_gpu: bool,
    full: bool,
    output: str | None,
    yes: bool,
) -> None:
    """Is everything here that a good capture needs?

    Looks at driver, devices, rights, GPUs, ROCm, rocprofv3, variables, kernel settings and room, and says of each
    what was seen, why it matters and which command fixes it. Changes nothing without --yes, and never needs root.

    The exit status is 0 unless there is an error: then, and so on a machine without an AMD GPU, it is 5, because no
    capture can be taken there. Reading and showing data needs nothing of all this.

    \b
    wavewright doctor
    wavewright doctor --host me@gpu-node --gpu
    wavewright doctor --json > doctor.json
    """
    folder = _output_folder(output, is_here=not (host or container))
    with _connected(host, container) as (machine, runner):
        with progress("looking at the machine"):
            changes = _changed(machine) if yes else ()
            checks = _examined(machine, folder, asks_gpu=asks_gpu or full, runner=runner if full else None)
        if as_json:
            _emit(machine, checks, changes)
        else:
            _show(machine, checks, changes, is_complete=is_complete)
    if yes and not changes and not as_json:
        console(stderr=True).print("--yes: there was nothing to change")
    if any(check.status == "error" for check in checks):
        sys.exit(_EXIT_CODE)


@contextmanager
def _connected(host: str | None, container: str | None) -> Iterator[tuple[Machine, Runner]]:
    if host or container:
        from wavewright.capture.remote import connect

        with connect(host=host, container=container) as connection:
            yield connection
        return
    from wavewright.capture.machines.local_machine import LocalMachine
    from wavewright.capture.machines.local_runner import LocalRunner

    yield LocalMachine(), LocalRunner()


def _output_folder(output: str | None, *, is_here: bool) -> str:
    """An absolute folder of the machine; empty = home."""
    if is_here:
        return str((Path(output) if output else Path()).absolute())
    if output and not output.startswith("/"):
        from wavewright.errors import UsageError

        raise UsageError(f"--output {output!r} is not absolute", advice="name a folder of that machine from / on")
    return output or ""


def _changed(machine: Machine) -> tuple[Change, ...]:
    from wavewright.capture.doctor import set_steady_clocks

    return set_steady_clocks(machine)


def _examined(machine: Machine, folder: str, *, asks_gpu: bool, runner: Runner | None) -> tuple[Check, ...]:
    from wavewright.capture.doctor import examine

    if runner is None:
        return examine(machine, output=folder, asks_gpu=asks_gpu)
    from wavewright.capture.jobs.tiny_program import tried

    return examine(machine, output=folder, asks_gpu=asks_gpu, trial=lambda sight: tried(sight, runner))


def _emit(machine: Machine, checks: tuple[Check, ...], changes: tuple[Change, ...]) -> None:
    from dataclasses import asdict

    from wavewright.capture.doctor import Status, machine_facts

    counts = {status.value: sum(check.status is status for check in checks) for status in Status}
    answer = {
        "host": machine.name,
        "counts": counts,
        "checks": [asdict(check) for check in checks],
        "changes": [asdict(change) for change in changes],
        "machine": machine_facts(machine),
    }
    emit_json(answer)


def _show(machine: Machine, checks: tuple[Check, ...], changes: tuple[Change, ...], *, is_complete: bool) -> None:
    from wavewright.report.capture.doctor import doctor_report
    from wavewright.report.capture.shell import ShellText

    out = console()
    parts = doctor_report(checks, width=out.width, machine=machine.name, changes=changes, is_complete=is_complete)
    for part in parts:
        out.print(part, soft_wrap=isinstance(part, ShellText))
