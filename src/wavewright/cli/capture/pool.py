"""`wavewright capture pool`: the jobs of a file on many GPUs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.base.bounds import SECONDS
from wavewright.base.shown import printable
from wavewright.cli.kit.form import events_option
from wavewright.cli.kit.io import console
from wavewright.cli.kit.numbers import Real

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wavewright.capture.pool.folder import PoolStatus
    from wavewright.capture.pool.jobs_file import PoolJob


@click.command()
@click.argument("jobs_file", type=click.Path(path_type=Path), metavar="JOBS.toml")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER", help="Of the pool; default: NAME-pool."
)
@click.option(
    "--gpus",
    metavar="WORDS",
    help="Which GPUs may be used: numbers, ranges, PCI addresses, ids, as 0-3,6; default: all, or those of "
    "ROCR_VISIBLE_DEVICES.",
)
@click.option("--resume", "is_resumed", is_flag=True, help="Go on in a FOLDER that exists; finished jobs are skipped.")
@click.option("--wait", type=Real(SECONDS), default=0.0, help="Seconds to wait while others use every GPU.")
@click.option("--share", "is_shared", is_flag=True, help="Take GPUs that others use.")
@click.option("--rocprofv3", metavar="PATH", default="", help="The rocprofv3 to use; default: as doctor finds.")
@click.option("--scheduler", metavar="ADDRESS", help="Use the Dask cluster there; its workers have --resources GPU=1.")
@click.option("--dry-run", "is_dry_run", is_flag=True, help="List the jobs in the order of their start; run nothing.")
@events_option
def command(
    jobs_file: Path,
    output: Path | None,
    gpus: str | None,
    is_resumed: bool,
    wait: float,
    is_shared: bool,
    rocprofv3: str,
    scheduler: str | None,
    is_dry_run: bool,
    as_json: bool,
) -> None:
    """Take the captures of a jobs file on many GPUs, each alone on its GPU, until all have their verdicts.

    It may be stopped or killed at any time: --resume goes on. The jobs file (TOML):

    \b
    [defaults]
    kind = "att"
    program = ["python", "bench.py"]
    [[job]]
    name = "decode"
    kernel = "pa_decode"
    launches = "7-8"

    \b
    wavewright capture pool JOBS.toml --gpus 0-7
    wavewright capture pool JOBS.toml --resume
    wavewright capture pool JOBS.toml --scheduler tcp://node1:8786
    """
    from wavewright.capture.machines.machine import Machine
    from wavewright.capture.pool.child import ChildOptions
    from wavewright.capture.pool.folder import prepare
    from wavewright.capture.pool.jobs_file import read_jobs_file
    from wavewright.capture.pool.on_dask import run_on_dask, visible_gpus
    from wavewright.capture.pool.schedule import Pool

    folder, jobs = output or Path(f"{jobs_file.stem}-pool"), read_jobs_file(jobs_file)
    tell = _teller(as_json=as_json)
    if is_dry_run:
        _show_order(folder, jobs, as_json=as_json)
        return
    own_gpus = gpus or visible_gpus(Machine().variables) or "auto"
    how: dict[str, Any] = {"gpus": own_gpus, "wait_seconds": wait, "is_shared": is_shared, "rocprofv3": rocprofv3}
    if scheduler:
        prepare(folder, jobs, is_resumed=is_resumed)
        options = ChildOptions(folder=str(folder.absolute()), **how)
        status = run_on_dask(folder, jobs, options, scheduler=scheduler, tell=tell)
    else:
        status = Pool(jobs, tell=tell, **how).run(folder, resume=is_resumed)
    _finish(status, as_json=as_json)
    sys.exit(status.exit_code)


def _teller(*, as_json: bool) -> Callable[[str, dict[str, Any]], None]:
    """Prints what happens: objects on standard output, or lines on standard error."""
    if as_json:
        from wavewright.base.shown import json_bytes

        return lambda event, facts: click.echo(json_bytes({"event": event, **facts}).decode())
    from wavewright.words.capture.pool import event_line

    def tell(event: str, facts: dict[str, Any]) -> None:
        if line := event_line(event, facts):
            click.echo(line, err=True)

    return tell


def _show_order(folder: Path, jobs: Sequence[PoolJob], *, as_json: bool) -> None:
    from wavewright.base.shown import command_line, json_bytes
    from wavewright.capture.pool.folder import is_finished
    from wavewright.capture.pool.schedule import longest_first

    for job in longest_first(jobs, folder):
        state = "finished" if is_finished(job, folder) else "planned"
        line = command_line(job.job.recording.program)
        if as_json:
            facts = {"event": state, "job": job.id, "name": job.name, "kind": job.job.kind, "program": line}
            click.echo(json_bytes(facts).decode())
        else:
            click.echo(printable(f"{job.id}  {state:8}  {job.job.kind:8}  {job.name}: {line}"))


def _finish(status: PoolStatus, *, as_json: bool) -> None:
    if as_json:
        facts = {"folder": status.folder, "verdicts": status.verdicts, "exit_code": status.exit_code}
        _teller(as_json=True)("end", facts)
        return
    from wavewright.words.capture.pool import pool_report

    out = console()
    for part in pool_report(status, limit=20):
        out.print(part)
