"""What the files of a job say about it, also after its taker was killed: each step writes one file when it is done.

`command.json` says that an attempt begins, `ending.json` how its program ended, `judgement.json` what it is worth, and
`result.json` beside them that nothing is left to be done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.capture.jobs.folder import COMMAND, ENDING, FINISHED, JUDGEMENT, JobFolder
from wavewright.capture.jobs.result import Attempt, Result, best_of
from wavewright.capture.jobs.stored import converted, read_json, wanted_of
from wavewright.capture.judgement import Judgement
from wavewright.capture.machines.runner import Ending
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.capture.jobs.job import Job
    from wavewright.capture.machines.runner import Runner
    from wavewright.capture.wanted import Wanted


def stored_result(folder: Path) -> Result:
    """What became of the job of a folder, from what it holds.

    Raises
    ------
    UsageError
        When it holds no job.
    """
    place = JobFolder(folder)
    identifier, job = place.stored_job()
    return JobRecord(place, identifier, job).result()


class JobRecord:
    """What the files of a job say."""

    def __init__(self, place: JobFolder, identifier: str, job: Job) -> None:
        self.place = place
        self.identifier = identifier
        self.job = job

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to be done."""
        return (self.place.path / FINISHED).is_file()

    @property
    def numbers(self) -> list[int]:
        """Numbers of attempts that were begun, in order; one whose discovery failed was only judged."""
        folders = self.place.attempt_folders()
        return [
            number for number in folders if any((folders[number] / name).is_file() for name in (COMMAND, JUDGEMENT))
        ]

    def is_judged(self, number: int) -> bool:
        """Whether an attempt has a verdict."""
        return (self.place.attempt(number) / JUDGEMENT).is_file()

    def attempts(self) -> list[Attempt]:
        """Attempts that were judged."""
        attempts = []
        for number in self.numbers:
            folder = self.place.attempt(number)
            try:
                judgement = converted(read_json(folder / JUDGEMENT), Judgement)
            except UsageError:
                continue
            attempts.append(
                Attempt(
                    number=number,
                    folder=folder,
                    wanted=self.wanted(number),
                    judgement=judgement,
                    ending=ending_of(folder),
                    why=_text(folder / COMMAND, "why"),
                )
            )
        return attempts

    def wanted(self, number: int) -> Wanted:
        """What an attempt was to record."""
        values = read_json(self.place.attempt(number) / COMMAND)
        try:
            return wanted_of(values.get("wanted") if isinstance(values, dict) else None)
        except UsageError:
            return self.job.wanted

    def result(self) -> Result:
        """What became of the job so far."""
        attempts = tuple(self.attempts())
        best = best_of(attempts)
        return Result(id=self.identifier, job=self.job, folder=self.place.path, attempts=attempts, best=best)


def end_abandoned(place: JobFolder, runner: Runner) -> int:
    """End programs, of attempts or discoveries, that were started and whose end nobody wrote down; how many processes.

    Only whoever has the lock of the job may do that.
    """
    folders = [*place.attempt_folders().values(), *place.discovery_folders().values()]
    marks = [_text(folder / COMMAND, "mark") for folder in folders if not (folder / ENDING).is_file()]
    return sum(runner.clear(mark) for mark in marks if mark)


def ending_of(folder: Path) -> Ending | None:
    """How the program of an attempt or discovery ended; None = nobody wrote it down."""
    try:
        return converted(read_json(folder / ENDING), Ending)
    except UsageError:
        return None


def _text(path: Path, key: str) -> str:
    values: Any = read_json(path)
    return str(values.get(key) or "") if isinstance(values, dict) else ""
