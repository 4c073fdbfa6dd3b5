"""`wavewright capture report`: what to send to somebody who can help."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.cli.kit.io import console, emit_json, json_option, progress

if TYPE_CHECKING:
    from wavewright.capture.machines.machine import Machine

_ENDINGS = (".tar.gz", ".tgz")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The bundle, a .tar.gz; default: FOLDER-report.tar.gz in the current folder.",
)
@click.option("--with-output", is_flag=True, help="Also what the program printed on its standard output, masked.")
@click.option("--with-traces", is_flag=True, help="Also the raw data: traces, code objects, counters. Not masked.")
@click.option("--host", metavar="[USER@]MACHINE", help="Where the capture was taken: doctor looks there, over ssh.")
@click.option("--container", metavar="NAME", help="The container in which it was taken.")
@click.option("--no-doctor", is_flag=True, help="Without what doctor says of the machine.")
@click.option("--force", is_flag=True, help="Replace a bundle that exists.")
@json_option
def command(
    folder: Path,
    output: Path | None,
    with_output: bool,
    with_traces: bool,
    host: str | None,
    container: str | None,
    no_doctor: bool,
    force: bool,
    as_json: bool,
) -> None:
    """A bundle to send to others: commands, logs, versions and verdicts of captures; no source and no secrets.

    Names of user, home folder and hosts, addresses, tokens and keys are replaced, and of the environment only variables
    of ROCm, HIP and frameworks get in. Prints what is inside; look through it before you send it.

    \b
    wavewright capture report capture-gemm-20260707
    wavewright capture report JOBS-pool -o report.tar.gz --with-traces
    """
    from wavewright.capture.bundle import bundle_values, make_bundle

    bundle_path = _output(folder, output)
    machine = _machine(host, container)
    with progress("collecting"):
        bundle = make_bundle(
            folder,
            bundle_path,
            checks=None if no_doctor else _checks(machine),
            variables=machine.variables,
            hosts=[name for name in (host, machine.identity.hostname) if name],
            with_output=with_output,
            with_traces=with_traces,
            force=force,
        )
    if as_json:
        emit_json(bundle_values(bundle), inputs=[folder])
        return
    from wavewright.report.capture.bundle import bundle_report

    out = console()
    for part in bundle_report(bundle, width=out.width):
        out.print(part)


def _output(folder: Path, output: Path | None) -> Path:
    from wavewright.errors import UsageError

    if output is None:
        return Path(f"{folder.resolve().name or 'capture'}-report.tar.gz")
    if not output.name.endswith(_ENDINGS):
        raise UsageError("a bundle is a .tar.gz", where=str(output), advice=f"-o {output.name}.tar.gz")
    return output


def _machine(host: str | None, container: str | None) -> Machine:
    if host or container:
        from wavewright.capture.remote import connect

        connected = connect(host=host, container=container)
        click.get_current_context().call_on_close(connected.close)
        return connected.machine
    from wavewright.capture.machines.local_machine import LocalMachine

    return LocalMachine()


def _checks(machine: Machine) -> list[dict[str, Any]]:
    from wavewright.capture.doctor import examine

    return [asdict(check) for check in examine(machine)]
