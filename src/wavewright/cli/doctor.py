"""`wavewright doctor`: is everything here that a good capture needs?"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from wavewright.base.shown import printable
from wavewright.capture.doctor import Status, examine
from wavewright.capture.doctor.facts import machine_facts
from wavewright.capture.machines.machine import Machine
from wavewright.cli.kit.io import emit_json, progress, show

_EXIT_CODE = 5  #: Something is missing without which no capture can be taken.


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
    """Look at the machine."""
    if host or container:
        from wavewright.capture.other_machines import place_of, relay

        options = {"--json": as_json, "--all": is_complete, "--gpu": asks_gpu, "--full": full}
        words = ["doctor", *(name for name, is_on in options.items() if is_on), *(("-o", output) if output else ())]
        sys.exit(relay(place_of(host, container, remote), words, lambda line: click.echo(printable(line))))
    machine, folder = Machine(), str((Path(output) if output else Path()).absolute())
    if full:
        from wavewright.capture.jobs.tiny_program import tried
    with progress("looking at the machine"):
        checks = examine(machine, output=folder, asks_gpu=asks_gpu or full, trial=tried if full else None)
    if as_json:
        counts = {status.value: sum(check.status is status for check in checks) for status in Status}
        emit_json({"counts": counts, "checks": list(map(asdict, checks)), "machine": machine_facts(machine)})
    else:
        from wavewright.words.capture.doctor import doctor_report

        show(lambda width: doctor_report(checks, width=width, is_complete=is_complete))
    if any(check.status is Status.ERROR for check in checks):
        sys.exit(_EXIT_CODE)
