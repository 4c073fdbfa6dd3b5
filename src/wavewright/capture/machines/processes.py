"""Who a process is for others on the machine.

A number of a process says little: numbers are given again. With the time at which it started, the boot and the name
space of its numbers, it names one process for ever.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FORM = re.compile(r"(\d{1,10})\.(\d{1,20})\.([0-9a-f-]{0,40})\.(\d{0,20})")


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
