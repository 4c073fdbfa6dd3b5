"""What the manifest and the files of a job say about it, also after its taker was killed."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from wavewright.capture.jobs import manifest
from wavewright.capture.jobs.attempts import Passes
from wavewright.capture.jobs.folder import COMMAND, JUDGEMENT, JobFolder
from wavewright.capture.jobs.result import Attempt, Result, best_of
from wavewright.capture.jobs.stored import converted, read_json, wanted_of
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.machines.runner import Ending
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.capture.jobs.job import Job
    from wavewright.capture.jobs.manifest import Event
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
    return Replay(place, identifier, job).result()


class Replay:
    """What the events of a job say."""

    def __init__(self, place: JobFolder, identifier: str, job: Job) -> None:
        self.place = place
        self.identifier = identifier
        self.job = job
        self.events = place.manifest.events()

    def named(self, event: str, attempt: int | None = None) -> list[Event]:
        """The events of one name, and of one attempt."""
        return [each for each in self.events if each.event == event and attempt in (None, each.attempt)]

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to be done."""
        return bool(self.named(manifest.FINISHED))

    @property
    def numbers(self) -> list[int]:
        """Numbers of attempts that were started, in order; one whose discovery failed was only judged."""
        events = (*self.named(manifest.STARTED), *self.named(manifest.JUDGED))
        return sorted({each.attempt for each in events if each.attempt is not None})

    @property
    def abandoned_marks(self) -> list[str]:
        """Marks of programs, of attempts or discoveries, that were started and whose end nobody wrote down."""
        marks: dict[str, str] = {}
        for event in self.events:
            kind, _, what = event.event.rpartition(" ")  # "discovery started", "started"
            mark = event.details.get("mark")
            if what == manifest.STARTED and isinstance(mark, str) and mark:
                marks[kind] = mark
            elif what in (manifest.ENDED, manifest.INTERRUPTED):
                marks.pop(kind, None)
        return list(marks.values())

    def attempts(self) -> list[Attempt]:
        """Attempts that were judged."""
        judged = {each.attempt: each for each in self.named(manifest.JUDGED)}
        return [self.attempt(number, judged[number]) for number in self.numbers if number in judged]

    def attempt(self, number: int, judged: Event) -> Attempt:
        """One attempt that was judged."""
        folder = self.place.attempt(number)
        values = read_json(folder / JUDGEMENT)
        try:
            judgement = converted(values, Judgement)
        except UsageError:  # the event has the essence
            words = [word for word in judged.details.get("reasons", []) if isinstance(word, str)]
            verdict = str(judged.details.get("verdict"))
            is_ours = verdict in [each.value for each in Verdict]
            judgement = Judgement(verdict=Verdict(verdict) if is_ours else Verdict.FAILED, reasons=tuple(words))
        return Attempt(
            number=number,
            folder=folder,
            wanted=self.wanted(number),
            judgement=judgement,
            ending=self.ending(number),
            why=self.why(number),
        )

    def wanted(self, number: int) -> Wanted:
        """What an attempt was to record."""
        values = read_json(self.place.attempt(number) / COMMAND)
        try:
            return wanted_of(values.get("wanted") if isinstance(values, dict) else None)
        except UsageError:
            return self.job.wanted

    def why(self, number: int) -> str:
        """Why an attempt was made."""
        values = read_json(self.place.attempt(number) / COMMAND)
        return str(values.get("why", "")) if isinstance(values, dict) else ""

    def ending(self, number: int) -> Ending | None:
        """How all passes of an attempt ended together; None = not all of them did."""
        started = self.named(manifest.STARTED, number)
        total = started[-1].details.get("passes", 1) if started else 1
        endings: dict[object, Ending] = {}
        for each in self.named(manifest.ENDED, number):
            with suppress(UsageError):
                endings[each.details.get("pass", 1)] = converted(each.details, Ending)
        complete = Passes(endings=tuple(endings.values()))
        return complete.together if len(endings) == total or complete.is_stopped else None

    def result(self) -> Result:
        """What became of the job so far."""
        attempts = tuple(self.attempts())
        notes = [str(note) for each in self.named(manifest.PLANNED)[-1:] for note in each.details.get("notes", [])]
        return Result(
            id=self.identifier,
            job=self.job,
            folder=self.place.path,
            attempts=attempts,
            best=best_of(attempts),
            notes=tuple(notes),
        )
