"""The GPU of a job: the freest that nobody uses, a certain one, or any; waiting for it, and giving it back.

Free is a GPU without queues of other processes (the driver lists them) and without a lock of another capture. The
partitions of one device share clocks and memory: they have one lock.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from wavewright.base.bounds import integer_of
from wavewright.base.words import counted, some_of
from wavewright.capture.gpus.locks import Lock, holder_of, lock_folder, lock_path, try_lock
from wavewright.capture.gpus.topology import Gpu, gpus_of, users_of
from wavewright.capture.machines.machine import Machine
from wavewright.errors import BusyError, MissingToolError, UsageError

AUTO, ANY = "auto", "any"
_PCI = re.compile(r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)
_NAMED_MAX = 8  #: GPUs that a message names.
_PAUSE_SECONDS_FIRST, _PAUSE_SECONDS_MAX = 0.25, 30.0  #: Between two looks for a free GPU; it doubles up to the most.
_NO_GPU, _DOCTOR = "this machine has no GPU that the driver shows", "wavewright doctor says why"


def meant_gpus(word: str, gpus: Sequence[Gpu]) -> tuple[Gpu, ...]:
    """The GPUs that a word allows: auto, any, a number, a PCI address, GPU-..., or several with commas and ranges."""
    if not gpus:
        raise UsageError(_NO_GPU, advice=_DOCTOR)
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
    if (index := integer_of(part)) is not None:
        return [gpu for gpu in gpus if gpu.index == index]
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
    return some_of(gpus, _NAMED_MAX, lambda gpu: f"{gpu.index} ({gpu.unique_id or gpu.pci or gpu.target})")


def choose_gpu(
    word: str,
    gpus: Sequence[Gpu],
    users: Mapping[str, Sequence[object]],
    locks: Mapping[str, object],
    *,
    is_shared: bool = False,
) -> tuple[Gpu, ...]:
    """The GPUs that may be taken now, the best first: free of others, then the least memory in use.

    `users` are processes of others that have queues on a GPU, by its key; `locks` owners of its lock, the same way.
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
    """The reason why a GPU is not free; empty = it is."""
    if holder := locks.get(gpu.key):
        return f"locked by {holder}"
    if others := users.get(gpu.key, ()):
        more = f" and {counted(len(others) - 1, 'others')}" if len(others) > 1 else ""
        return f"used by {others[0]}{more}"
    return ""


def _busy(gpus: Sequence[Gpu], reasons: Mapping[str, str]) -> BusyError:
    parts = [f"GPU {gpu.index} is {reasons[gpu.key]}" for gpu in gpus[:_NAMED_MAX]]
    more = f"; and {len(gpus) - _NAMED_MAX} more" if len(gpus) > _NAMED_MAX else ""
    advice = "wait for it (--wait SECONDS), choose another (--gpu), or take it all the same (--share)"
    return BusyError("; ".join(parts) + more, advice=advice)


@contextmanager
def reserved(
    word: str,
    machine: Machine,
    *,
    command: str = "",
    wait_seconds: float = 0.0,
    is_shared: bool = False,
    say: Callable[[str], None] = lambda text: None,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[Gpu]:
    """A GPU of a machine for the block, with its lock; BusyError when every GPU is used for longer than the wait."""
    gpus = gpus_of(machine)
    if not gpus:
        raise MissingToolError(_NO_GPU, advice=_DOCTOR)
    start, seconds, is_told = time.monotonic(), _PAUSE_SECONDS_FIRST, False
    paths = {gpu.key: lock_path(lock_folder(machine.variables), machine.identity.hostname, gpu.device) for gpu in gpus}
    while True:
        try:
            gpu, lock = _try(word, machine, gpus, paths, command, is_shared=is_shared)
            break
        except BusyError as error:
            rest_seconds = wait_seconds - (time.monotonic() - start)
            if rest_seconds <= 0:
                raise
            if not is_told:
                say(f"{error.what}; waiting, {wait_seconds:g} s at most")
                is_told = True
            pause(min(rest_seconds, seconds * random.uniform(0.7, 1.0)))  # noqa: S311 - two that wait shall not meet
            seconds = min(2 * seconds, _PAUSE_SECONDS_MAX)
    try:
        yield gpu
    finally:
        if lock is not None:
            lock.release()


def _try(
    word: str, machine: Machine, gpus: Sequence[Gpu], paths: Mapping[str, Path], command: str, *, is_shared: bool
) -> tuple[Gpu, Lock | None]:
    """A GPU and its lock; None = it is taken without one (any, shared)."""
    if word == ANY:
        return choose_gpu(word, gpus, {}, {})[0], None
    holders = {gpu.key: holder for gpu in gpus if (holder := holder_of(paths[gpu.key]))}
    order = choose_gpu(word, gpus, users_of(machine, gpus), holders, is_shared=is_shared)
    for gpu in order:
        lock = try_lock(paths[gpu.key], command=command)
        if lock is None:
            continue
        # between the first look and the lock, somebody else may have come and gone
        if is_shared or not users_of(machine, gpus).get(gpu.key):
            return gpu, lock
        lock.release()
    if is_shared:
        return order[0], None
    reasons = {gpu.key: f"locked by {holder}" for gpu in order if (holder := holder_of(paths[gpu.key]))}
    raise _busy(order, {gpu.key: reasons.get(gpu.key, "taken by another job at this moment") for gpu in order})
