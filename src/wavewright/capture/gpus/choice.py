"""Which GPU a job gets: the freest that nobody uses, a certain one, or any; waiting for it, and giving it back.

Free is a GPU without queues of other processes (the driver lists them) and without a lock of another capture. The
partitions of one device share clocks and memory: they have one lock.
"""

from __future__ import annotations

import random
import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavewright.base.words import counted
from wavewright.capture.gpus.locks import holder_of, lock_folder, lock_path, try_lock
from wavewright.errors import BusyError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from wavewright.capture.gpus.gpu import Gpu
    from wavewright.capture.gpus.locks import Lock

AUTO, ANY = "auto", "any"
_PCI = re.compile(r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)
_NAMED_MAX = 8  #: GPUs that a message names.
_PAUSE_SECONDS_FIRST, _PAUSE_SECONDS_MAX = 0.25, 30.0


@dataclass(frozen=True)
class Reserved:
    """A GPU, and what keeps others from it."""

    gpu: Gpu
    lock: Lock | None = None  #: None = taken without one (any, shared).


def meant_gpus(word: str, gpus: Sequence[Gpu]) -> tuple[Gpu, ...]:
    """The GPUs that a word allows: auto, any, a number, a PCI address, GPU-..., or several with commas and ranges.

    Raises
    ------
    UsageError
        When there is no such GPU, or the word means nothing.

    Examples
    --------
    >>> meant_gpus("auto", ())
    Traceback (most recent call last):
    wavewright.errors.UsageError: this machine has no GPU that the driver shows; wavewright doctor says why
    """
    if not gpus:
        raise UsageError("this machine has no GPU that the driver shows", advice="wavewright doctor says why")
    chosen: dict[str, Gpu] = {}
    for part in (part.strip() for part in word.split(",")):
        matching = _matching(part, gpus)
        if not matching:
            what = f"there is no GPU {part[:40]!r} here"
            raise UsageError(what, advice=f"choose auto, any, or of: {_listed(gpus)}")
        chosen |= {gpu.key: gpu for gpu in matching}
    return tuple(chosen.values())


def _matching(part: str, gpus: Sequence[Gpu]) -> list[Gpu]:
    if part in (AUTO, ANY, "all"):
        return list(gpus)
    if part.isascii() and part.isdigit():
        return [gpu for gpu in gpus if gpu.index == int(part[:9])]
    if numbers := re.fullmatch(r"(\d{1,5})-(\d{1,5})", part):
        first, last = int(numbers[1]), int(numbers[2])
        indices = {gpu.index for gpu in gpus}
        missing = next((number for number in range(first, last + 1) if number not in indices), None)
        if missing is not None:
            raise UsageError(f"there is no GPU {missing} here", advice=f"choose of: {_listed(gpus)}")
        return [gpu for gpu in gpus if first <= gpu.index <= last]
    if _PCI.fullmatch(part):
        return [gpu for gpu in gpus if gpu.pci.lower().endswith(part.lower()) and gpu.pci]
    return [gpu for gpu in gpus if gpu.unique_id and gpu.unique_id.lower() == part.lower()]


def _listed(gpus: Sequence[Gpu]) -> str:
    names = [f"{gpu.index} ({gpu.unique_id or gpu.pci or gpu.target})" for gpu in gpus[:_NAMED_MAX]]
    more = [f"and {len(gpus) - _NAMED_MAX} more"] if len(gpus) > _NAMED_MAX else []
    return ", ".join(names + more)


def choose_gpu(
    word: str,
    gpus: Sequence[Gpu],
    users: Mapping[str, Sequence[object]],
    locks: Mapping[str, object],
    *,
    is_shared: bool = False,
) -> tuple[Gpu, ...]:
    """The GPUs that may be taken now, the best first: free of others, then the least memory in use.

    Parameters
    ----------
    users
        By key of a GPU: processes of others that have queues on it (`GpuUser`, or anything that prints as one).
    locks
        By key of a GPU: who has its lock, the same way. GPUs without a lock are not there.

    Raises
    ------
    UsageError
        When there is no such GPU.
    BusyError
        When all of them are used; it says by whom.
    """
    allowed = meant_gpus(word, gpus)
    if is_shared or word == ANY:
        order = {gpu.key: (bool(locks.get(gpu.key)), len(users.get(gpu.key, ()))) for gpu in allowed}
        return tuple(sorted(allowed, key=lambda gpu: (order[gpu.key], gpu.memory_used_bytes or 0, gpu.index)))
    reasons = {gpu.key: _use(gpu, users, locks) for gpu in allowed}
    free = [gpu for gpu in allowed if not reasons[gpu.key]]
    if not free:
        raise _busy(allowed, reasons)
    return tuple(sorted(free, key=lambda gpu: (gpu.memory_used_bytes or 0, gpu.index)))


def _use(gpu: Gpu, users: Mapping[str, Sequence[object]], locks: Mapping[str, object]) -> str:
    """Why a GPU is not free; empty = it is."""
    if holder := locks.get(gpu.key):
        return f"locked by {holder}"
    if others := users.get(gpu.key, ()):
        more = f" and {counted(len(others) - 1, 'others')}" if len(others) > 1 else ""
        return f"used by {_who(others[0])}{more}"
    return ""


def _who(user: object) -> str:
    """A process that uses a GPU, in words."""
    from wavewright.capture.gpus.users import GpuUser

    if not isinstance(user, GpuUser):
        return str(user)
    return f"process {user.pid}" + (f" ({user.name})" if user.name else "")


def _busy(gpus: Sequence[Gpu], reasons: Mapping[str, str]) -> BusyError:
    parts = [f"GPU {gpu.index} is {reasons[gpu.key]}" for gpu in gpus[:_NAMED_MAX]]
    more = f"; and {len(gpus) - _NAMED_MAX} more" if len(gpus) > _NAMED_MAX else ""
    advice = "wait for it (--wait SECONDS), choose another (--gpu), or take it all the same (--share)"
    return BusyError("; ".join(parts) + more, advice=advice)


@contextmanager
def reserved(
    word: str,
    gpus: Sequence[Gpu],
    users: Callable[[], Mapping[str, Sequence[object]]],
    *,
    host: str,
    variables: Mapping[str, str],
    command: str = "",
    folder: str = "",
    wait_seconds: float = 0.0,
    is_shared: bool = False,
    say: Callable[[str], None] = lambda text: None,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[Reserved]:
    """A GPU for the block, with its lock; who else uses it is asked again once the lock is there.

    Parameters
    ----------
    users
        Looks who has queues on which GPU now.
    host
        The machine's name, for the names of lock files.
    variables
        Of the machine: where the folder of locks is.
    pause
        Waits between two tries.

    Raises
    ------
    BusyError
        When every GPU is used by others, and `wait_seconds` are over.
    """
    begin, seconds, is_told = time.monotonic(), _PAUSE_SECONDS_FIRST, False
    locks = _Locks(gpus, host, lock_folder(variables), command, folder)
    while True:
        try:
            place = _try(word, gpus, users, locks, is_shared=is_shared)
            break
        except BusyError as error:
            left = wait_seconds - (time.monotonic() - begin)
            if left <= 0:
                raise
            if not is_told:
                say(f"{error.what}; waiting, {wait_seconds:g} s at most")
                is_told = True
            pause(min(left, seconds * random.uniform(0.7, 1.0)))  # noqa: S311 - two that wait shall not meet again
            seconds = min(2 * seconds, _PAUSE_SECONDS_MAX)
    try:
        yield place
    finally:
        if place.lock is not None:
            place.lock.release()


def _try(
    word: str,
    gpus: Sequence[Gpu],
    users: Callable[[], Mapping[str, Sequence[object]]],
    locks: _Locks,
    *,
    is_shared: bool,
) -> Reserved:
    if word == ANY:
        return Reserved(choose_gpu(word, gpus, {}, {})[0])
    order = choose_gpu(word, gpus, users(), locks.holders(), is_shared=is_shared)
    for gpu in order:
        taken = locks.take(gpu)
        if taken is None:
            continue
        try:  # between the first look and the lock, somebody else may have come and gone
            others = {} if is_shared else users()
            choose_gpu(str(gpu.index), gpus, others, {}, is_shared=is_shared)
        except BusyError:
            taken.release()
            continue
        return Reserved(gpu, taken)
    if is_shared:
        return Reserved(order[0])
    reasons = {gpu.key: f"locked by {holder}" for gpu in order if (holder := locks.holder(gpu))}
    raise _busy(order, {gpu.key: reasons.get(gpu.key, "taken by another job at this moment") for gpu in order})


@dataclass(frozen=True)
class _Locks:
    """The locks of the GPUs of a machine."""

    gpus: Sequence[Gpu]
    host: str
    folder: Path
    command: str
    job: str

    def path(self, gpu: Gpu) -> Path:
        return lock_path(self.folder, self.host, gpu.device)

    def holder(self, gpu: Gpu) -> object:
        return holder_of(self.path(gpu))

    def holders(self) -> dict[str, object]:
        """By key: who has the lock of a GPU."""
        return {gpu.key: holder for gpu in self.gpus if (holder := self.holder(gpu))}

    def take(self, gpu: Gpu) -> Lock | None:
        """The lock of a GPU; None = somebody else has it."""
        return try_lock(self.path(gpu), command=self.command, folder=self.job)
