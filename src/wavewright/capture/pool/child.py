"""One job of a pool, in a process of its own: a GPU, the capture, and how it went.

usage: python -m wavewright.capture.pool.child OPTIONS (one JSON object, see `ChildOptions`)

The status is that of the sentence in `error.json` of its folder, 0 when the job has finished (its result says
how), 75 when the GPU is used by others, and ELSEWHERE when another process works on the job.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from wavewright.base import stopping
from wavewright.base.words import amount
from wavewright.capture.gpus.choice import reserved
from wavewright.capture.jobs.capture_run import end_abandoned, take
from wavewright.capture.jobs.folder import JobFolder, WorkedOnError, job_lock
from wavewright.capture.machines.machine import Machine
from wavewright.capture.pool.folder import ERROR_FILE, LOG, Problem, job_folder, planned_job, work_folder
from wavewright.errors import BusyError, OutputError, WavewrightError

ELSEWHERE = WorkedOnError.exit_code
_BUG = 70  #: Exit status of an error that nobody foresaw.


@dataclass(frozen=True, kw_only=True)
class ChildOptions:
    """The job of a child, and how it gets its GPU."""

    folder: str  #: Of the pool.
    job: str = ""  #: Its id.
    gpus: str = "auto"  #: Of which GPUs one may be taken: see `meant_gpus`.
    wait_seconds: float = 0.0  #: How long to wait for one.
    is_shared: bool = False
    rocprofv3: str = ""  #: Empty = the one that is found.

    @property
    def work(self) -> Path:
        """The folder of the child."""
        return work_folder(Path(self.folder), self.job)


def start_child(options: ChildOptions) -> subprocess.Popen[bytes]:
    """Start a process for one job; it leads a session, so that a signal for the pool does not reach it first."""
    options.work.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, "-m", "wavewright.capture.pool.child", msgspec.json.encode(options).decode()]
    with (options.work / LOG).open("ab") as log:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)


def last_line(work: Path) -> str:
    """The line that a child printed last; empty = nothing."""
    try:
        with (work / LOG).open("rb") as stream:
            stream.seek(max(0, (work / LOG).stat().st_size - 4096))
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[-1][:1000] if lines else ""


def run_job(options: ChildOptions, machine: Machine) -> None:
    """Take the capture of one job, unless it has finished."""
    from wavewright.capture.rocprofv3.installation import find_installation

    folder = Path(options.folder)
    job = planned_job(folder, options.job)
    place = job_folder(folder, job.id)
    try:
        options.work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder of the job: {error.strerror}", where=str(options.work)) from error
    clear_remains(place)
    if JobFolder(place).is_finished:
        return
    with suppress(OSError):
        (options.work / ERROR_FILE).unlink()
    free = machine.free_bytes(str(place))
    if free is not None and free < job.disk_bytes:
        what = f"{amount(free)} are free, and {job.name!r} may need {amount(job.disk_bytes)}"
        raise OutputError(what, where=str(place), advice="make room, or set `disk` in the jobs file; then --resume")
    command = f"wavewright capture pool: {job.name}"
    waiting = {"wait_seconds": options.wait_seconds, "is_shared": options.is_shared}
    with reserved(options.gpus, machine, command=command, **waiting) as gpu:  # type: ignore[arg-type]
        installation = find_installation(machine, options.rocprofv3 or None)
        take(job.job, place, machine=machine, installation=installation, gpu=gpu, say=_print_note, resume=True)


def clear_remains(place: Path) -> None:
    """End programs of a job whose child was killed, and which may have the lock of a GPU."""
    if place.is_dir():
        with job_lock(place, wait_seconds=0.0):
            end_abandoned(JobFolder(place))


def _print_note(event: dict[str, object]) -> None:
    if event.get("event") == "note":
        print(event.get("text", ""), flush=True)


def main(text: str) -> int:
    """Run one job; the exit status."""
    options = msgspec.json.decode(text, type=ChildOptions)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell starts what runs in the background like this
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    stopping.watch("")
    try:
        run_job(options, Machine())
    except BusyError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except WavewrightError as error:
        problem = Problem(status=error.exit_code, what=error.what, where=error.where, advice=error.advice)
    except Exception as error:
        import traceback

        traceback.print_exc()
        advice = f"report what {options.work / LOG} says"
        problem = Problem(status=_BUG, what=f"a bug of wavewright: {error!r}"[:1000], advice=advice)
    else:
        return 0
    with suppress(OSError):
        (options.work / ERROR_FILE).write_bytes(msgspec.json.encode(problem))
    sys.stderr.write(f"{problem.what}\n")
    return problem.status


if __name__ == "__main__":
    stopping.leave(main(sys.argv[1]))
