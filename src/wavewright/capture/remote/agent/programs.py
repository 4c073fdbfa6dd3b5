"""Programs: short commands, and those whose output is collected in files."""
# ruff: noqa: PTH104, PTH112, PTH118, PTH123, PTH208
# ruff: noqa: UP006, UP035, UP045

import errno
import json
import os
import selectors
import signal
import subprocess
import threading
import time
from contextlib import suppress
from typing import Any, Callable, Dict, Iterable, List, Optional, Set, Tuple

from wavewright.capture.remote.agent.looking import READ_BYTES_MAX, program, read
from wavewright.capture.remote.agent.wire import CHUNK_BYTES_MAX, encoded

# As in capture/machines/local_runner.py and capture/machines/left_behind.py, where the reasons are.
TERM_SECONDS = 10.0
DEATH_SECONDS = 20.0
REMAINS_SECONDS = 5.0
DRAIN_SECONDS = 2.0
TAIL_BYTES_MAX = 1 << 20
MARK = b"WAVEWRIGHT_JOB"
_LOOKS_MAX = 20
_BLOCK = 1 << 16
_PIPE_SECONDS = 0.05  # how long output of children is waited for after the program itself has ended


def environment(variables: Dict[str, str]) -> Dict[bytes, bytes]:
    """Variables as the system wants them."""
    return {encoded(name): encoded(value) for name, value in variables.items()}


def members(group: int, mark: str) -> Set[int]:
    """Living processes of a group, of the session of the same number, or with a mark in their environment.

    A process that starts another and ends while the list is read is met in its child; hence several looks. Group 0
    stands for none: in a container it is that of every process which was started from outside.
    """
    number = b"%d" % group
    needle = b"%s=%s" % (MARK, encoded(mark))
    looked_at = {os.getpid()}
    pids = set()
    for _ in range(_LOOKS_MAX):
        new = {int(name) for name in os.listdir("/proc") if name.isdigit()} - looked_at
        if not new:
            break
        for pid in new:
            fields = process_fields(pid)
            if not fields or fields[0] in (b"Z", b"X"):
                continue
            is_marked = mark and needle in (read(b"/proc/%d/environ" % pid) or b"").split(b"\0")
            if is_marked or (group and number in (fields[2], fields[3])):
                pids.add(pid)
        looked_at |= new
    return pids


def process_fields(pid: int) -> List[bytes]:
    """State, parent, group, session and so on of a process; empty = there is none."""
    content = read(b"/proc/%d/stat" % pid)
    return content.rpartition(b")")[2].split() if content else []


def process_start(pid: int) -> str:
    """When a process started, in ticks since the boot: with its number this names it; empty = there is none."""
    fields = process_fields(pid)
    return fields[19].decode() if len(fields) > 19 and fields[0] not in (b"Z", b"X") else ""


def send_signal(group: int, number: int) -> None:
    """Send a signal to a process group."""
    if group > 1:  # 0 would be the group of this process
        with suppress(OSError):
            os.killpg(group, number)


def signal_all(pids: Iterable[int], number: int) -> None:
    """Send a signal to each; those that ended meanwhile do not matter."""
    for pid in pids:
        if pid > 1 and pid != os.getpid():  # whatever went wrong before
            with suppress(OSError):
                os.kill(pid, number)


def kill_rest(group: int, mark: str) -> int:
    """Kill what is left of a program, again and again: a process may start another before it is killed."""
    seen = set()
    end = time.monotonic() + DEATH_SECONDS
    while time.monotonic() < end:
        pids = members(group, mark)
        if not pids:
            break
        seen |= pids
        signal_all(pids, signal.SIGKILL)
        time.sleep(0.02)
    return len(seen)


def clear(mark: str) -> int:
    """End what is left of an earlier run, recognised by its mark; how many processes that were."""
    pids = members(0, mark) if mark else set()
    signal_all(pids, signal.SIGINT)
    end = time.monotonic() + REMAINS_SECONDS
    while pids and time.monotonic() < end and members(0, mark):
        time.sleep(0.05)
    if pids:
        kill_rest(0, mark)
    return len(pids)


def short_command(words: List[str], seconds: float, more_variables: Dict[str, str]) -> Tuple[Dict[str, Any], bytes]:
    """Run a short command and send what it printed."""
    path = program(encoded(words[0])) if words else None
    if path is None:
        return {"status": None, "problem": f"there is no program {words[0] if words else ''!r}", "bytes": 0}, b""
    variables = dict(os.environb)
    variables.update(environment(more_variables))
    try:
        process = subprocess.Popen(
            [encoded(path)] + [encoded(word) for word in words[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=variables,
            cwd="/",  # a folder of ours may hold programs and modules of others
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        problem = f"cannot be started: {getattr(error, 'strerror', None) or error}"
        return {"status": None, "problem": problem, "bytes": 0}, b""
    with short_lock:
        short_groups.add(process.pid)
    printed = {process.stdout: bytearray(), process.stderr: bytearray()}
    try:
        is_late = _read_until_end(process, printed, time.monotonic() + seconds)
    finally:
        send_signal(process.pid, signal.SIGKILL)
        process.wait()
        with short_lock:
            short_groups.discard(process.pid)
        for stream in printed:
            if stream:
                stream.close()
    stdout, stderr = [bytes(content) for content in printed.values()]
    answer = {
        "status": None if is_late else process.returncode,
        "problem": f"no end after {seconds:g} s" if is_late else "",
        "bytes": len(stdout),
    }
    return answer, stdout + stderr


short_groups: Any = set()
short_lock = threading.Lock()


def _read_until_end(process: Any, printed: Dict[Any, bytearray], end: float) -> bool:
    """Collect what a program prints; says whether it ran past `end`."""
    with selectors.DefaultSelector() as selector:
        for stream in printed:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            has_ended = process.poll() is not None
            ready = selector.select(_PIPE_SECONDS if has_ended else max(0.0, min(1.0, end - time.monotonic())))
            for key, _ in ready:
                part = os.read(key.fd, _BLOCK)
                if part:
                    content = printed[key.fileobj]
                    content += part[: READ_BYTES_MAX - len(content)]
                else:
                    selector.unregister(key.fileobj)
            if not ready and has_ended:  # children that outlive it hold the pipes open
                return False
            if time.monotonic() >= end:
                return True
    try:
        process.wait(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        return True
    return False


class Output:
    """What a program prints: the first part and the end go into a file, the rest is counted."""

    def __init__(self, source: Any, path: bytes, limit_bytes: int) -> None:
        self.source = source
        self._file = open(path, "wb", 0)  # noqa: SIM115 - is closed by `close`
        self._tail_max = min(TAIL_BYTES_MAX, limit_bytes // 4)
        self._room = limit_bytes - self._tail_max
        self._tail = b""
        self.dropped = 0
        self.written = 0
        self.is_at_end = False

    def read(self) -> None:
        """Read what is there."""
        try:
            part = os.read(self.source.fileno(), _BLOCK)
        except BlockingIOError:
            return
        except OSError:
            part = b""
        self.is_at_end = not part
        if part[: self._room]:
            self._write(part[: self._room])
        rest = part[self._room :]
        self._room -= len(part) - len(rest)
        if rest:
            end = self._tail + rest
            self._tail = end[len(end) - self._tail_max :] if self._tail_max < len(end) else end
            self.dropped += len(end) - len(self._tail)

    def _write(self, part: bytes) -> None:
        """A full disk costs the rest of the output, but not the run."""
        try:
            self.written += self._file.write(part)
        except OSError:
            self.dropped += len(part)

    def close(self) -> None:
        """Write the end."""
        if self.dropped and self._tail:
            self._write(b"\n[wavewright: %s bytes are left out here]\n" % f"{self.dropped:,}".encode())
        self._write(self._tail)
        self._file.close()
        if self.source:
            self.source.close()


class Program:
    """A program in a session of its own, with its output in files, watched by a thread.

    It is run, stopped and cleared away exactly as on the machine of who asks (capture/machines/local_runner.py).
    """

    def __init__(self, folder: bytes, number: int, request: Dict[str, Any]) -> None:
        self._place = os.path.join(folder, b"runs", b"%d" % number)
        self._request = request
        self._mark = str(request["variables"].get(MARK.decode(), ""))
        self._grace_seconds = float(request["grace_seconds"])
        self._changed = threading.Condition()
        self._stopped = ""
        self._outputs: List[Output] = []
        self._pid = 0
        self.ending: Optional[Dict[str, Any]] = None
        self._thread = threading.Thread(target=self._run)
        self._thread.daemon = True
        self._thread.start()

    def output(self, offsets: List[int], wait_seconds: float) -> Tuple[Dict[str, Any], bytes]:
        """New output from these offsets on, and how it ended; waits for either."""
        end = time.monotonic() + wait_seconds
        with self._changed:
            while self.ending is None and not self._has_more(offsets):
                rest = end - time.monotonic()
                if rest <= 0:
                    break
                self._changed.wait(rest)
            ending = self.ending
        return output_from(self._place, offsets, ending)

    def _has_more(self, offsets: List[int]) -> bool:
        return any(each.written > offset for each, offset in zip(self._outputs, offsets))  # noqa: B905 - 3.10

    def stop(self, why: str) -> None:
        """Stop it as after Ctrl-C; its thread does that within a moment."""
        self._stopped = self._stopped or why

    def signal(self, number: int) -> None:
        """Send its group a signal."""
        if self.ending is None and self._pid:
            send_signal(self._pid, number)

    def wait(self) -> None:
        """Wait for its end."""
        self._thread.join()

    def _run(self) -> None:
        start = time.monotonic()
        ending: Dict[str, Any] = {"status": None, "problem": "", "left_behind": 0}
        try:
            self._run_to_end(start, ending)
        except Exception as error:
            ending["problem"] = f"the agent failed: {type(error).__name__}: {error}"
            if self._pid:
                kill_rest(self._pid, self._mark)
        ending["stopped"] = self._stopped if self._pid else ""
        ending["seconds"] = time.monotonic() - start
        ending["dropped_bytes"] = sum(each.dropped for each in self._outputs)
        write_state(self._place, {"pid": self._pid, "ending": ending})
        with self._changed:
            self.ending = ending
            self._changed.notify_all()

    def _run_to_end(self, start: float, ending: Dict[str, Any]) -> None:
        request = self._request
        try:
            process = subprocess.Popen(
                [encoded(word) for word in request["words"]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(request["variables"]),
                cwd=encoded(request["cwd"]) or None,
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError, IndexError) as error:
            ending["problem"] = start_problem(request, error)
            return
        self._pid = process.pid
        state = {"pid": process.pid, "start": process_start(process.pid), "mark": self._mark, "ending": None}
        state.update(agent=os.getpid(), agent_start=process_start(os.getpid()), grace_seconds=self._grace_seconds)
        write_state(self._place, state)
        for name, stream in ((b".stdout", process.stdout), (b".stderr", process.stderr)):
            os.set_blocking(stream.fileno(), False)  # type: ignore[union-attr]
            self._outputs.append(Output(stream, self._place + name, int(request["output_bytes"])))
        try:
            self._attend(process, start + float(request["seconds"]))
            self._finish(process, ending)
        finally:
            for each in self._outputs:
                each.close()

    def _attend(self, process: Any, end: float) -> None:
        """Read its output until it has ended or resists every signal, and stop it when it is time."""
        steps = [(end, signal.SIGINT)]  # what comes next, and when
        is_stopping = False
        while process.poll() is None:
            now = time.monotonic()
            if self._stopped and not is_stopping:
                steps = [(now, signal.SIGINT)]
            if now >= steps[0][0]:
                number = steps.pop(0)[1]
                if not is_stopping:
                    is_stopping = True
                    self.stop("timeout")
                    later = now + self._grace_seconds
                    steps = [(later, signal.SIGTERM)]
                    steps += [(later + min(TERM_SECONDS, self._grace_seconds), signal.SIGKILL)]
                send_signal(process.pid, number)
                if number != signal.SIGINT:  # a launcher hands SIGINT on; twice means to many that they must not write
                    signal_all(members(0, self._mark) if self._mark else (), number)
                if not steps:
                    self._read(DEATH_SECONDS, lambda: process.poll() is not None)
                    return
            self._read(min(0.1, max(0.0, steps[0][0] - now)), lambda: process.poll() is not None)

    def _finish(self, process: Any, ending: Dict[str, Any]) -> None:
        """Clear away what outlived it, and read what is left in the pipes."""
        is_stuck = process.poll() is None
        alive = members(process.pid, self._mark) - {process.pid}
        if alive:
            patience = 0.0 if self._stopped else min(REMAINS_SECONDS, self._grace_seconds)
            for number in (signal.SIGINT, signal.SIGTERM) if patience else ():  # SIGINT is ignored by `sh -c 'x &'`
                signal_all(members(process.pid, self._mark), number)
                self._read(patience / 2, lambda: not members(process.pid, self._mark))
            kill_rest(process.pid, self._mark)
        self._read(DRAIN_SECONDS, lambda: all(each.is_at_end for each in self._outputs))
        if is_stuck:
            ending["problem"] = f"process {process.pid} does not end, not even by SIGKILL: it waits for the driver"
        ending["status"] = process.poll()
        ending["left_behind"] = len(alive) + is_stuck

    def _read(self, seconds: float, is_over: Callable[[], bool]) -> None:
        """Read output for a bounded time, until something is true."""
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            for each in self._outputs:
                if not each.is_at_end:
                    selector.register(each.source, selectors.EVENT_READ, each)
            while True:
                for key, _ in selector.select(max(0.0, min(_PIPE_SECONDS, end - time.monotonic()))):
                    key.data.read()
                    if key.data.is_at_end:
                        selector.unregister(key.fileobj)
                    with self._changed:
                        self._changed.notify_all()
                if time.monotonic() >= end or is_over():
                    return


def _shortened(name: str) -> str:
    """As in base/words.py."""
    return name if len(name) <= 60 else name[:59] + "…"


def start_problem(request: Dict[str, Any], error: Exception) -> str:
    """Why a program could not be started, in the words of capture/machines/local_runner.py."""
    name, cwd = (repr(_shortened(text)) for text in ((request["words"] or [""])[0], request["cwd"]))
    number = getattr(error, "errno", None)
    if number is None:
        return f"the program {name} cannot be started: {error}"
    if request["cwd"] and not os.path.isdir(encoded(request["cwd"])):
        return f"the folder {cwd} in which {name} is to run does not exist"
    reasons = {
        errno.ENOENT: "the program {} does not exist",
        errno.EACCES: "the program {} is not executable",
        errno.ENOEXEC: "{} is not a program that this machine can run; does its first line lack '#!'?",
        errno.E2BIG: "the arguments and variables of {} are longer than the system allows",
    }
    return reasons.get(number, f"the program {{}} cannot be started: {os.strerror(number)}").format(name)


def output_from(place: bytes, offsets: List[int], ending: Optional[Dict[str, Any]]) -> Tuple[Dict[str, Any], bytes]:
    """Output of a run from these offsets on; the ending comes with the last of it."""
    parts = []
    most = CHUNK_BYTES_MAX // 2
    for name, offset in zip((b".stdout", b".stderr"), offsets):  # noqa: B905 - 3.10
        try:
            with open(place + name, "rb") as file:
                file.seek(offset)
                parts.append(file.read(most))
        except OSError:
            parts.append(b"")
    is_all = all(len(part) < most for part in parts)
    return {"ending": ending if is_all else None, "bytes": len(parts[0])}, b"".join(parts)


def write_state(place: bytes, state: Dict[str, Any]) -> None:
    """Replace the state of a run."""
    with suppress(OSError):
        with open(place + b".new", "w") as file:
            json.dump(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.rename(place + b".new", place + b".json")


def read_state(place: bytes) -> Optional[Dict[str, Any]]:
    """The state of a run."""
    content = read(place + b".json")
    try:
        return json.loads(content.decode("utf-8")) if content else None
    except ValueError:
        return None
