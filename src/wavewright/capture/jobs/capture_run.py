"""A capture: plan, run, judge, change and try again, until it is good or there is nothing left to try.

Each step writes one file when it is done, so that a process that was killed at any moment is followed by one that goes
on: an attempt that ended is judged, one that did not counts as interrupted.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from wavewright.base.own_folders import is_own_folder, remove_below
from wavewright.base.shown import shown
from wavewright.base.words import amount, counted, shortened
from wavewright.capture.gpus.topology import Gpu
from wavewright.capture.jobs import folder as files
from wavewright.capture.jobs.attempt import command_record, run_passes, versions
from wavewright.capture.jobs.job import Job
from wavewright.capture.jobs.result import (
    Attempt,
    Result,
    begun_attempts,
    best_of,
    ending_of,
    judged_attempts,
    recording_of,
    stored_result,
)
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.kinds import Discovery, Recording, ThreadTraces, is_by_rocprofv3
from wavewright.capture.machines.gpu_monitor import check_monitor, monitored
from wavewright.capture.machines.machine import Machine
from wavewright.capture.machines.runner import Ending, end_marked
from wavewright.capture.plans.commands import Planned
from wavewright.capture.rocprofv3.releases import Installation
from wavewright.errors import MissingToolError, NotATraceError, OutputError, UsageError

CHOICE = "choice.json"  #: In the folder of a discovery: what was taken from it.
FREE_BYTES_MIN = 64 << 20  #: No attempt starts with fewer free bytes: a log and a small trace need them.
_CODE_BYTES = 64 << 20  #: Code objects and logs beside the streams.
_ANY = "any"  #: As `Job.gpu`: the program sees all GPUs, and none is reserved.
_FREE_SECONDS, _FREE_PAUSE_SECONDS = 10.0, 0.2  #: How long queues of a program that was stopped may take to vanish.
_GUARD_SECONDS = 15.0  #: How long what a killed capture left may keep its GPU until it is ended.


def take(
    job: Job,
    folder: Path,
    *,
    machine: Machine,
    installation: Installation | None = None,
    gpu: Gpu | None = None,
    say: Callable[[dict[str, Any]], None] = lambda event: None,
    resume: bool = False,
    force: bool = False,
    clean: bool = False,
    pause: Callable[[float], None] = time.sleep,
) -> Result:
    """Take a capture into a folder of its own.

    `installation` is the profiler (None = the one that is found on the machine), `gpu` the GPU that the caller has
    reserved (None = reserve the one that the job names); `say`, `resume`, `force` and `clean` are as in `Plan.run`;
    `pause` waits before an attempt. Raises `UsageError` when the folder holds something else, there is no such program,
    or the release cannot do it; `OutputError` when the file system refuses or is full; `MissingToolError` without
    profiler or GPU; `BusyError` when others use the GPUs, or work on the capture.
    """
    place = files.JobFolder(folder)
    place.check(job, resume=resume, force=force)
    place.make(folder)
    with files.job_lock(folder):
        place.open_for(job, resume=resume, force=force)
        events = _Events(job.id, say)
        if place.is_finished:
            events.note("this capture has finished already; nothing is run")
        else:
            _check_program(job.recording, machine)
            if installation is None and is_by_rocprofv3(job.recording):
                from wavewright.capture.rocprofv3.installation import find_installation

                installation = find_installation(machine)
            with _reserved(job, place, machine, gpu, events) as own_gpu:
                if job.is_monitored:
                    check_monitor(machine, own_gpu.pci if own_gpu and job.gpu != _ANY else "")
                _try_until_good(_Work(job, place, machine, installation, own_gpu, events, pause))
        result = stored_result(folder)
        if clean:
            _clean(result, events)
        return result


@dataclass(frozen=True)
class _Events:
    """Tells what happens."""

    job_id: str
    say: Callable[[dict[str, Any]], None]

    def tell(self, event: str, *, attempt: int | None = None, **details: Any) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        numbered = {} if attempt is None else {"attempt": attempt}
        self.say({"v": 1, "time": now, "job": self.job_id, "event": event, **numbered, **details})

    def note(self, text: str) -> None:
        self.tell("note", text=text)


@dataclass(frozen=True)
class _Work:
    """A job with its lock and its GPU."""

    job: Job
    place: files.JobFolder
    machine: Machine
    installation: Installation | None  #: None = another tool than rocprofv3 records.
    gpu: Gpu | None
    events: _Events
    pause: Callable[[float], None]

    def on_gpu(self, recording: Recording) -> Recording:
        """The recording on the GPU that is reserved now: an attempt before it may have had another one."""
        if self.gpu is None or self.job.gpu == _ANY or self.job.recording.gpu_index is not None:
            return recording
        return structs.replace(recording, gpu_index=self.gpu.index)


# --- before anything runs ---


def _check_program(recording: Recording, machine: Machine) -> None:
    """Refuse a program that does not exist: AMD's script would answer with a traceback."""
    word = recording.program[0] if recording.program else ""
    if not word:
        raise UsageError("no program is given")
    if "PATH" in recording.variables and "/" not in word:
        return  # only the program's own PATH tells
    path = f"{recording.cwd}/{word}" if recording.cwd and "/" in word and not word.startswith("/") else word
    if machine.program(path) is not None:
        return
    exists = "/" in path and machine.facts(path) is not None
    problem = "is not executable" if exists else "does not exist"
    advice = f"chmod +x {shown(word)}, or name its interpreter first" if exists else "check its name and PATH"
    raise UsageError(f"the program {shortened(shown(word))!r} {problem}", advice=advice)


@contextmanager
def _reserved(
    job: Job, place: files.JobFolder, machine: Machine, gpu: Gpu | None, events: _Events
) -> Iterator[Gpu | None]:
    from wavewright.capture.gpus.choice import reserved
    from wavewright.capture.gpus.topology import gpus_of

    if gpu is not None:
        yield gpu
    elif job.gpu == _ANY:
        yield next(iter(gpus_of(machine)), None)
    else:
        wait_seconds = max(job.wait_seconds, _GUARD_SECONDS if begun_attempts(place) else 0.0)
        with reserved(job.gpu, machine, wait_seconds=wait_seconds, is_shared=job.is_shared, say=events.note) as own_gpu:
            yield own_gpu


# --- attempts ---


def _try_until_good(work: _Work) -> None:
    """Try until it is good or nothing is left to try."""
    _write_machine(work)
    _settle(work)
    attempts = judged_attempts(work.place, work.job)
    recording, why = _next_recording(work, attempts)
    while recording is not None:
        number = max(begun_attempts(work.place), default=0) + 1
        attempts.append(_attempt(work, number, recording, why))
        _link(work, attempts)
        recording, why = _next_recording(work, attempts)
    best = _link(work, attempts)
    if best is not None:
        values: dict[str, Any] = {"verdict": best.judgement.verdict.value, "attempts": len(attempts)}
        values["noise_share"] = best.judgement.noise_share
        files.write_json(work.place.path / files.FINISHED, {"v": 1, "attempt": best.number, **values})
        work.events.tell("finished", attempt=best.number, **values)


def _link(work: _Work, attempts: Sequence[Attempt]) -> Attempt | None:
    best = best_of(attempts)
    if best is not None:
        work.place.link_result(best.number)
    return best


def _next_recording(work: _Work, attempts: Sequence[Attempt]) -> tuple[Recording | None, str]:
    """The recording of the next attempt, and why; None = there is none."""
    numbers = begun_attempts(work.place)
    if not numbers:
        return work.on_gpu(work.job.recording), ""
    last = numbers[-1]
    if not attempts or attempts[-1].number != last:  # at least one more: nobody shall lose a job by interrupting it
        return work.on_gpu(recording_of(work.place.attempt(last), work.job)), "the attempt before it was interrupted"
    if len(numbers) >= work.job.attempts:
        return None, ""
    from wavewright.capture.plans.retries import next_try

    latest = attempts[-1]
    earlier = [(attempt.recording, attempt.judgement) for attempt in attempts[:-1]]
    retry = next_try(latest.recording, latest.judgement, work.gpu, earlier)
    if retry is None:
        return None, ""
    work.events.tell("retry", attempt=last + 1, why=retry.why, pause_seconds=retry.pause_seconds)
    if retry.pause_seconds:
        work.pause(retry.pause_seconds)
    return work.on_gpu(retry.recording), retry.why


def end_abandoned(place: files.JobFolder) -> int:
    """End programs, of attempts or discoveries, that were started and whose end nobody wrote down; how many processes.

    Only whoever has the lock of the job may do that.
    """
    folders = [*place.numbered(files.ATTEMPTS).values(), *place.numbered(files.DISCOVERIES).values()]
    records = [files.read_object(folder / files.COMMAND) for folder in folders if not (folder / files.ENDING).is_file()]
    return sum(end_marked(str(record["mark"])) for record in records if record.get("mark"))


def _settle(work: _Work) -> None:
    """Bring the last attempt of a capture that was killed to its end: judge it, or count it as interrupted."""
    if count := end_abandoned(work.place):
        work.events.note(f"{counted(count, 'processes')} of the interrupted attempt still ran; ended now")
    last = max(begun_attempts(work.place), default=0)
    folder = work.place.attempt(last)
    if not last or (folder / files.JUDGEMENT).is_file():
        return
    ending = ending_of(folder)
    if ending is None or ending.stopped == "interrupted":
        work.events.tell("interrupted", attempt=last)
    else:
        _judge(work, last, recording_of(folder, work.job), ending)


def _attempt(work: _Work, number: int, recording: Recording, why: str) -> Attempt:
    from wavewright.capture.plans.commands import needs_discovery

    folder = work.place.make(work.place.attempt(number))
    if isinstance(recording, ThreadTraces) and needs_discovery(recording):
        discovered = _discovered(work, recording)
        if isinstance(discovered, Judgement):
            return _judged(work, number, recording, discovered, None)
        recording = discovered
    plan = _plan(work, recording, folder)
    if number == 1:
        notes = dict.fromkeys([*plan.notes, *(note for command in plan.commands for note in command.notes)])
        lines = [command.line for command in plan.commands]
        work.events.tell("planned", wanted=msgspec.to_builtins(plan.recording), commands=lines, notes=list(notes))
    return _judge(work, number, plan.recording, _run(work, plan, folder, why, attempt=number))


def _plan(work: _Work, recording: Recording, folder: Path) -> Planned:
    from wavewright.capture.plans.commands import planned

    raw = str(work.place.make(folder / files.RAW).absolute())
    plan = planned(recording, work.installation, work.gpu, raw=raw, variables=work.machine.variables)
    words = [command.words[0] for command in plan.commands]
    for word in (word for word in words if work.machine.program(word) is None):
        advice = "install it, or see what is there with wavewright doctor"
        raise MissingToolError(f"{shown(word)} is not installed", advice=advice)
    _check_disk(work, plan.recording, raw)
    return plan


def _check_disk(work: _Work, recording: Recording, raw: str) -> None:
    """Refuse a disk that is full, and warn of one that may become so."""
    expected = _CODE_BYTES
    if isinstance(recording, ThreadTraces):
        expected += (recording.buffer_bytes or 0) * max(len(recording.launches), 1)
    free = work.machine.free_bytes(raw)
    if free is not None and free < FREE_BYTES_MIN:
        what = f"only {amount(free)} are free, and a capture needs more"
        raise OutputError(what, where=shown(raw), advice="free some space, or choose another disk with -o")
    if free is not None and free < expected:
        work.events.note(f"{amount(free)} are free, and full buffers of this capture would be {amount(expected)}")


def _run(work: _Work, plan: Planned, folder: Path, why: str, *, attempt: int | None = None) -> Ending:
    """Run every pass of an attempt, or of a discovery."""
    mark = f"{work.job.id}-{uuid.uuid4().hex[:8]}"
    record = command_record(plan, work.machine, work.installation, work.gpu)
    files.write_json(folder / files.COMMAND, {"v": 1, "why": why, "mark": mark, **record})
    purpose = "" if attempt is not None else "discovery "

    def tell(event: str, **facts: Any) -> None:
        work.events.tell(event if event == "running" else f"{purpose}{event}", attempt=attempt, **facts)

    pci = work.gpu.pci if work.gpu is not None and work.job.is_monitored else ""
    try:
        with monitored(work.machine, pci, folder / files.RAW):
            around: dict[str, Any] = {"variables": work.machine.variables, "limits": work.job.limits, "mark": mark}
            ending = run_passes(plan.commands, folder, **around, tell=tell)
    except KeyboardInterrupt:
        if attempt is not None:
            work.events.tell("interrupted", attempt=attempt)
        raise
    if ending.stopped or ending.left_behind:
        _wait_for_gpu(work)
    return ending


def _wait_for_gpu(work: _Work) -> None:
    """Wait until queues of a program that was stopped have vanished: then the GPU can be used again."""
    if work.gpu is None or work.job.is_shared or work.job.gpu == _ANY:
        return
    from wavewright.capture.gpus.topology import users_of

    deadline = time.monotonic() + _FREE_SECONDS
    while users := users_of(work.machine, [work.gpu]).get(work.gpu.key):
        if time.monotonic() >= deadline:
            names = ", ".join(f"{user.pid} {user.name}".strip() for user in users[:3])
            work.events.note(f"GPU {work.gpu.index} still has queues of process {names}")
            return
        work.pause(_FREE_PAUSE_SECONDS)


def _judge(work: _Work, number: int, recording: Recording, ending: Ending) -> Attempt:
    from wavewright.capture.verdicts import judge

    judgement = judge(recording, ending, work.place.attempt(number), work.gpu)
    return _judged(work, number, recording, judgement, ending)


def _judged(work: _Work, number: int, recording: Recording, judgement: Judgement, ending: Ending | None) -> Attempt:
    folder = work.place.attempt(number)
    files.write_json(folder / files.JUDGEMENT, judgement)
    values = {"verdict": judgement.verdict.value, "reasons": list(judgement.reasons), "advice": judgement.advice}
    work.events.tell("judged", attempt=number, **values)
    return Attempt(number, folder, recording, judgement, ending)


def _discovered(work: _Work, recording: ThreadTraces) -> ThreadTraces | Judgement:
    """Run a discovery and put its kernel and launches into the recording; its judgement when it failed."""
    from wavewright.capture.plans.discovery import discovered, with_suggestion
    from wavewright.capture.verdicts import judge

    folders = work.place.numbered(files.DISCOVERIES)
    begun_count = len(begun_attempts(work.place))
    choice = files.read_object(folders[max(folders)] / CHOICE) if folders else {}
    if choice.get("attempts") == begun_count:  # else an attempt was made of it: another is asked for with a reason
        with suppress(UsageError):
            earlier: ThreadTraces = files.converted(choice.get("wanted"), ThreadTraces)
            return structs.replace(earlier, gpu_index=recording.gpu_index)
    number = max(folders, default=0) + 1
    folder = work.place.make(work.place.path / files.DISCOVERIES / str(number))
    plan = _plan(work, discovery_before(recording), folder)
    ending = _run(work, plan, folder, "which kernel, and which of its launches?")
    try:
        kernels = discovered(folder / files.RAW)
    except NotATraceError:
        judgement = judge(plan.recording, ending, folder, work.gpu)
        verdict = Verdict.NO_DISPATCH if judgement.verdict is Verdict.GOOD else judgement.verdict
        reasons = tuple(f"discovery: {reason}" for reason in judgement.reasons) or ("discovery: no kernel ran",)
        return replace(judgement, verdict=verdict, reasons=reasons)
    resolved, notes = with_suggestion(recording, kernels, work.installation.rocm_version if work.installation else "")
    files.write_json(folder / CHOICE, {"wanted": resolved, "attempts": begun_count})
    work.events.tell("discovered", number=number, wanted=msgspec.to_builtins(resolved), notes=list(notes))
    return resolved


def discovery_before(recording: ThreadTraces) -> Discovery:
    """The discovery of the same program, in the same place."""
    program, variables, cwd = recording.program, recording.variables, recording.cwd
    return Discovery(program=program, variables=variables, cwd=cwd, gpu_index=recording.gpu_index)


# --- around them ---


def _write_machine(work: _Work) -> None:
    if (work.place.path / files.MACHINE).is_file():
        return
    from wavewright.capture.doctor.facts import machine_facts

    facts = machine_facts(work.machine, work.installation)
    files.write_json(work.place.path / files.MACHINE, {"v": 1, **facts, "versions": versions(work.installation)})


def _clean(result: Result, events: _Events) -> None:
    """Remove what the user did not want to keep: raw data of other attempts, and placeholders of the best one."""
    others = [attempt.raw for attempt in result.attempts if result.best and attempt.number != result.best.number]
    for dispatch in result.placeholders:
        others += result.raw.rglob(f"ui_output_agent_*_dispatch_{dispatch.dispatch}")
    freed = sum(_removed_bytes(result.folder, folder) for folder in others)
    if freed:
        events.note(f"{amount(freed)} of other attempts and placeholders were removed")


def _removed_bytes(root: Path, folder: Path) -> int:
    """Remove a folder, and the table that AMD's decoder puts beside it; how many bytes that frees."""
    if not is_own_folder(root, folder):
        return 0
    table = folder.with_name(f"stats_{folder.name}.csv")
    removable = [path for path in (*folder.rglob("*"), table) if path.is_file() and not path.is_symlink()]
    size_bytes = sum(path.stat().st_size for path in removable)
    with suppress(OSError):
        remove_below(root, folder)
        table.unlink(missing_ok=True)
    return size_bytes
