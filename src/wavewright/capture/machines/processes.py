"""Who a process is for others on the machine, and programs whose supervisor was killed.

A number of a process says little: numbers are given again. With the time at which it started, the boot and the name
space of its numbers, it names one process for ever. Whoever runs a program under a lock puts this name into the
program's environment; should it be killed, the program is recognised by the name of a supervisor that is gone.
"""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from wavewright.capture.machines.left_behind import environment_of, process_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: In the environment of a program: the process that watches it.
SUPERVISOR_VARIABLE = "WAVEWRIGHT_SUPERVISOR"
_FORM = re.compile(r"(\d{1,10})\.(\d{1,20})\.([0-9a-f-]{0,40})\.(\d{0,20})")
_POLL_SECONDS = 0.02
_SUPERVISED = f"{SUPERVISOR_VARIABLE}=".encode()


#: Open descriptors that programs started here inherit, and so keep open after this process: locks of GPUs.
inherited_descriptors: set[int] = set()


@dataclass(frozen=True)
class ProcessName:
    """One process, for ever."""

    pid: int
    start_ticks: int  #: Since the boot; 0 = unknown.
    boot: str  #: Identity of the boot of the machine.
    pid_namespace: str  #: Containers count their processes by themselves.

    def __str__(self) -> str:
        return f"{self.pid}.{self.start_ticks}.{self.boot}.{self.pid_namespace}"

    @property
    def is_here(self) -> bool:
        """Whether its number means something to this process: the same boot, the same name space."""
        return (self.boot, self.pid_namespace) == (_boot(), _pid_namespace())

    @property
    def is_alive(self) -> bool:
        """Whether it still runs; one of another boot does not. Of another name space it may."""
        if self.boot != _boot():
            return False
        return self.pid_namespace != _pid_namespace() or _start_ticks(self.pid) == self.start_ticks != 0


def this_process() -> ProcessName:
    """The process that asks."""
    return ProcessName(os.getpid(), _start_ticks(os.getpid()), _boot(), _pid_namespace())


def process_name(text: str) -> ProcessName | None:
    """What `str` of a name says; None = it is none.

    Examples
    --------
    >>> process_name("12.3456.0a-1b.4026531836").pid, process_name("twelve")
    (12, None)
    """
    form = _FORM.fullmatch(text)
    return ProcessName(int(form[1]), int(form[2]), form[3], form[4]) if form else None


def abandoned(is_meant: Callable[[dict[str, str]], bool]) -> tuple[int, ...]:
    """Numbers of processes whose supervisor is gone and whose environment is meant; only those that may be looked at.

    A user sees the environment of own processes, root that of all.
    """
    gone = []
    for pid in process_names() - {str(os.getpid())}:
        variables = _environment(pid)
        supervisor = process_name(variables.get(SUPERVISOR_VARIABLE, "")) if variables else None
        if supervisor and supervisor.is_here and not supervisor.is_alive and is_meant(variables):
            gone.append(int(pid))
    return tuple(gone)


def end(find: Callable[[], Iterable[int]], *, grace_seconds: float, kill_seconds: float = 10.0) -> tuple[int, ...]:
    """End processes, with the groups that they lead: SIGINT, at which a profiler writes its data, SIGTERM, SIGKILL.

    `find` is asked again and again, because such a program may start more. The ones that are left are returned: of
    another user, or stuck in the driver.
    """
    for number, seconds in (
        (signal.SIGINT, grace_seconds),
        (signal.SIGTERM, min(grace_seconds, kill_seconds)),
        (signal.SIGKILL, kill_seconds),
    ):
        signalled: set[int] = set()
        until = time.monotonic() + seconds
        while pids := tuple(find()):
            for pid in pids:
                if pid not in signalled or number == signal.SIGKILL:
                    _tell(pid, number)
                    signalled.add(pid)
            if time.monotonic() >= until:
                break
            time.sleep(_POLL_SECONDS)
        else:
            return ()
    return tuple(find())


def _tell(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process, and to its group when it leads one."""
    with suppress(OSError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)


def _environment(pid: str) -> dict[str, str]:
    """Variables with which a process was started; empty = they may not be seen, it is a zombie, or it is not ours."""
    try:
        entries = environment_of(pid)
    except OSError:
        return {}
    if not any(entry.startswith(_SUPERVISED) for entry in entries):
        return {}
    pairs = (os.fsdecode(entry).partition("=") for entry in entries)
    return {name: value for name, _, value in pairs}


def _start_ticks(pid: int) -> int:
    """When a process started, in ticks since the boot; 0 = it does not run (a zombie does not)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return 0
    words = text.rpartition(b")")[2].split()  # the name of the program may contain anything
    return int(words[19]) if len(words) > 19 and words[0] not in (b"Z", b"X") else 0


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


@cache
def _pid_namespace() -> str:
    try:
        return re.sub(r"\D", "", os.readlink("/proc/self/ns/pid"))  # noqa: PTH115 - not a path
    except OSError:
        return ""
