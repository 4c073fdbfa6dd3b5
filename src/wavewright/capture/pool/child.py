"""One job of a pool, in a process of its own: a GPU, the capture, and how it went.

usage: python -m wavewright.capture.pool.child OPTIONS (one JSON object, see `Errand`)

The status is that of the sentence in `error.json` of its folder, 0 when the job has finished (its result says
how), 75 when the GPU is used by others, and ELSEWHERE when another process works on the job.
"""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from wavewright.base import stopping
from wavewright.base.words import amount
from wavewright.capture.gpus.choice import reserved
from wavewright.capture.jobs.folder import FINISHED, JobFolder
from wavewright.capture.jobs.lock import WorkedOnError, job_lock
from wavewright.capture.jobs.record import end_abandoned
from wavewright.capture.machines.machine import Machine
from wavewright.capture.machines.runner import Runner
from wavewright.capture.pool.plan import job_folder, planned_job, work_folder
from wavewright.errors import BusyError, MissingToolError, OutputError, WavewrightError

if TYPE_CHECKING:
    from wavewright.capture.gpus.gpu import Gpu
    from wavewright.capture.pool.jobs_file import PoolJob

ELSEWHERE = WorkedOnError.exit_code
ERROR_FILE, LOG = "error.json", "log"
_BUG = 70


@dataclass(frozen=True, kw_only=True)
class Errand:
    """What a child is to do."""

    folder: str  #: Of the pool.
    job: str  #: Its id.
    gpus: str = "auto"  #: Of which GPUs one may be taken: see `meant_gpus`.
    wait_seconds: float = 0.0  #: How long to wait for one.
    is_shared: bool = False
    rocprofv3: str = ""  #: Empty = the one that is found.


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Why a job could not be taken at all."""

    status: int
    what: str
    where: str = ""
    advice: str = ""


def run_job(errand: Errand, machine: Machine) -> None:
    """Take the capture of one job, unless it has finished.

    Raises
    ------
    WavewrightError
        When it cannot be taken: GPUs are busy, something is missing, the disk is full.
    """
    folder = Path(errand.folder)
    job = planned_job(folder, errand.job)
    place = job_folder(folder, job.id)
    work = work_folder(folder, job.id)
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder of the job: {error.strerror}", where=str(work)) from error
    clear_left_overs(place)
    if (place / FINISHED).is_file():
        return
    with suppress(OSError):
        (work / ERROR_FILE).unlink()
    _check_disk(machine, job, place)
    from wavewright.capture.gpus.topology import gpus_of
    from wavewright.capture.gpus.users import users_of

    gpus = gpus_of(machine)
    if not gpus:
        raise MissingToolError("this machine has no GPU that the driver shows", advice="wavewright doctor says why")
    with reserved(
        errand.gpus,
        gpus,
        lambda: users_of(machine, gpus),
        host=machine.identity.hostname,
        variables=machine.variables,
        command=f"wavewright capture pool: {job.name}",
        folder=str(place),
        wait_seconds=errand.wait_seconds,
        is_shared=errand.is_shared,
    ) as reservation:
        _take(errand, machine, job, place, reservation.gpu)


def clear_left_overs(place: Path) -> None:
    """End programs of a job whose taker was killed, and which may have the lock of a GPU.

    Raises
    ------
    WorkedOnError
        When another process works on it.
    """
    if place.is_dir():
        with job_lock(place, wait_seconds=0.0):
            end_abandoned(JobFolder(place), Runner())


def _take(errand: Errand, machine: Machine, job: PoolJob, place: Path, gpu: Gpu) -> None:
    from wavewright.capture.jobs.taking import take
    from wavewright.capture.rocprofv3.installed import find_installation

    take(
        job.job,
        place,
        machine=machine,
        runner=Runner(),
        installation=find_installation(machine, errand.rocprofv3 or None),
        gpu=gpu,
        say=_log,
        resume=True,
        identifier=job.id,
    )


def _log(event: dict[str, Any]) -> None:
    """Sentences for people."""
    if event.get("event") == "note":
        print(event.get("text", ""), flush=True)


def _check_disk(machine: Machine, job: PoolJob, place: Path) -> None:
    free = machine.free_bytes(str(place))
    if free is not None and free < job.disk_bytes:
        what = f"{amount(free)} are free, and {job.name!r} may need {amount(job.disk_bytes)}"
        raise OutputError(what, where=str(place), advice="make room, or set `disk` in the jobs file; then --resume")


def main(text: str) -> int:
    """Run one errand; the exit status."""
    errand = msgspec.json.decode(text, type=Errand)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell starts what runs in the background like this
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    stopping.watch("")
    try:
        run_job(errand, Machine())
    except WavewrightError as error:
        if not isinstance(error, BusyError):
            _write_problem(
                errand, Problem(status=error.exit_code, what=error.what, where=error.where, advice=error.advice)
            )
        else:
            sys.stderr.write(f"{error}\n")
        return error.exit_code
    except Exception as error:
        import traceback

        traceback.print_exc()
        advice = f"report what {work_folder(Path(errand.folder), errand.job) / LOG} says"
        _write_problem(errand, Problem(status=_BUG, what=f"a bug of wavewright: {error!r}"[:1000], advice=advice))
        return _BUG
    return 0


def _write_problem(errand: Errand, problem: Problem) -> None:
    work = work_folder(Path(errand.folder), errand.job)
    with suppress(OSError):
        (work / ERROR_FILE).write_bytes(msgspec.json.encode(problem))
    sys.stderr.write(f"{problem.what}\n")


def read_problem(work: Path) -> Problem | None:
    """Why a job could not be taken, in the folder of whoever works on it; None = nothing is said."""
    try:
        return msgspec.json.decode((work / ERROR_FILE).read_bytes(), type=Problem)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None


if __name__ == "__main__":
    stopping.leave(main(sys.argv[1]))
