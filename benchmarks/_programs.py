"""Run whole programs as users have them, and measure their time and memory: what several benchmarks share."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

WAVEWRIGHT = [sys.executable, "-m", "wavewright"]
SAMPLING_SECONDS = 0.02


@dataclass(frozen=True)
class Run:
    """One run of a program: seconds, and the most memory that it and its children held at once."""

    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int


def best(command: list[str], folder: Path, repeats: int, *, module_path: str = "") -> Run:
    """The fastest of several runs, with the memory of one more, which is watched and therefore slower."""
    run = program(command, folder, module_path)
    peak = run(is_watched=True).peak_bytes if repeats > 1 else 0  # compiles modules and fills the file cache, too
    fastest = min((run() for _ in range(repeats)), key=lambda done: done.wall_seconds)
    return replace(fastest, peak_bytes=peak)


def program(command: list[str], folder: Path, module_path: str = "") -> Callable[..., Run]:
    """Runs a program as users have it: with compiled modules and buffered output; `module_path` is its PYTHONPATH."""
    unusual = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
    variables = {name: value for name, value in os.environ.items() if name not in unusual}
    variables["PYTHONPYCACHEPREFIX"] = str(folder / "pycache")
    if module_path:
        variables["PYTHONPATH"] = module_path

    def run(*, is_watched: bool = False) -> Run:
        before = os.times()
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=variables, start_new_session=True)
        with watched(child.pid) if is_watched else nullcontext([0]) as peak:
            status = child.wait()
        wall, after = time.perf_counter() - began, os.times()
        if status:
            sys.exit(f"ended with status {status}: {' '.join(command)}")
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        return Run(wall, cpu, peak[0])

    return run


@contextmanager
def watched(session: int) -> Iterator[list[int]]:
    """The most bytes that the processes of a session held at once, shared pages counted once; sampled."""
    peak, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(SAMPLING_SECONDS):
            peak[0] = max(peak[0], sum(map(proportional_bytes, members(session))))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()


def members(session: int) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session:
                yield int(entry.name)


def proportional_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
