"""Checks: their rules, what a look at the machine gives, and the result that is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """The result of a check."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"
    NOT_CHECKED = "not checked"


class Level(StrEnum):
    """The meaning of a check that is not healthy."""

    ERROR = "error"  #: A capture fails.
    WARNING = "warning"  #: A capture is spoilt, or something in it is missing.
    NOTE = "note"  #: Good to know: the status stays ok.


class Area(StrEnum):
    """Checks that belong together, in the order in which they are shown."""

    SYSTEM = "System"
    DRIVER = "Driver and devices"
    GPUS = "GPUs"
    ROCM = "ROCm and rocprofv3"
    SURROUNDINGS = "Variables and libraries"
    LIMITS = "Kernel settings and room"
    TRIED = "Tried out"


@dataclass(frozen=True)
class Outcome:
    """A case of a check: `says` of its rule has the words, into which the values go."""

    case: str
    is_healthy: bool | None = True  #: None = it could not be checked; the words then are the reason.
    commands: tuple[str, ...] = ()  #: For a shell, beside those of the words.
    details: tuple[str, ...] = ()  #: Lines that go with the finding, such as one per GPU.
    level: Level | None = None  #: Instead of that of the check.
    values: dict[str, object] = field(default_factory=dict)


def ok(case: str, *, details: tuple[str, ...] = (), **values: object) -> Outcome:
    """A healthy case; a remedy in its words is a hint."""
    return Outcome(case, details=details, values=values)


def bad(
    case: str, *commands: str, details: tuple[str, ...] = (), level: Level | None = None, **values: object
) -> Outcome:
    """A case at the level of its check, or another."""
    return Outcome(case, is_healthy=False, commands=commands, details=details, level=level, values=values)


def skipped(case: str, **values: object) -> Outcome:
    """A case in which the check could not be made."""
    return Outcome(case, is_healthy=None, values=values)


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check with its result."""

    number: int
    name: str
    title: str
    area: Area
    level: Level
    status: Status
    finding: str  #: What was seen; the reason where it is not checked.
    why: str
    remedy: str = ""  #: What to do; empty = nothing.
    commands: tuple[str, ...] = ()
    details: tuple[str, ...] = ()

    @property
    def is_problem(self) -> bool:
        """True when something has to be done before a good capture."""
        return self.status in (Status.WARNING, Status.ERROR)

    @property
    def has_hint(self) -> bool:
        """True when all is well, and something could still be better."""
        return self.status is Status.OK and bool(self.remedy or self.commands)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A check before anything is looked at, and the function that looks."""

    number: int  #: Place in the list of checks that the documentation describes.
    name: str  #: The word that names it in JSON.
    title: str
    area: Area
    level: Level
    reads: str  #: Files, variables and commands, for the documentation.
    healthy: str  #: The healthy value, for the documentation.
    remedy: str  #: What helps in general, for the documentation.
    why: str  #: Why it matters.
    needs: tuple[str, ...] = ()  #: Names of checks without which this one says nothing.
    otherwise: str = ""  #: The reason that checks give which need this one, when it fails.
    look: Callable[[Any], Outcome]  #: At a `MachineView`.
    says: dict[str, list[str]]  #: Case -> what was seen, what to do, commands for a shell; {} are values.

    def check(self, outcome: Outcome, finding: str = "") -> Check:
        """The check with its result."""
        words = [finding] if finding else [text.format(**outcome.values) for text in self.says[outcome.case]]
        level = outcome.level or self.level
        status = Status(level) if level is not Level.NOTE else Status.OK
        if outcome.is_healthy is not False:
            status = Status.OK if outcome.is_healthy else Status.NOT_CHECKED
        return Check(
            number=self.number,
            name=self.name,
            title=self.title,
            area=self.area,
            level=level,
            status=status,
            finding=words[0],
            why=self.why,
            remedy=words[1] if len(words) > 1 else "",
            commands=(*words[2:], *outcome.commands),
            details=outcome.details,
        )
