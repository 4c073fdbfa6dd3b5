"""Taking a capture: plan, run, judge, change and try again, until it is good or there is nothing left to try.

Everything that happens is an event of the manifest before the next thing happens, so that a taker that was killed at
any moment is followed by one that goes on: an attempt that ended is judged, one that did not counts as interrupted.
"""

from __future__ import annotations

import time
import uuid
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from wavewright.base.shown import shown
from wavewright.base.words import amount, counted, shortened
from wavewright.capture.jobs import manifest
from wavewright.capture.jobs.attempts import join_outputs, run_passes
from wavewright.capture.jobs.folder import (
    COMMAND,
    FREE_BYTES_MIN,
    HASHES,
    JUDGEMENT,
    MACHINE,
    RAW,
    JobFolder,
)
from wavewright.capture.jobs.manifest import Event, as_line, job_lock
from wavewright.capture.jobs.provenance import changed_files, command_record, output_hashes, versions
from wavewright.capture.jobs.replay import Replay
from wavewright.capture.jobs.result import Attempt, best_of
from wavewright.capture.jobs.stored import judgement_essence, read_json, wanted_of, wanted_values, write_json
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.plans.planning import needs_discovery, planned
from wavewright.capture.wanted import Discovery, RunTrace, ThreadTraces
from wavewright.errors import MissingToolError, NotATraceError, OutputError, UsageError, WavewrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from wavewright.capture.gpus.gpu import Gpu
    from wavewright.capture.jobs.attempts import Passes
    from wavewright.capture.jobs.job import Job
    from wavewright.capture.jobs.result import Result
    from wavewright.capture.machines.machine import Machine
    from wavewright.capture.machines.runner import Ending, Runner
    from wavewright.capture.plans.planning import Planned
    from wavewright.capture.rocprofv3.installation import Installation
    from wavewright.capture.wanted import Wanted

DISCOVERED, NOTE, RUNNING, RETRY, BROUGHT = "discovered", "note", "running", "retry", "brought"
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
        Gets every event as the object of its line in the manifest, and some that are not written there: `note` (a
        sentence) and `running` (once a second).
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
        taking = _Taking(job, place, identifier, machine, runner, installation, say, pause)
        return taking.run(gpu, clean=clean)


class _Taking:
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

    def run(self, gpu: Gpu | None, *, clean: bool) -> Result:
        """Everything, from where the manifest ends."""
        replay = self._replay()
        if replay.is_finished:
            self._note("this capture has finished already; nothing is run")
            self._check_result(replay.result())
        else:
            self._check_program()
            if self._installation is None:
                self._installation = self._found_installation()
            with self._reserved(gpu) as self._gpu:
                self._finish(self._attempts())
            replay = self._replay()
        result = replay.result()
        if clean:
            self._clean(result)
        return result

    def _replay(self) -> Replay:
        return Replay(self._place, self._id, self._job)

    # --- before anything runs ---

    def _found_installation(self) -> Installation:
        from wavewright.capture.rocprofv3.installed import find_installation
        from wavewright.capture.rocprofv3.releases import assumed

        try:
            return find_installation(self._machine)
        except MissingToolError:
            if isinstance(self._job.wanted, RunTrace) and self._job.wanted.tool != "rocprofv3":
                return assumed()  # another tool records, and is looked for by its name
            raise

    def _check_tool(self, plan: Planned) -> None:
        word = plan.commands[0].words[0]
        if self._machine.program(word) is None:
            advice = "install it, or see what is there with wavewright doctor"
            raise MissingToolError(f"{shown(word)} is not installed", where=self._machine.name, advice=advice)

    def _check_program(self) -> None:
        """AMD's script would answer with a traceback for a program that does not exist."""
        wanted = self._job.wanted
        word = wanted.program[0] if wanted.program else ""
        where = f"on {self._machine.name}" if self._machine.name else ""
        if not word:
            raise UsageError("no program is given", where=where)
        if "PATH" in wanted.variables and "/" not in word:
            return  # only the program's own PATH tells
        path = f"{wanted.cwd}/{word}" if wanted.cwd and "/" in word and not word.startswith("/") else word
        if self._machine.program(path) is not None:
            return
        exists = "/" in path and self._machine.facts(path) is not None
        problem = "is not executable" if exists else "does not exist"
        advice = f"chmod +x {shown(word)}, or name its interpreter first" if exists else "check its name and PATH"
        raise UsageError(f"the program {shortened(shown(word))!r} {problem}", where=where, advice=advice)

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
            what = "this machine has no GPU that the driver shows"
            raise MissingToolError(what, where=self._machine.name, advice="wavewright doctor says why")
        with reserved(
            self._job.gpu,
            gpus,
            lambda: users_of(self._machine, gpus),
            host=self._machine.identity.hostname,
            variables=self._machine.variables,
            folder=str(self._place.path),
            wait_seconds=max(self._job.wait_seconds, _GUARD_SECONDS if self._replay().events else 0.0),
            is_shared=self._job.is_shared,
            say=self._note,
        ) as reservation:
            yield reservation.gpu

    # --- attempts ---

    def _attempts(self) -> list[Attempt]:
        """Try until it is good or nothing is left to try; all attempts that were judged."""
        self._write_machine()
        replay = self._replay()
        self._settle(replay)
        replay = self._replay()
        attempts = replay.attempts()
        wanted, why = self._next_wanted(replay, attempts)
        while wanted is not None:
            number = max(replay.numbers, default=0) + 1
            attempts.append(self._attempt(number, wanted, why))
            self._link(attempts)
            replay = self._replay()
            wanted, why = self._next_wanted(replay, attempts)
        return attempts

    def _next_wanted(self, replay: Replay, attempts: list[Attempt]) -> tuple[Wanted | None, str]:
        """What the next attempt is to record, and why; None = there is none."""
        last = max(replay.numbers, default=0)
        if not last:
            return self._on_gpu(self._job.wanted), ""
        if not attempts or attempts[-1].number != last:  # at least one more: nobody shall lose a job by interrupting it
            return self._on_gpu(replay.wanted(last)), "the attempt before it was interrupted"
        if len(replay.numbers) >= self._job.attempts:
            return None, ""
        from wavewright.capture.plans.retries import next_try

        latest = attempts[-1]
        earlier = [(each.wanted, each.judgement) for each in attempts[:-1]]
        retry = next_try(latest.wanted, latest.judgement, self._gpu, earlier)
        if retry is None:
            return None, ""
        if not replay.named(RETRY, last + 1):
            self._tell(RETRY, attempt=last + 1, why=retry.why, pause_seconds=retry.pause_seconds)
            if retry.pause_seconds:
                self._pause(retry.pause_seconds)
        return self._on_gpu(retry.wanted), retry.why

    def _on_gpu(self, wanted: Wanted) -> Wanted:
        """The same on the GPU that is reserved now: an attempt before it may have had another one."""
        if self._gpu is None or self._job.gpu == _ANY or self._job.wanted.gpu_index is not None:
            return wanted
        return replace(wanted, gpu_index=self._gpu.index)

    def _settle(self, replay: Replay) -> None:
        """Bring the last attempt of a taker that was killed to its end: judge it, or count it as interrupted."""
        for mark in replay.abandoned_marks:
            count = self._runner.clear(mark)
            if count:
                self._note(f"{counted(count, 'processes')} of the interrupted attempt still ran; ended now")
        last = max(replay.numbers, default=0)
        if not last or replay.named(manifest.JUDGED, last) or replay.named(manifest.INTERRUPTED, last):
            return
        folder = self._place.attempt(last)
        self._runner.bring(folder / RAW)
        join_outputs(folder)
        ending = replay.ending(last) or self._runner.ending(folder / RAW)
        if ending is None or ending.stopped == "interrupted":
            self._tell(manifest.INTERRUPTED, attempt=last)
        else:
            self._judge(last, replay.wanted(last), ending)

    def _attempt(self, number: int, wanted: Wanted, why: str) -> Attempt:
        folder = self._place.make(self._place.attempt(number))
        if isinstance(wanted, ThreadTraces) and needs_discovery(wanted):
            discovered = self._discovered(wanted)
            if isinstance(discovered, Judgement):
                return self._judged(number, wanted, discovered, None, 0, 0)
            wanted = discovered
        plan = self._plan(wanted, folder)
        self._check_tool(plan)
        self._check_disk(plan, folder)
        if number == 1:
            lines = [command.line for command in plan.commands]
            notes = [*plan.notes, *(note for command in plan.commands for note in command.notes)]
            self._tell(
                manifest.PLANNED, wanted=wanted_values(plan.wanted), commands=lines, notes=list(dict.fromkeys(notes))
            )
        self._write_command(folder, plan, why)
        passes = self._run(plan, folder, number)
        self._runner.bring(folder / RAW)
        return self._judge(number, plan.wanted, passes.together)

    def _plan(self, wanted: Wanted, folder: Path) -> Planned:
        assert self._installation is not None  # noqa: S101 - looked for before anything runs
        raw = self._runner.folder(folder / RAW)
        return planned(wanted, self._installation, self._gpu, raw=raw, variables=self._machine.variables)

    def _run(self, plan: Planned, folder: Path, number: int | None, purpose: str = "") -> Passes:
        """Run every pass of an attempt or of a discovery."""
        total = len(plan.commands)

        def started(place: int, mark: str) -> None:
            line = plan.commands[place - 1].line
            self._tell(
                manifest.STARTED if not purpose else f"{purpose} started",
                attempt=number,
                **{"pass": place, "passes": total, "mark": mark, "command": line, "gpu": self._gpu and self._gpu.key},
            )

        def ended(place: int, ending: Ending) -> None:
            name = manifest.ENDED if not purpose else f"{purpose} ended"
            self._tell(name, attempt=number, **{"pass": place, "passes": total}, **asdict(ending))

        def running(place: int, seconds: float) -> None:
            values = {"pass": place, "passes": total, "seconds": round(seconds, 1), "purpose": purpose}
            self._say(as_line(Event(event=RUNNING, job=self._id, attempt=number, details=values)))

        try:
            passes = run_passes(
                plan.commands,
                folder,
                runner=self._runner,
                variables=self._machine.variables,
                limits=self._job.limits,
                mark=f"{self._id}-{uuid.uuid4().hex[:8]}",
                started=started,
                ended=ended,
                running=running,
            )
        except KeyboardInterrupt:
            if number is not None:
                with suppress(WavewrightError):
                    self._tell(manifest.INTERRUPTED, attempt=number)
            raise
        if passes.together.stopped or passes.together.left_behind:
            self._wait_for_gpu()
        return passes

    def _judge(self, number: int, wanted: Wanted, ending: Ending) -> Attempt:
        from wavewright.capture.judging import judge

        folder = self._place.attempt(number)
        hashes = output_hashes(folder / RAW)
        write_json(folder / HASHES, hashes)
        judgement = judge(wanted, ending, folder, self._gpu)
        size = sum(each["size_bytes"] for each in hashes)
        return self._judged(number, wanted, judgement, ending, size, len(hashes))

    def _judged(
        self, number: int, wanted: Wanted, judgement: Judgement, ending: Ending | None, size: int, file_count: int
    ) -> Attempt:
        folder = self._place.attempt(number)
        write_json(folder / JUDGEMENT, asdict(judgement))
        self._tell(
            manifest.JUDGED, attempt=number, **judgement_essence(judgement), size_bytes=size, file_count=file_count
        )
        why = self._replay().why(number)
        return Attempt(number=number, folder=folder, wanted=wanted, judgement=judgement, ending=ending, why=why)

    # --- discovery ---

    def _discovered(self, wanted: ThreadTraces) -> ThreadTraces | Judgement:
        """The same with a kernel and launches of a discovery, which is run first; a judgement when that failed."""
        from wavewright.capture.judging import judge
        from wavewright.capture.plans.discovery import discovered, with_suggestion

        done = [each for each in self._replay().named(DISCOVERED) if not _is_used(each, self._place)]
        if done:
            with suppress(UsageError):
                earlier = wanted_of(done[-1].details.get("wanted"))
                if isinstance(earlier, ThreadTraces):
                    return replace(earlier, gpu_index=wanted.gpu_index)
        number = self._place.discovery_count() + 1
        folder = self._place.make(self._place.discovery(number))
        only = Discovery(program=wanted.program, variables=wanted.variables, cwd=wanted.cwd, gpu_index=wanted.gpu_index)
        plan = self._plan(only, folder)
        self._check_disk(plan, folder)
        self._write_command(folder, plan, "which kernel, and which of its launches?")
        ending = self._run(plan, folder, None, "discovery").together
        self._runner.bring(folder / RAW)
        try:
            kernels = discovered(folder / RAW)
        except NotATraceError:
            judgement = judge(plan.wanted, ending, folder, self._gpu)
            verdict = Verdict.NO_DISPATCH if judgement.verdict is Verdict.GOOD else judgement.verdict
            reasons = tuple(f"discovery: {reason}" for reason in judgement.reasons) or ("discovery: no kernel ran",)
            return replace(judgement, verdict=verdict, reasons=reasons)
        version = self._installation.rocm_version if self._installation else ""
        resolved, notes = with_suggestion(wanted, kernels, version)
        self._tell(DISCOVERED, number=number, wanted=wanted_values(resolved), notes=list(notes))
        return resolved

    # --- around them ---

    def _check_disk(self, plan: Planned, folder: Path) -> None:
        """Refuse a disk that is full, and warn of one that may become so."""
        wanted = plan.wanted
        expected = _CODE_BYTES
        if isinstance(wanted, ThreadTraces):
            expected += (wanted.buffer_bytes or 0) * max(len(wanted.launches), 1)
        raw = self._runner.folder(folder / RAW)
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

    def _write_command(self, folder: Path, plan: Planned, why: str) -> None:
        record = command_record(plan, self._machine, self._installation, self._gpu)
        write_json(folder / COMMAND, {"v": 1, "why": why, **record})

    def _link(self, attempts: Sequence[Attempt]) -> None:
        best = best_of(attempts)
        if best is not None:
            self._place.link_result(best.number)

    def _finish(self, attempts: list[Attempt]) -> None:
        """Once: the lock is ours, and the manifest said that it had not finished."""
        best = best_of(attempts)
        if best is None:
            return
        self._link(attempts)
        self._tell(
            manifest.FINISHED,
            attempt=best.number,
            verdict=best.judgement.verdict.value,
            attempts=len(attempts),
            noise_share=best.judgement.noise_share,
        )

    def _clean(self, result: Result) -> None:
        """Remove what the user did not want to keep: raw data of other attempts, and placeholders of the best one."""
        freed = 0
        for attempt in result.attempts:
            if result.best is not None and attempt.number != result.best.number:
                freed += self._place.remove_raw(attempt.number)
        for dispatch in result.placeholders:
            freed += self._place.remove_placeholder(result.raw, dispatch.dispatch)
        if freed:
            if result.best is not None:
                write_json(result.best.folder / HASHES, output_hashes(result.raw))
            self._note(f"{amount(freed)} of other attempts and placeholders were removed")

    def _check_result(self, result: Result) -> None:
        """Say when the data of a finished capture are not as they were."""
        changed = changed_files(result.raw, result.best.folder / HASHES) if result.best else ()
        if changed:
            what = counted(len(changed), "files of its result that are missing or of another size")
            self._note(f"its data have changed: {what}, as {changed[0]}; take it again with --force")

    def _tell(self, event: str, *, attempt: int | None = None, **details: Any) -> None:
        self._say(as_line(self._place.manifest.append(self._id, event, attempt=attempt, **details)))

    def _note(self, text: str) -> None:
        self._say(as_line(Event(event=NOTE, job=self._id, details={"text": text})))


def _is_used(discovery: Event, place: JobFolder) -> bool:
    """Whether an attempt was already made of a discovery: another discovery is then wanted for a reason."""
    values = discovery.details.get("wanted")
    launches = values.get("launches") if isinstance(values, dict) else None
    for number in range(1, 1000):
        stored = read_json(place.attempt(number) / COMMAND)
        if not isinstance(stored, dict):
            return False
        before = stored.get("wanted")
        if isinstance(before, dict) and before.get("launches") == launches:
            return True
    return True
