"""A script for Slurm: an array of elements, each of which does its share of the jobs of a pool."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

from wavewright.capture.pool.plan import WORKERS
from wavewright.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wavewright.capture.pool.jobs_file import PoolJob

ELEMENTS_MAX = 1000  #: Slurm's MaxArraySize is 1001 where nobody changed it.
_SIGNAL_SECONDS = 120  #: From the signal to the time limit; the grace of a job should be shorter.
_MARGIN_SECONDS = 300
_RESTARTS_MAX = 20
_MINUTES_MAX = 7 * 24 * 60

_SCRIPT = """\
#!/bin/bash
# Written by wavewright capture pool --slurm. Submit it with: sbatch {script}
# Each element does every {element_count}-th job of the plan. Jobs that have their verdict are skipped, so it may
# be submitted, requeued and cancelled at any time. Add what your site needs: --partition, --account, --constraint.
#SBATCH --job-name=wavewright
#SBATCH --array=0-{last}%{at_once}
#SBATCH --ntasks=1
#SBATCH --gpus-per-task=1
#SBATCH --time={minutes}
#SBATCH --signal=B:INT@{signal_seconds}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={log}

set -u
stopped=0
trap 'stopped=1' INT TERM

{command} --element "${{SLURM_ARRAY_TASK_ID}}/{element_count}" &
pool=$!
# Slurm signals this shell {signal_seconds} s before the time is over; the profiler then writes its data.
# A background process of a shell ignores INT, so it is told by TERM; once, for a second signal takes its grace.
trap 'stopped=2; kill -TERM "$pool"' INT TERM
[ "$stopped" -ne 1 ] || kill -TERM "$pool"
wait "$pool"
status=$?
while kill -0 "$pool" 2>/dev/null; do
    wait "$pool"
    status=$?
done
trap - INT TERM

# 75: the GPU was used by others. Stopped: the time was over. Both go on later.
if {{ [ "$status" -eq 75 ] || [ "$stopped" -ne 0 ]; }} && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {restarts_max} ]; then
    scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}" && exit 0
fi
exit "$status"
"""


def slurm_script(
    folder: Path, jobs: Sequence[PoolJob], *, script: str, at_once: int = 8, words: Sequence[str] = ()
) -> str:
    """The script; `words` are more options of `wavewright capture pool`."""
    element_count = min(len(jobs), ELEMENTS_MAX)
    share = -(-len(jobs) // element_count)
    seconds = max((job.job.limits.seconds + job.job.limits.grace_seconds) * job.job.attempts for job in jobs)
    minutes = int(share * seconds + _SIGNAL_SECONDS + _MARGIN_SECONDS) // 60 + 1
    where = folder.absolute()
    command = [sys.executable, "-m", "wavewright", "capture", "pool", "--worker", "-o", str(where), *words]
    return _SCRIPT.format(
        script=shlex.quote(script),
        element_count=element_count,
        last=element_count - 1,
        at_once=min(at_once, element_count),
        minutes=min(minutes, _MINUTES_MAX),
        signal_seconds=_SIGNAL_SECONDS,
        log=_quoted(f"{where}/{WORKERS}/slurm-%A_%a.log"),
        command=shlex.join(command),
        restarts_max=_RESTARTS_MAX,
    )


def _quoted(path: str) -> str:
    """A path for an #SBATCH line, which knows double quotes.

    Raises
    ------
    UsageError
        When it holds what such a line cannot.
    """
    if not path.isprintable() or any(letter in path for letter in "\"'\\`$"):
        what = "Slurm cannot write its log below a folder with quotes, backslashes, $ or control characters in its path"
        raise UsageError(what, where=ascii(path)[1:-1], advice="choose another folder: -o")
    return f'"{path}"' if " " in path or "#" in path else path


def write_script(path: Path, text: str, *, force: bool = False) -> None:
    """Write the script; it can be run.

    Raises
    ------
    UsageError
        When there is such a file already.
    OutputError
        When the file system refuses.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if force else os.O_EXCL)
    try:
        with os.fdopen(os.open(path, flags, 0o777), "w", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise UsageError("this file exists", where=str(path), advice="choose another name, or add --force") from error
    except OSError as error:
        raise OutputError(f"cannot write the script: {error.strerror}", where=str(path)) from error


def element_jobs(jobs: Sequence[PoolJob], element: str) -> list[PoolJob]:
    """The share of one element, as K/N: every N-th job from the K-th on, counted from 0.

    Raises
    ------
    UsageError
        When it is not written like that.
    """
    number, slash, count = element.partition("/")
    texts = (number, count)
    if not slash or not all(text.isascii() and text.isdigit() and len(text) < 10 for text in texts):
        raise UsageError(f"--element {element[:40]!r} is not K/N", advice="as 3/200: the fourth of 200 elements")
    if int(number) >= int(count):
        raise UsageError(f"there is no element {number} of {count}", advice="they are counted from 0")
    return list(jobs[int(number) :: int(count)])
