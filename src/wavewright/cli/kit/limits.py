"""Limits of the operating system against the needs of the work, compared before anything large is imported.

Polars cannot be told that a thread or a page of memory is missing: it hangs, panics or aborts. So its needs are
compared with the limits first.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from wavewright.base.bounds import integer_of
from wavewright.errors import LimitError

#: Threads that polars starts per worker of its pool, and besides: 13 were seen with 2 workers, 19 with 4.
_THREADS_PER_WORKER, _OTHER_THREADS = 3, 10
_LEAST_BYTES = 1_500_000_000  #: Bytes of address space that the work needs at least; 1.2 GB were seen with 2 workers.
_BYTES_PER_WORKER = 250_000_000  #: Bytes of address space beside them for each worker.
_LEAST_DESCRIPTORS = 32  #: Files that can still be opened at least.
_PLENTY = 16_384  #: A limit of so many processes or files suffices: what is in use is not counted.
_STACK_BYTES = 64 << 10  #: Enough for a thread that only waits; some platforms ask for more.
_NO_THREAD = ("can't start new thread", "can't spawn", "Resource temporarily unavailable", "failed to spawn thread")


class Granted(NamedTuple):
    """Threads, memory and files that the system still grants this process; None = no limit that matters."""

    threads: int | None  #: That can still be started.
    address_space: int | None  #: Bytes that can still be mapped.
    descriptors: int | None  #: That can still be opened.
    workers: int  #: Threads of polars' pool as it would choose.


def threads_wanted(workers: int) -> int:
    """Threads that the work needs with that many workers."""
    return _THREADS_PER_WORKER * workers + _OTHER_THREADS


def pool_size(granted: Granted) -> int:
    """Threads of polars' pool with which the work fits. Raises `LimitError` when it does not fit with a single one."""
    for value, least, what, option in (
        (granted.descriptors, _LEAST_DESCRIPTORS, "files can be open at once", "-n"),
        (granted.address_space, _LEAST_BYTES, "bytes of memory can be mapped", "-v"),
        (granted.threads, threads_wanted(1), "threads can be started", "-u"),
    ):
        if value is not None and value < least:
            problem = f"only {value:,} more {what}, and {least:,} are needed"
            raise LimitError(problem, advice=f"raise the limit (`ulimit {option}`, or that of the container or job)")
    fits_threads = granted.threads is None or granted.threads >= threads_wanted(granted.workers)
    wanted_bytes = _LEAST_BYTES + _BYTES_PER_WORKER * granted.workers
    fits_memory = granted.address_space is None or granted.address_space >= wanted_bytes
    return granted.workers if fits_threads and fits_memory else 1


@cache
def check_limits() -> None:
    """Let polars start fewer threads where many do not fit. Raises `LimitError` when even one thread would fail."""
    if sys.platform != "linux" or "polars" in sys.modules:  # elsewhere limits are others; what is there has fitted
        return
    granted = _granted()
    fitting = pool_size(granted)
    if fitting < granted.workers:
        os.environ["POLARS_MAX_THREADS"] = str(fitting)


def limit_behind(error: BaseException) -> LimitError | None:
    """The limit that an error comes from; None = another reason."""
    import errno

    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, MemoryError) or number == errno.ENOMEM:
        return LimitError("there is not enough memory", advice="close other programs, or choose a smaller part")
    if number in (errno.EMFILE, errno.ENFILE):
        return LimitError("too many files are open", advice="raise the limit (`ulimit -n`)")
    is_of_threads = type(error).__name__ in ("PanicException", "RuntimeError", "BlockingIOError", "ComputeError")
    if is_of_threads and any(words in str(error) for words in _NO_THREAD):
        return LimitError("a thread or process cannot be started", advice="raise the limit (`ulimit -u`)")
    return None


def _granted() -> Granted:
    import resource

    workers = _workers()
    mapped, is_limited = _mapped_bytes(), _processes_are_limited()
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    files, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_files = len(list(Path("/proc/self/fd").iterdir())) if 0 <= files < _PLENTY else 0
    if 0 <= files - open_files < _LEAST_DESCRIPTORS and most_files != files:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
            files = most_files
    return Granted(
        threads=_startable(threads_wanted(workers)) if is_limited else None,
        address_space=None if space == resource.RLIM_INFINITY else max(0, space - mapped),
        descriptors=None if files == resource.RLIM_INFINITY else max(0, files - open_files),
        workers=workers,
    )


def _workers() -> int:
    return integer_of(os.environ.get("POLARS_MAX_THREADS"), below=100_000) or len(os.sched_getaffinity(0))


def _mapped_bytes() -> int:
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _processes_are_limited() -> bool:
    """True if processes and threads are few enough to try how many can be started."""
    import resource

    limits = [resource.getrlimit(resource.RLIMIT_NPROC)[0]]
    with suppress(OSError, ValueError, IndexError):
        group = Path("/proc/self/cgroup").read_text(encoding="utf-8").split("::", 1)[1].strip().lstrip("/")
        limits.append(int((Path("/sys/fs/cgroup") / group / "pids.max").read_text(encoding="ascii")))
    return any(0 <= limit < _PLENTY for limit in limits)


def _waiting_stack_bytes() -> int:
    """The stack of a thread that only waits: whole pages, and not less than the platform takes (aarch64: 128 KiB)."""
    page = os.sysconf("SC_PAGE_SIZE")
    least = max(_STACK_BYTES, os.sysconf("SC_THREAD_STACK_MIN"))
    return -(-least // page) * page


def _startable(wanted: int) -> int:
    """Number of threads that can be started, up to `wanted`: who else uses up the limit cannot be seen from here."""
    end = threading.Event()
    started: list[threading.Thread] = []
    before = threading.stack_size(_waiting_stack_bytes())  # address space is another question
    try:
        for _ in range(wanted):
            thread = threading.Thread(target=end.wait, daemon=True)
            thread.start()
            started.append(thread)
    except (RuntimeError, MemoryError):
        pass
    finally:
        end.set()
        threading.stack_size(before)
        for thread in started:
            thread.join()
    return len(started)
