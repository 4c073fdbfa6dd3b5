"""What is wanted, and how it was judged, as JSON in the folder of a job, and back."""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from wavewright.base.files import open_regular
from wavewright.base.shown import json_bytes, shown
from wavewright.capture.jobs.job import Job
from wavewright.capture.machines.runner import Limits
from wavewright.capture.wanted import Counters, Discovery, RunTrace, Samples, ThreadTraces, Wanted
from wavewright.errors import OutputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")

#: What each kind is called in files: as the verb that takes it.
KINDS: dict[str, type[Wanted]] = {
    "discover": Discovery,
    "att": ThreadTraces,
    "counters": Counters,
    "samples": Samples,
    "run": RunTrace,
}
_NAMES = {kind: name for name, kind in KINDS.items()}
_VERSION = 1
_ID_DIGITS = 16
_BYTES_MAX = 64 << 20  #: Read of one file.


def kind_of(wanted: Wanted) -> str:
    """The kind as files and verbs call it.

    Examples
    --------
    >>> kind_of(ThreadTraces(program=("./gemm",)))
    'att'
    """
    return _NAMES[type(wanted)]


def wanted_values(wanted: Wanted) -> dict[str, Any]:
    """The fields of what is wanted that are not as usual, with its kind.

    Examples
    --------
    >>> wanted_values(ThreadTraces(program=("./gemm",), launches=(7, 8)))
    {'kind': 'att', 'program': ('./gemm',), 'launches': (7, 8)}
    """
    plain = type(wanted)(program=())
    values = {each.name: getattr(wanted, each.name) for each in fields(wanted)}
    return {"kind": kind_of(wanted)} | {
        name: value for name, value in values.items() if name == "program" or value != getattr(plain, name)
    }


def wanted_of(values: object) -> Wanted:
    """What is wanted, from its fields.

    Raises
    ------
    UsageError
        When they are not those of a kind that is known here.
    """
    kind = KINDS.get(str(values.get("kind"))) if isinstance(values, dict) else None
    if kind is None or not isinstance(values, dict):
        raise UsageError("this is not a kind of capture that is known here")
    return converted({key: value for key, value in values.items() if key != "kind"}, kind)


def job_values(job: Job) -> dict[str, Any]:
    """A job with its id, as job.json holds it."""
    values = {each.name: getattr(job, each.name) for each in fields(job) if each.name not in ("wanted", "limits")}
    return {
        "v": _VERSION,
        "id": job_id(job),
        **values,
        "limits": asdict(job.limits),
        "wanted": wanted_values(job.wanted),
    }


def job_of(values: object) -> tuple[str, Job]:
    """Id and job, from what job.json holds.

    Raises
    ------
    UsageError
        When it does not hold a job.
    """
    if not isinstance(values, dict):
        raise UsageError("this is not a job")
    effort = converted(values, _Effort)
    others = {each.name: getattr(effort, each.name) for each in fields(effort)}
    return str(values.get("id", "")), Job(wanted=wanted_of(values.get("wanted")), **others)


@dataclass(frozen=True, kw_only=True)
class _Effort:
    """The fields of `Job` beside what is wanted."""

    name: str = ""
    gpu: str = "auto"
    limits: Limits = field(default_factory=Limits)
    attempts: int = 4
    wait_seconds: float = 0.0
    is_shared: bool = False


def job_id(job: Job) -> str:
    """A hash of what decides about the data: how long it may take and how often it is tried does not.

    Examples
    --------
    >>> job = Job(wanted=Discovery(program=("./gemm",)))
    >>> job_id(job) == job_id(Job(wanted=Discovery(program=("./gemm",)), attempts=9)), len(job_id(job))
    (True, 16)
    """
    content = json_bytes([_VERSION, job.name, job.gpu, wanted_values(job.wanted)], order="sorted")
    return hashlib.sha256(content).hexdigest()[:_ID_DIGITS]


def converted(values: object, kind: type[T]) -> T:
    """A dataclass from plain values; keys that it does not have are ignored: a later version wrote them.

    Raises
    ------
    UsageError
        When a value is missing or of another kind.
    """
    import msgspec

    try:
        return msgspec.convert(values, kind)
    except (msgspec.ValidationError, TypeError, RecursionError) as error:
        raise UsageError(f"this is not what wavewright wrote: {error}") from None


def write_json(path: Path, value: Any) -> None:
    """Write a file that is there whole or not at all, and is on the disk when this returns.

    Only its owner can read it: jobs and commands hold the variables that the user gave, and such are often secrets.

    Raises
    ------
    OutputError
        When the file system refuses.
    """
    import msgspec

    twin = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        twin.unlink(missing_ok=True)  # of a process of the same number that was killed
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(twin, flags, 0o600), "wb") as stream:
            stream.write(msgspec.json.format(json_bytes(value), indent=2) + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        twin.replace(path)
    except OSError as error:
        twin.unlink(missing_ok=True)
        raise OutputError(f"cannot write the file: {error.strerror}", where=shown(str(path))) from None


def read_json(path: Path) -> Any:
    """What a file holds; None when there is none or it holds no JSON."""
    import msgspec

    try:
        with open_regular(path) as stream:
            return msgspec.json.decode(stream.read(_BYTES_MAX))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
