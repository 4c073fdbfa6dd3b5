"""Taking a capture: plan, run, judge, change and try again, until it is good or there is nothing left to try.

Each step writes one file when it is done, so that a taker that was killed at any moment is followed by one that goes
on: an attempt that ended is judged, one that did not counts as interrupted.
"""

from __future__ import annotations

import time
import uuid
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from wavewright.base.shown import shown
from wavewright.base.words import amount, counted, shortened
from wavewright.capture.jobs.attempts import run_passes
from wavewright.capture.jobs.folder import (
    COMMAND,
    FINISHED,
    FREE_BYTES_MIN,
    JUDGEMENT,
    MACHINE,
    RAW,
    JobFolder,
)
from wavewright.capture.jobs.lock import job_lock
from wavewright.capture.jobs.provenance import command_record, versions
from wavewright.capture.jobs.record import JobRecord, end_abandoned, ending_of
from wavewright.capture.jobs.result import Attempt, best_of
from wavewright.capture.jobs.stored import read_json, wanted_of, wanted_values, write_json
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.plans.planning import needs_discovery, planned
from wavewright.capture.wanted import Discovery, ThreadTraces
from wavewright.errors import MissingToolError, NotATraceError, OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from wavewright.capture.gpus.gpu import Gpu
    from wavewright.capture.jobs.job import Job
    from wavewright.capture.jobs.result import Result
    from wavewright.capture.machines.machine import Machine
    from wavewright.capture.machines.runner import Ending, Runner
    from wavewright.capture.plans.planning import Planned
    from wavewright.capture.rocprofv3.installation import Installation
    from wavewright.capture.wanted import Wanted

CHOICE = "choice.json"  #: In the folder of a discovery: what was taken from it.
_ANY = "any"
_FREE_SECONDS, _FREE_PAUSE_SECONDS = 10.0, 0.2  #: How long queues of a program that was stopped may take to vanish.
_GUARD_SECONDS = 15.0  #: How long what a killed taker left may keep its GPU until it is ended.
_CODE_BYTES = 64 << 20  #: Code objects and logs beside the streams.


def take(
    job: Job,
    folder: Path,
    *,
    machine: Machine,
    runner: Runner,
    installation: Installation | None = None,
    gpu: Gpu | None = None,
    say: Callable[[dict[str, Any]], None] = lambda event: None,
    resume: bool = False,
    force: bool = False,
    clean: bool = False,
    identifier: str = "",
    pause: Callable[[float], None] = time.sleep,
) -> Result:
    """Take a capture into a folder of its own.

    Parameters
    ----------
    job
        What is wanted, and how hard to try.
    folder
        Where everything goes; it is made.
    installation
        The profiler; None = the one that is found on the machine.
    gpu
        The GPU, which the caller has reserved; None = reserve the one that the job names.
    say
        Gets every event as an object: planned, started, running (once a second), ended, judged, retry, finished, and
        `note`, a sentence.
    resume
        Go on where an earlier call stopped; a finished job is not run again.
    force
        Replace an earlier capture in the folder.
    clean
        Afterwards remove the raw data of all attempts but the best, and placeholders.
    identifier
        The job's id where the caller has its own; the folder then may hold files of the caller.
    pause
        Waits before an attempt.

    Raises
    ------
    UsageError
        When the folder holds something else, the program does not exist, or the release cannot do what is wanted.
    OutputError
        When the file system refuses or is full.
    MissingToolError
        When there is no profiler or no GPU.
    BusyError
        When every GPU is used by others.
    """
    place = JobFolder(folder)
    place.check(job, resume=resume, force=force, identifier=identifier)
    place.make(folder)
    with job_lock(folder):
        identifier = place.open_for(job, resume=resume, force=force, identifier=identifier)
        capture = _Capture(job, place, identifier, machine, runner, installation, say, pause)
        return capture.run(gpu, clean=clean)


class _Capture:
    """One call of `take`, with the lock of the job."""

    def __init__(
        self,
        job: Job,
        place: JobFolder,
        identifier: str,
        machine: Machine,
        runner: Runner,
        installation: Installation | None,
        say: Callable[[dict[str, Any]], None],
        pause: Callable[[float], None],
    ) -> None:
        self._job = job
        self._place = place
        self._id = identifier
        self._machine = machine
        self._runner = runner
        self._installation = installation
        self._say = say
        self._pause = pause
        self._gpu: Gpu | None = None
        self._record = JobRecord(place, identifier, job)

    def run(self, gpu: Gpu | None, *, clean: bool) -> Result:
        """Everything, from where the files end."""
        if self._record.is_finished:
            self._note("this capture has finished already; nothing is run")
        else:
            self._check_program()
            if self._installation is None:
                from wavewright.capture.rocprofv3.installed import find_installation

                self._installation = find_installation(self._machine)
            with self._reserved(gpu) as self._gpu:
                self._finish(self._attempts())
        result = self._record.result()
        if clean:
            self._clean(result)
        return result

    # --- before anything runs ---

    def _check_program(self) -> None:
        """AMD's script would answer with a traceback for a program that does not exist."""
        wanted = self._job.wanted
        word = wanted.program[0] if wanted.program else ""
        if not word:
            raise UsageError("no program is given")
        if "PATH" in wanted.variables and "/" not in word:
            return  # only the program's own PATH tells
        path = f"{wanted.cwd}/{word}" if wanted.cwd and "/" in word and not word.startswith("/") else word
        if self._machine.program(path) is not None:
            return
        exists = "/" in path and self._machine.facts(path) is not None
        problem = "is not executable" if exists else "does not exist"
        advice = f"chmod +x {shown(word)}, or name its interpreter first" if exists else "check its name and PATH"
        raise UsageError(f"the program {shortened(shown(word))!r} {problem}", advice=advice)

    @contextmanager
    def _reserved(self, gpu: Gpu | None) -> Iterator[Gpu | None]:
        if gpu is not None:
            yield gpu
            return
        from wavewright.capture.gpus.choice import reserved
        from wavewright.capture.gpus.topology import gpus_of
        from wavewright.capture.gpus.users import users_of

        gpus = gpus_of(self._machine)
        if self._job.gpu == _ANY:
            yield gpus[0] if gpus else None
            return
        if not gpus:
            raise MissingToolError("this machine has no GPU that the driver shows", advice="wavewright doctor says why")
        with reserved(
            self._job.gpu,
            gpus,
            lambda: users_of(self._machine, gpus),
            host=self._machine.identity.hostname,
            variables=self._machine.variables,
            folder=str(self._place.path),
            wait_seconds=max(self._job.wait_seconds, _GUARD_SECONDS if self._record.numbers else 0.0),
            is_shared=self._job.is_shared,
            say=self._note,
        ) as reservation:
            yield reservation.gpu

    # --- attempts ---

    def _attempts(self) -> list[Attempt]:
        """Try until it is good or nothing is left to try; all attempts that were judged."""
        self._write_machine()
        self._settle()
        attempts = self._record.attempts()
        wanted, why = self._next_wanted(attempts)
        while wanted is not None:
            number = max(self._record.numbers, default=0) + 1
            attempts.append(self._attempt(number, wanted, why))
            self._link(attempts)
            wanted, why = self._next_wanted(attempts)
        return attempts

    def _next_wanted(self, attempts: list[Attempt]) -> tuple[Wanted | None, str]:
        """What the next attempt is to record, and why; None = there is none."""
        numbers = self._record.numbers
        if not numbers:
            return self._on_gpu(self._job.wanted), ""
        last = numbers[-1]
        if not attempts or attempts[-1].number != last:  # at least one more: nobody shall lose a job by interrupting it
            return self._on_gpu(self._record.wanted(last)), "the attempt before it was interrupted"
        if len(numbers) >= self._job.attempts:
            return None, ""
        from wavewright.capture.plans.retries import next_try

        latest = attempts[-1]
        earlier = [(each.wanted, each.judgement) for each in attempts[:-1]]
        retry = next_try(latest.wanted, latest.judgement, self._gpu, earlier)
        if retry is None:
            return None, ""
        self._tell("retry", attempt=last + 1, why=retry.why, pause_seconds=retry.pause_seconds)
        if retry.pause_seconds:
            self._pause(retry.pause_seconds)
        return self._on_gpu(retry.wanted), retry.why

    def _on_gpu(self, wanted: Wanted) -> Wanted:
        """The same on the GPU that is reserved now: an attempt before it may have had another one."""
        if self._gpu is None or self._job.gpu == _ANY or self._job.wanted.gpu_index is not None:
            return wanted
        return replace(wanted, gpu_index=self._gpu.index)

    def _settle(self) -> None:
        """Bring the last attempt of a taker that was killed to its end: judge it, or count it as interrupted."""
        if count := end_abandoned(self._place, self._runner):
            self._note(f"{counted(count, 'processes')} of the interrupted attempt still ran; ended now")
        last = max(self._record.numbers, default=0)
        if not last or self._record.is_judged(last):
            return
        ending = ending_of(self._place.attempt(last))
        if ending is None or ending.stopped == "interrupted":
            self._tell("interrupted", attempt=last)
        else:
            self._judge(last, self._record.wanted(last), ending)

    def _attempt(self, number: int, wanted: Wanted, why: str) -> Attempt:
        folder = self._place.make(self._place.attempt(number))
        if isinstance(wanted, ThreadTraces) and needs_discovery(wanted):
            discovered = self._discovered(wanted)
            if isinstance(discovered, Judgement):
                return self._judged(number, wanted, discovered, None)
            wanted = discovered
        plan = self._plan(wanted, folder)
        if number == 1:
            notes = [*plan.notes, *(note for command in plan.commands for note in command.notes)]
            lines = [command.line for command in plan.commands]
            notes = list(dict.fromkeys(notes))
            self._tell("planned", wanted=wanted_values(plan.wanted), commands=lines, notes=notes)
        return self._judge(number, plan.wanted, self._run(plan, folder, why, attempt=number))

    def _plan(self, wanted: Wanted, folder: Path) -> Planned:
        assert self._installation is not None  # noqa: S101 - looked for before anything runs
        raw = str(self._place.make(folder / RAW).absolute())
        plan = planned(wanted, self._installation, self._gpu, raw=raw, variables=self._machine.variables)
        word = plan.commands[0].words[0]
        if self._machine.program(word) is None:
            advice = "install it, or see what is there with wavewright doctor"
            raise MissingToolError(f"{shown(word)} is not installed", advice=advice)
        self._check_disk(plan.wanted, raw)
        return plan

    def _run(self, plan: Planned, folder: Path, why: str, *, attempt: int | None = None) -> Ending:
        """Run every pass of an attempt, or of a discovery."""
        mark = f"{self._id}-{uuid.uuid4().hex[:8]}"
        record = command_record(plan, self._machine, self._installation, self._gpu)
        write_json(folder / COMMAND, {"v": 1, "why": why, "mark": mark, **record})
        purpose = "" if attempt is not None else "discovery "

        def tell(event: str, **facts: Any) -> None:
            self._tell(event if event == "running" else f"{purpose}{event}", attempt=attempt, **facts)

        try:
            ending = run_passes(
                plan.commands,
                folder,
                runner=self._runner,
                variables=self._machine.variables,
                limits=self._job.limits,
                mark=mark,
                tell=tell,
            )
        except KeyboardInterrupt:
            if attempt is not None:
                self._tell("interrupted", attempt=attempt)
            raise
        if ending.stopped or ending.left_behind:
            self._wait_for_gpu()
        return ending

    def _judge(self, number: int, wanted: Wanted, ending: Ending) -> Attempt:
        from wavewright.capture.judging import judge

        judgement = judge(wanted, ending, self._place.attempt(number), self._gpu)
        return self._judged(number, wanted, judgement, ending)

    def _judged(self, number: int, wanted: Wanted, judgement: Judgement, ending: Ending | None) -> Attempt:
        folder = self._place.attempt(number)
        write_json(folder / JUDGEMENT, asdict(judgement))
        values = {"verdict": judgement.verdict.value, "reasons": list(judgement.reasons), "advice": judgement.advice}
        self._tell("judged", attempt=number, **values)
        return Attempt(number=number, folder=folder, wanted=wanted, judgement=judgement, ending=ending)

    # --- discovery ---

    def _discovered(self, wanted: ThreadTraces) -> ThreadTraces | Judgement:
        """The same with a kernel and launches of a discovery, which is run first; a judgement when that failed."""
        from wavewright.capture.judging import judge
        from wavewright.capture.plans.discovery import discovered, with_suggestion

        earlier = self._earlier_choice()
        if earlier is not None:
            return replace(earlier, gpu_index=wanted.gpu_index)
        number = max(self._place.discovery_folders(), default=0) + 1
        folder = self._place.make(self._place.discovery(number))
        only = Discovery(program=wanted.program, variables=wanted.variables, cwd=wanted.cwd, gpu_index=wanted.gpu_index)
        plan = self._plan(only, folder)
        ending = self._run(plan, folder, "which kernel, and which of its launches?")
        try:
            kernels = discovered(folder / RAW)
        except NotATraceError:
            judgement = judge(plan.wanted, ending, folder, self._gpu)
            verdict = Verdict.NO_DISPATCH if judgement.verdict is Verdict.GOOD else judgement.verdict
            reasons = tuple(f"discovery: {reason}" for reason in judgement.reasons) or ("discovery: no kernel ran",)
            return replace(judgement, verdict=verdict, reasons=reasons)
        version = self._installation.rocm_version if self._installation else ""
        resolved, notes = with_suggestion(wanted, kernels, version)
        write_json(folder / CHOICE, {"wanted": wanted_values(resolved), "attempts": len(self._record.numbers)})
        self._tell("discovered", number=number, wanted=wanted_values(resolved), notes=list(notes))
        return resolved

    def _earlier_choice(self) -> ThreadTraces | None:
        """What the last discovery suggested, unless an attempt was made of it: another is then wanted for a reason."""
        folders = list(self._place.discovery_folders().values())
        choice = read_json(folders[-1] / CHOICE) if folders else None
        if not isinstance(choice, dict) or choice.get("attempts") != len(self._record.numbers):
            return None
        with suppress(UsageError):
            earlier = wanted_of(choice.get("wanted"))
            return earlier if isinstance(earlier, ThreadTraces) else None
        return None

    # --- around them ---

    def _check_disk(self, wanted: Wanted, raw: str) -> None:
        """Refuse a disk that is full, and warn of one that may become so."""
        expected = _CODE_BYTES
        if isinstance(wanted, ThreadTraces):
            expected += (wanted.buffer_bytes or 0) * max(len(wanted.launches), 1)
        free = self._machine.free_bytes(raw)
        if free is None:
            return
        if free < FREE_BYTES_MIN:
            what = f"only {amount(free)} are free, and a capture needs more"
            raise OutputError(what, where=shown(raw), advice="free some space, or choose another disk with -o")
        if free < expected:
            self._note(f"{amount(free)} are free, and full buffers of this capture would be {amount(expected)}")

    def _wait_for_gpu(self) -> None:
        """Queues of a program that was stopped must vanish before the GPU is used again."""
        if self._gpu is None or self._job.is_shared or self._job.gpu == _ANY:
            return
        from wavewright.capture.gpus.users import users_of

        deadline = time.monotonic() + _FREE_SECONDS
        while users := users_of(self._machine, [self._gpu]).get(self._gpu.key):
            if time.monotonic() >= deadline:
                names = ", ".join(f"{user.pid} {user.name}".strip() for user in users[:3])
                self._note(f"GPU {self._gpu.index} still has queues of process {names}")
                return
            self._pause(_FREE_PAUSE_SECONDS)

    def _write_machine(self) -> None:
        if (self._place.path / MACHINE).is_file():
            return
        from wavewright.capture.doctor import machine_facts

        facts = machine_facts(self._machine, self._installation)
        write_json(self._place.path / MACHINE, {"v": 1, **facts, "versions": versions(self._installation)})

    def _link(self, attempts: Sequence[Attempt]) -> None:
        best = best_of(attempts)
        if best is not None:
            self._place.link_result(best.number)

    def _finish(self, attempts: list[Attempt]) -> None:
        """Once: the lock is ours, and the job had not finished."""
        best = best_of(attempts)
        if best is None:
            return
        self._link(attempts)
        values: dict[str, Any] = {"verdict": best.judgement.verdict.value, "attempts": len(attempts)}
        values["noise_share"] = best.judgement.noise_share
        write_json(self._place.path / FINISHED, {"v": 1, "attempt": best.number, **values})
        self._tell("finished", attempt=best.number, **values)

    def _clean(self, result: Result) -> None:
        """Remove what the user did not want to keep: raw data of other attempts, and placeholders of the best one."""
        freed = 0
        for attempt in result.attempts:
            if result.best is not None and attempt.number != result.best.number:
                freed += self._place.remove_raw(attempt.number)
        for dispatch in result.placeholders:
            freed += self._place.remove_placeholder(result.raw, dispatch.dispatch)
        if freed:
            self._note(f"{amount(freed)} of other attempts and placeholders were removed")

    def _tell(self, event: str, *, attempt: int | None = None, **details: Any) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        numbered = {} if attempt is None else {"attempt": attempt}
        self._say({"v": 1, "time": now, "job": self._id, "event": event, **numbered, **details})

    def _note(self, text: str) -> None:
        self._tell("note", text=text)
