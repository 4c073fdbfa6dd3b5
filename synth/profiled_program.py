"""Stands for a program with AMD's tool library in it, behind rocprofv3's script: leaves what the tool would leave.

Standard library only, so that it starts in milliseconds.

usage: profiled_program.py [WORDS...]

What it does is said by a JSON file, named by WAVEWRIGHT_STAND_IN; every key may be left out:

| key | meaning |
|---|---|
| record | file to which one line of JSON is appended per run: words, folder, variables |
| templates | folder of `profiler_output.make_templates`; without it nothing is left |
| needed_bytes | what one shader engine writes: traces are truncated until the buffer is large enough |
| busy_engines | shader engines on which waves run: traces of others are empty |
| busy_cus | CUs on which waves run |
| launches | kernel -> number of launches; launches that are asked for and exist are traced |
| kernels | kernels that run, as `[name, launches, nanoseconds, workgroups]`, for discoveries and kernel traces |
| files | folder whose content is copied to the output folder; PREFIX in names is rocprofv3's prefix |
| stdout, stderr | text, or a list of bytes as numbers, that is printed |
| flood_bytes | how many bytes are written to standard output |
| seconds | how long it runs |
| ignores | names of signals that are ignored, as SIGINT |
| on_interrupt | false: data are lost at SIGINT; else they are written first, as the tool does |
| children | how many children are left behind, each for `child_seconds` |
| daemons | the same, each in a session of its own |
| wait_for | file that must exist before it ends |
| mark | file that is made while it runs and removed at its end; it may not exist before: two ran at once |
| status | exit status; negative: it ends by that signal |
| fails_until | number of runs, counted by `record`, that fail with `status` |
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

STEERING = "WAVEWRIGHT_STAND_IN"
_DEFAULT_NAME = "%hostname%/%pid%"


def main() -> int:
    """Run once."""
    path = os.environ.get(STEERING)
    steering: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
    place = Path(steering["mark"]) if "mark" in steering else None
    if place is not None:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL))
    try:
        return _run(steering)
    finally:
        if place is not None:
            place.unlink()


def _run(steering: dict[str, Any]) -> int:
    run = _record(steering)
    for name in steering.get("ignores", ()):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    if "SIGINT" not in steering.get("ignores", ()):
        signal.signal(signal.SIGINT, _interrupted)
    try:
        _print(steering)
        _leave_children(steering)
        _work(steering)
    except KeyboardInterrupt:
        if steering.get("on_interrupt", True):
            leave_output(steering)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    if run <= steering.get("fails_until", 0) or "fails_until" not in steering:
        status = int(steering.get("status", 0))
    else:
        status = 0
    if not status or steering.get("leaves_on_failure"):
        leave_output(steering)
    if status < 0:
        sys.stdout.flush()
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def _record(steering: dict[str, Any]) -> int:
    """Write down what was handed over; the number of this run, from 1."""
    if "record" not in steering:
        return 1
    line = {"argv": sys.argv, "cwd": str(Path.cwd()), "pid": os.getpid(), "env": dict(os.environ)}
    descriptor = os.open(steering["record"], os.O_RDWR | os.O_APPEND | os.O_CREAT)
    with os.fdopen(descriptor, "r+b") as stream:
        stream.write(json.dumps(line).encode() + b"\n")
        stream.flush()
        stream.seek(0)
        return stream.read().count(b"\n")


def _print(steering: dict[str, Any]) -> None:
    for name, stream in (("stdout", sys.stdout.buffer), ("stderr", sys.stderr.buffer)):
        text = steering.get(name, "")
        stream.write(text.encode() if isinstance(text, str) else bytes(text))
        stream.flush()
    bytes_left = int(steering.get("flood_bytes", 0))
    block = b"x" * 65535 + b"\n"
    while bytes_left > 0:
        bytes_left -= os.write(1, block[: min(bytes_left, len(block))])


def _leave_children(steering: dict[str, Any]) -> None:
    kinds = (("children", False), ("daemons", True))
    for name, is_daemon in kinds:
        for _ in range(int(steering.get(name, 0))):
            if os.fork() == 0:
                if is_daemon:
                    os.setsid()
                for number in (signal.SIGINT, signal.SIGTERM):
                    signal.signal(number, signal.SIG_IGN)
                time.sleep(float(steering.get("child_seconds", 60)))
                os._exit(0)


def _work(steering: dict[str, Any]) -> None:
    deadline = time.monotonic() + float(steering.get("seconds", 0))
    while time.monotonic() < deadline:
        time.sleep(0.01)
    if "wait_for" in steering:
        while not Path(steering["wait_for"]).exists():
            time.sleep(0.01)


def leave_output(steering: dict[str, Any]) -> None:
    """Leave what the tool would leave for the variables of this process."""
    variables = os.environ
    if "ROCPROF_OUTPUT_PATH" not in variables:
        return
    folder = Path(_filled(variables["ROCPROF_OUTPUT_PATH"]))
    prefix = _filled(variables.get("ROCPROF_OUTPUT_FILE_NAME", _DEFAULT_NAME))
    _copy_files(steering, folder, prefix)
    if _is_on(variables.get("ROCPROF_KERNEL_TRACE", "")) and steering.get("kernels"):
        _leave_kernel_trace(steering, folder, prefix)
    if _is_on(variables.get("ROCPROF_ADVANCED_THREAD_TRACE", "")) and "templates" in steering:
        _leave_thread_trace(steering, folder, prefix)


def _copy_files(steering: dict[str, Any], folder: Path, prefix: str) -> None:
    import shutil

    source = Path(steering["files"]) if "files" in steering else None
    for path in sorted(source.rglob("*")) if source else ():
        if path.is_file():
            target = folder / str(path.relative_to(source)).replace("PREFIX", prefix)  # type: ignore[arg-type]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def _leave_kernel_trace(steering: dict[str, Any], folder: Path, prefix: str) -> None:
    profiler_output = _neighbour()
    launches = [
        (name, 256 * workgroups) for name, count, _, workgroups in steering["kernels"] for _ in range(int(count))
    ]
    profiler_output.write_kernel_trace(folder, launches, prefix=prefix)
    calls = {name: (int(count), int(each)) for name, count, each, _ in steering["kernels"]}
    profiler_output.write_kernel_stats(folder, calls, prefix=prefix)


def _leave_thread_trace(steering: dict[str, Any], folder: Path, prefix: str) -> None:
    """Write thread traces of the launches that are asked for, of a kernel that the regex finds."""
    profiler_output = _neighbour()
    engines, kinds = profiler_output.outcome(
        os.environ,
        needed_bytes=int(steering.get("needed_bytes", 0)),
        busy_engines=steering.get("busy_engines", (0,)),
        busy_cus=steering.get("busy_cus", tuple(range(16))),
    )
    traced = _traced_dispatches(steering)
    if not traced:
        profiler_output.write_thread_trace(Path(steering["templates"]), folder, kind="none", prefix=prefix)
        return
    profiler_output.write_thread_trace(
        Path(steering["templates"]),
        folder,
        prefix=prefix,
        dispatches=traced,
        engines=engines,
        kinds_of_engines=kinds,
    )


def _traced_dispatches(steering: dict[str, Any]) -> list[int]:
    """Numbers of the dispatches that pass the filters; dispatches of all kernels count from 1."""
    regex = os.environ.get("ROCPROF_KERNEL_FILTER_INCLUDE_REGEX", "") or ".*"
    numbers = {int(word) for word in re.findall(r"\d+", os.environ.get("ROCPROF_KERNEL_FILTER_RANGE", ""))}
    number = 0
    traced = []
    for name, count, _, _ in steering.get("kernels", ()):
        for launch in range(1, int(count) + 1):
            number += 1
            if re.search(regex, name) and (not numbers or launch in numbers):
                traced.append(number)
    return traced if numbers else traced[:1]


def _neighbour() -> Any:
    """The module beside this file, without the package around both, which imports much more."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    return import_module("profiler_output")


def _filled(text: str) -> str:
    host = os.uname().nodename
    for name, value in (("%hostname%", host), ("%pid%", str(os.getpid())), ("%h", host), ("%p", str(os.getpid()))):
        text = text.replace(name, value)
    return text


def _is_on(text: str) -> bool:
    return text.lower() in ("1", "true", "on", "yes")


if __name__ == "__main__":
    sys.exit(main())
