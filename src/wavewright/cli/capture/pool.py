"""`wavewright capture pool` and `status`: the jobs of a file on many GPUs, and how far captures are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from wavewright.base.shown import command_line, printable
from wavewright.capture.machines.machine import Machine
from wavewright.capture.pool.child import ChildOptions
from wavewright.capture.pool.folder import PoolStatus, State, is_finished, prepare, status_of
from wavewright.capture.pool.jobs_file import PoolJob, read_jobs_file
from wavewright.capture.pool.on_dask import run_on_dask, visible_gpus
from wavewright.capture.pool.schedule import Pool, longest_first
from wavewright.cli.kit.io import emit_event, emit_json, show
from wavewright.cli.kit.request import ALL_ROWS, DEFAULT_TOP


def pool(
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
    """Take the captures of a jobs file."""
    folder, jobs = output or Path(f"{jobs_file.stem}-pool"), read_jobs_file(jobs_file)
    if is_dry_run:
        _show_order(folder, jobs, as_json=as_json)
        return
    tell = _teller(as_json=as_json)
    own_gpus = gpus or visible_gpus(Machine().variables) or "auto"
    how: dict[str, Any] = {"gpus": own_gpus, "wait_seconds": wait, "is_shared": is_shared, "rocprofv3": rocprofv3}
    if scheduler:
        prepare(folder, jobs, is_resumed=is_resumed)
        options = ChildOptions(folder=str(folder.absolute()), **how)
        status = run_on_dask(folder, jobs, options, scheduler=scheduler, tell=tell)
    else:
        status = Pool(jobs, tell=tell, **how).run(folder, resume=is_resumed)
    if as_json:
        tell("end", {"folder": status.folder, "verdicts": status.verdicts, "exit_code": status.exit_code})
    else:
        _show(status, DEFAULT_TOP)
    sys.exit(status.exit_code)


def _teller(*, as_json: bool) -> Callable[[str, dict[str, Any]], None]:
    """Prints what happens: objects on standard output, or lines on standard error."""
    if as_json:
        return lambda event, facts: emit_event({"event": event, **facts})
    from wavewright.words.capture.pool import event_line

    def tell(event: str, facts: dict[str, Any]) -> None:
        if line := event_line(event, facts):
            click.echo(line, err=True)

    return tell


def _show_order(folder: Path, jobs: Sequence[PoolJob], *, as_json: bool) -> None:
    for job in longest_first(jobs, folder):
        state = "finished" if is_finished(job, folder) else "planned"
        line = command_line(job.job.recording.program)
        if as_json:
            emit_event({"event": state, "job": job.id, "name": job.name, "kind": job.job.kind, "program": line})
        else:
            click.echo(printable(f"{job.id}  {state:8}  {job.job.kind:8}  {job.name}: {line}"))


def _show(status: PoolStatus, limit: int) -> None:
    from wavewright.words.capture.pool import pool_report

    show(lambda _width: pool_report(status, limit=limit))


def status(folder: Path, top: int | None, as_json: bool) -> None:
    """Say how far captures are."""
    status = status_of(folder)
    if as_json:
        answer = {
            "folder": status.folder,
            "counts": {state.value: status.count(state) for state in State},
            "verdicts": status.verdicts,
            "job_count": len(status.jobs),
            "jobs": list(map(asdict, status.jobs[: top or None])),
        }
        emit_json(answer, inputs=[folder])
    else:
        _show(status, DEFAULT_TOP if top is None else top or ALL_ROWS)
    sys.exit(status.exit_code)
