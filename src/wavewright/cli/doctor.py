"""`wavewright doctor`: is everything here that a good capture needs?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wavewright.cli.kit.io import console, emit_json, json_option, progress

if TYPE_CHECKING:
    from wavewright.capture.doctor import Check
    from wavewright.capture.machines.machine import Machine

_EXIT_CODE = 5  #: Something is missing without which no capture can be taken.


@click.command()
@json_option
@click.option("--all", "is_complete", is_flag=True, help="Say of every check why it matters; cut no line.")
@click.option(
    "--host", metavar="[USER@]MACHINE", help="Look at that machine, over ssh; the same version must be there."
)
@click.option("--container", metavar="NAME", help="Look into this container, here or on --host.")
@click.option("--remote", default="", metavar="PATH", help="The wavewright there; default: as its PATH says.")
@click.option("--gpu", "asks_gpu", is_flag=True, help="Also ask the GPUs what they can count and sample: opens them.")
@click.option("--full", is_flag=True, help="Also compile and capture a tiny program on a GPU; implies --gpu.")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    help="Where captures would go, for the room on the disk; default: this folder, or home on another machine.",
)
def command(
    as_json: bool,
    is_complete: bool,
    host: str | None,
    container: str | None,
    remote: str,
    asks_gpu: bool,
    full: bool,
    output: str | None,
) -> None:
    """Is everything here that a good capture needs?

    Looks at driver, devices, rights, GPUs, ROCm, rocprofv3, variables, kernel settings and room, and says of each
    what was seen, why it matters and which command fixes it. Changes nothing, and never needs root.

    The exit status is 0 unless there is an error: then, and so on a machine without an AMD GPU, it is 5, because no
    capture can be taken there. Reading and showing data needs nothing of all this.

    \b
    wavewright doctor
    wavewright doctor --host me@gpu-node --gpu
    wavewright doctor --json > doctor.json
    """
    if host or container:
        options = {"--json": as_json, "--all": is_complete, "--gpu": asks_gpu, "--full": full}
        words = [name for name, is_given in options.items() if is_given]
        sys.exit(_relayed(place_words=(host, container, remote), words=[*words, *(("-o", output) if output else ())]))
    machine = _machine()
    with progress("looking at the machine"):
        checks = _examined(machine, str((Path(output) if output else Path()).absolute()), asks_gpu=asks_gpu, full=full)
    if as_json:
        _emit(machine, checks)
    else:
        _show(checks, is_complete=is_complete)
    if any(check.status == "error" for check in checks):
        sys.exit(_EXIT_CODE)


def _machine() -> Machine:
    from wavewright.capture.machines.machine import Machine

    return Machine()


def _relayed(place_words: tuple[str | None, str | None, str], words: list[str]) -> int:
    from wavewright.base.shown import printable
    from wavewright.capture.other_machines import place_of, relay

    return relay(place_of(*place_words), ["doctor", *words], lambda line: click.echo(printable(line)))


def _examined(machine: Machine, folder: str, *, asks_gpu: bool, full: bool) -> tuple[Check, ...]:
    from wavewright.capture.doctor import examine
    from wavewright.capture.jobs.tiny_program import tried
    from wavewright.capture.machines.runner import Runner

    trial = (lambda sight: tried(sight, Runner())) if full else None
    return examine(machine, output=folder, asks_gpu=asks_gpu or full, trial=trial)


def _emit(machine: Machine, checks: tuple[Check, ...]) -> None:
    from dataclasses import asdict

    from wavewright.capture.doctor import Status, machine_facts

    counts = {status.value: sum(check.status is status for check in checks) for status in Status}
    answer = {
        "counts": counts,
        "checks": [asdict(check) for check in checks],
        "machine": machine_facts(machine),
    }
    emit_json(answer)


def _show(checks: tuple[Check, ...], *, is_complete: bool) -> None:
    from wavewright.words.capture.doctor import doctor_report

    out = console()
    for part in doctor_report(checks, width=out.width, is_complete=is_complete):
        out.print(part)
