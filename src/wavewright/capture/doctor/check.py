"""What a check answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """What came out of a check."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"
    NOT_CHECKED = "not checked"


class Level(StrEnum):
    """What it means when a check is not healthy."""

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
class Answer:
    """What a look at the machine gave; whether that is a warning or an error is said by the level of the check."""

    finding: str  #: One sentence or a short list, without a full stop.
    is_healthy: bool | None = True  #: None = it could not be checked; the finding then is the reason.
    remedy: str = ""  #: What to do; with a healthy answer, a hint.
    commands: tuple[str, ...] = ()  #: For a shell, that do it.
    details: tuple[str, ...] = ()  #: Lines that go with the finding, such as one per GPU.
    level: Level | None = None  #: Instead of that of the check.


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
        """Whether something has to be done before a good capture."""
        return self.status in (Status.WARNING, Status.ERROR)

    @property
    def has_hint(self) -> bool:
        """Whether all is well, and something could still be better."""
        return self.status is Status.OK and bool(self.remedy or self.commands)


def unhealthy(
    finding: str, remedy: str, *commands: str, details: tuple[str, ...] = (), level: Level | None = None
) -> Answer:
    """An answer at the level of its check, or another."""
    return Answer(finding, is_healthy=False, remedy=remedy, commands=commands, details=details, level=level)


def not_checked(reason: str, remedy: str = "") -> Answer:
    """An answer that could not be had."""
    return Answer(reason, is_healthy=None, remedy=remedy)
