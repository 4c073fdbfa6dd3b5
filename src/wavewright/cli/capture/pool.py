"""`wavewright capture pool`: the jobs of a file on many GPUs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.base.bounds import JOBS, SECONDS, Bounds
from wavewright.cli.kit.form import events_option
from wavewright.cli.kit.io import console
from wavewright.cli.kit.numbers import Real, Whole
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wavewright.capture.pool.jobs_file import PoolJob
    from wavewright.capture.pool.status import PoolStatus

_PER_DEVICE = Bounds(1, 64)


@click.command()
@click.argument("jobs_file", type=click.Path(path_type=Path), metavar="[JOBS.toml]", required=False)
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
@click.option(
    "--max-per-device",
    type=Whole(_PER_DEVICE),
    default=1,
    show_default=True,
    help="Jobs at once on the partitions of one device: they share clocks and memory.",
)
@click.option("--rocprofv3", metavar="PATH", default="", help="The rocprofv3 to use; default: as doctor finds.")
@click.option(
    "--times",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="An earlier pool that knows how long jobs take: the longest start first.",
)
@click.option("--worker", "is_worker", is_flag=True, help="Do jobs of the pool that is in FOLDER, beside others.")
@click.option("--element", metavar="K/N", help="With --worker: only every N-th job from the K-th on (Slurm).")
@click.option(
    "--slurm", type=click.Path(path_type=Path), metavar="FILE", help="Write a script for sbatch; run nothing."
)
@click.option("--at-once", type=Whole(JOBS), default=8, show_default=True, help="With --slurm: elements at a time.")
@click.option("--scheduler", metavar="ADDRESS", help="Use the Dask cluster there; its workers have --resources GPU=1.")
@click.option("--dask", "is_dask", is_flag=True, help="Start a Dask cluster here, with one worker per GPU.")
@click.option("--dry-run", "is_dry_run", is_flag=True, help="List the jobs in the order of their start; run nothing.")
@click.option("--force", "is_forced", is_flag=True, help="With --slurm: replace FILE.")
@events_option
def command(
    jobs_file: Path | None,
    output: Path | None,
    gpus: str | None,
    is_resumed: bool,
    wait: float,
    is_shared: bool,
    max_per_device: int,
    rocprofv3: str,
    times: Path | None,
    is_worker: bool,
    element: str | None,
    slurm: Path | None,
    at_once: int,
    scheduler: str | None,
    is_dask: bool,
    is_dry_run: bool,
    is_forced: bool,
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
    wavewright capture pool JOBS.toml --slurm jobs.sbatch
    wavewright capture pool JOBS.toml --scheduler tcp://node1:8786
    srun -n 8 --gpus-per-task=1 wavewright capture pool --worker -o JOBS-pool
    """
    from wavewright.capture.pool.child import Errand

    _refuse_contradictions(jobs_file, output, element, slurm, scheduler, is_worker=is_worker, is_dask=is_dask)
    folder, jobs = _plan(jobs_file, output, element, is_worker=is_worker)
    tell = _teller(as_json=as_json)
    if is_dry_run:
        _show_order(folder, jobs, times, as_json=as_json)
        return
    if not is_worker:
        from wavewright.capture.pool.schedule import prepare

        prepare(folder, jobs, is_resumed=is_resumed)
    chosen = gpus or _visible()
    if slurm is not None:
        options = [*(("--wait", f"{wait:g}") if wait else ()), *(("--share",) if is_shared else ())]
        options += ["--rocprofv3", rocprofv3] if rocprofv3 else []
        options += ["--max-per-device", str(max_per_device)] if max_per_device > 1 else []
        _write_slurm(slurm, folder, jobs, options, at_once=at_once, is_forced=is_forced)
        return
    if scheduler or is_dask:
        from wavewright.capture.pool.on_dask import run_on_dask

        errand = Errand(
            folder=str(folder.absolute()),
            job="",
            gpus=chosen,
            wait_seconds=wait,
            is_shared=is_shared,
            max_per_device=max_per_device,
            rocprofv3=rocprofv3,
        )
        count = None if scheduler else _gpu_count(chosen)
        status = run_on_dask(folder, jobs, errand, scheduler=scheduler, workers=count, earlier=times, tell=tell)
    else:
        from wavewright.capture.pool.schedule import Pool

        pool = Pool(
            gpus=chosen,
            wait_seconds=wait,
            is_shared=is_shared,
            max_per_device=max_per_device,
            rocprofv3=rocprofv3,
            earlier=times,
            tell=tell,
        )
        status = pool.run_planned(folder, jobs)
    _finish(status, as_json=as_json)
    sys.exit(status.exit_code)


def _refuse_contradictions(
    jobs_file: Path | None,
    output: Path | None,
    element: str | None,
    slurm: Path | None,
    scheduler: str | None,
    *,
    is_worker: bool,
    is_dask: bool,
) -> None:
    if jobs_file is None and not is_worker:
        raise UsageError("which jobs? No jobs file is given", advice="wavewright capture pool JOBS.toml")
    if is_worker and output is None:
        raise UsageError("--worker needs the folder of the pool", advice="-o FOLDER")
    if is_worker and jobs_file is not None:
        raise UsageError("a worker does the jobs of the plan in FOLDER, and reads no jobs file", advice="leave it out")
    if element and not is_worker:
        raise UsageError("--element is for workers", advice="add --worker -o FOLDER")
    ways = {"--worker": is_worker, "--slurm": slurm, "--scheduler": scheduler, "--dask": is_dask}
    chosen = [name for name, is_given in ways.items() if is_given]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} are different ways to run the jobs", advice="give one of them")


def _plan(
    jobs_file: Path | None, output: Path | None, element: str | None, *, is_worker: bool
) -> tuple[Path, Sequence[PoolJob]]:
    """The folder of the pool, and the jobs that are to be done."""
    if jobs_file is None or is_worker:
        from wavewright.capture.pool.plan import read_plan
        from wavewright.capture.pool.slurm import element_jobs

        assert output is not None  # noqa: S101 - refused before
        jobs: Sequence[PoolJob] = read_plan(output)
        return output, element_jobs(jobs, element) if element else jobs
    from wavewright.capture.pool.jobs_file import read_jobs_file

    return output or Path(f"{jobs_file.stem}-pool"), read_jobs_file(jobs_file)


def _visible() -> str:
    """The GPUs that the environment leaves visible, else all."""
    from wavewright.capture.machines.local_machine import LocalMachine
    from wavewright.capture.pool.on_dask import visible_gpus

    return visible_gpus(LocalMachine().variables) or "auto"


def _gpu_count(word: str) -> int:
    from wavewright.capture.gpus.choice import meant_gpus
    from wavewright.capture.gpus.topology import gpus_of
    from wavewright.capture.machines.local_machine import LocalMachine

    return len(meant_gpus(word, gpus_of(LocalMachine())))


def _teller(*, as_json: bool) -> Callable[[str, dict[str, Any]], None]:
    """Prints what happens: objects on standard output, or lines on standard error."""
    if as_json:
        from wavewright.base.shown import json_bytes

        return lambda event, facts: click.echo(json_bytes({"event": event, **facts}).decode())
    from wavewright.report.capture.pool import event_line

    def tell(event: str, facts: dict[str, Any]) -> None:
        if line := event_line(event, facts):
            click.echo(line, err=True)

    return tell


def _show_order(folder: Path, jobs: Sequence[PoolJob], times: Path | None, *, as_json: bool) -> None:
    from wavewright.base.shown import command_line, json_bytes
    from wavewright.capture.pool.schedule import longest_first
    from wavewright.capture.pool.status import is_finished
    from wavewright.report.kit.tables import printable

    for job in longest_first(jobs, folder, times):
        state = "finished" if is_finished(job, folder) else "planned"
        line = command_line(job.job.wanted.program)
        if as_json:
            facts = {"event": state, "job": job.id, "name": job.name, "kind": job.kind, "program": line}
            click.echo(json_bytes(facts).decode())
        else:
            click.echo(printable(f"{job.id}  {state:8}  {job.kind:8}  {job.name}: {line}"))


def _write_slurm(
    path: Path, folder: Path, jobs: Sequence[PoolJob], words: Sequence[str], *, at_once: int, is_forced: bool
) -> None:
    from wavewright.base.shown import command_line
    from wavewright.capture.pool.slurm import slurm_script, write_script

    text = slurm_script(folder, jobs, script=str(path), at_once=at_once, words=words)
    write_script(path, text, force=is_forced)
    click.echo(f"submit it: {command_line(['sbatch', path])}", err=True)


def _finish(status: PoolStatus, *, as_json: bool) -> None:
    if as_json:
        facts = {"folder": status.folder, "verdicts": status.verdicts, "exit_code": status.exit_code}
        _teller(as_json=True)("end", facts)
        return
    from wavewright.report.capture.pool import pool_report

    out = console()
    for part in pool_report(status, width=out.width, limit=20):
        out.print(part)
