"""Checks of the kernel's settings, rights and limits of this process, and room for the data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wavewright.base.shown import quoted
from wavewright.base.words import amount
from wavewright.capture.doctor.check import Answer, Level, not_checked, unhealthy
from wavewright.capture.doctor.containers import is_run_by_flags, start_line
from wavewright.capture.doctor.sight import printable

if TYPE_CHECKING:
    from wavewright.capture.doctor.sight import Sight

_PERFMON, _SYS_ADMIN = 38, 21  #: Bits of capabilities.
_PARANOID_MAX = 2
_GIB = 1 << 30
#: Raw data of one attempt at most: two launches, each a buffer of the largest default in use (256 MiB).
RAW_BYTES = 2 * (256 << 20)
#: With what rocprofv3 itself decodes from them as JSON, about ten times as much.
EXPECTED_BYTES = 11 * RAW_BYTES
_WRITE, _READ_ONLY = 0o2, "ro"


def permission_to_count(sight: Sight) -> Answer:
    """The driver locks a GPU for a profiler that has the right to."""
    bits = sight.capabilities()
    paranoid = sight.number("/proc/sys/kernel/perf_event_paranoid")
    if bits is None and paranoid is None:
        return not_checked("/proc tells neither capabilities nor perf_event_paranoid")
    names = [
        name for name, bit in (("PERFMON", _PERFMON), ("SYS_ADMIN", _SYS_ADMIN)) if bits is not None and bits >> bit & 1
    ]
    if names:
        return Answer(f"capability {' and '.join(names)}")
    if paranoid is not None and paranoid <= _PARANOID_MAX:
        return Answer(f"perf_event_paranoid is {paranoid}")
    what = (
        f"no capability PERFMON or SYS_ADMIN, and perf_event_paranoid is {'unknown' if paranoid is None else paranoid}"
    )
    if is_run_by_flags(sight):
        return unhealthy(what, "start the container with the capability", start_line(sight, "--cap-add PERFMON"))
    return unhealthy(what, "allow it until the next start of the machine", "sudo sysctl kernel.perf_event_paranoid=2")


def disk(sight: Sight) -> Answer:
    """Room for what a capture writes."""
    folder = output_folder(sight)
    where = printable(folder, 60)
    kind, options = _mount(sight, folder)
    if _READ_ONLY in options:
        remedy = "choose a folder on another disk: -o FOLDER"
        return unhealthy(f"{where} is on a disk that is mounted for reading only", remedy)
    if not _is_writable(sight, folder):
        remedy = "choose a folder of yours: -o FOLDER"
        return unhealthy(f"{where} may not be written by user {sight.machine.identity.uid}", remedy)
    free = sight.machine.free_bytes(folder)
    if free is None:
        return not_checked(f"{where}: the system does not tell how much is free")
    what = f"{amount(free)} free in {where}"
    look = f"df -h {quoted(folder)}"
    if free < RAW_BYTES:
        needed = f"one thread trace of two launches may need {amount(RAW_BYTES)}"
        return unhealthy(f"{what}; {needed}", "choose another folder: -o FOLDER; or make room", look)
    if free < EXPECTED_BYTES:
        needed = f"with what rocprofv3 decodes itself, two launches may need {amount(EXPECTED_BYTES)}"
        return unhealthy(
            f"{what}; {needed}", "choose another folder: -o FOLDER; or make room", look, level=Level.WARNING
        )
    if kind in ("tmpfs", "ramfs"):
        return Answer(
            f"{what}, in memory ({kind})", remedy="the data take memory away from the program: -o FOLDER on a disk"
        )
    return Answer(what)


def output_folder(sight: Sight) -> str:
    """The folder for which room is looked for."""
    home = sight.variables.get("HOME", "")
    return sight.request.output or (home if home.startswith("/") else "/tmp")  # noqa: S108 - nothing is written there


def memory(sight: Sight) -> Answer:
    """Room for shared memory and buffers."""
    match = re.search(r"(?m)^MemAvailable:\s*(\d{1,15}) kB$", sight.machine.text("/proc/meminfo") or "")
    available = int(match[1]) * 1024 if match else None
    shared = sight.machine.free_bytes("/dev/shm") if sight.machine.facts("/dev/shm") else None  # noqa: S108 - as above
    parts = [f"{amount(shared)} free in /dev/shm"] if shared is not None else []
    parts += [f"{amount(available)} of memory"] if available is not None else []
    if not parts:
        return not_checked("the system tells neither")
    if available is not None and available < _GIB:
        return unhealthy(", ".join(parts), "the profiler's buffers need 1 GiB: end other programs")
    if shared is not None and shared < _GIB:
        remedy = "Perfetto output and frameworks need 1 GiB of shared memory"
        if is_run_by_flags(sight):
            return unhealthy(", ".join(parts), remedy, start_line(sight, "--shm-size 8G"))
        return unhealthy(", ".join(parts), f"{remedy}; ROCPROF_TMPDIR names another folder", "df -h /dev/shm")
    return Answer(", ".join(parts))


def _existing(sight: Sight, folder: str) -> str:
    """The folder, or its nearest parent that exists."""
    path = sight.machine.real_path(folder)
    while path not in ("", "/") and sight.machine.facts(path) is None:
        path = path.rpartition("/")[0]
    return path or "/"


def _mount(sight: Sight, folder: str) -> tuple[str, list[str]]:
    """Kind and options of the file system of a folder; empty = unknown."""
    path = _existing(sight, folder)
    longest = ("", "", "")
    for line in (sight.machine.text("/proc/self/mounts") or "").splitlines():
        fields = line.split()
        if len(fields) < 4:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[1])
        is_above = path == point or path.startswith(point.rstrip("/") + "/")
        if is_above and len(point) >= len(longest[0]):
            longest = (point, fields[2], fields[3])
    return longest[1], longest[2].split(",")


def _is_writable(sight: Sight, folder: str) -> bool:
    """Whether its permission bits let this process write; unknown counts as yes."""
    facts = sight.machine.facts(_existing(sight, folder))
    identity = sight.machine.identity
    if facts is None or facts.kind != "folder":
        return facts is None
    if identity.uid == 0:
        return True
    shift = 6 if facts.uid == identity.uid else 3 if facts.gid in identity.gids else 0
    return bool(facts.mode >> shift & _WRITE)
