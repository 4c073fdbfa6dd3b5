"""Requests and their answers, until the connection ends."""
# ruff: noqa: PTH109, PTH118
# ruff: noqa: UP006, UP035

import errno
import os
import shutil
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Any, Dict, Tuple

from wavewright.capture.remote.agent import captures, looking, programs
from wavewright.capture.remote.agent.wire import CHUNK_BYTES_MAX, PROTOCOL, Connection, LostError, decoded, encoded

SILENCE_SECONDS = 300.0  # the other end says something every 20 s; a connection that is silent for so long is lost


class Agent:
    """Answers requests until the connection ends; then stops what it started."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._programs: Dict[Tuple[str, int], programs.Program] = {}
        self._lock = threading.Lock()

    def serve(self) -> None:
        """Answer each request in a thread of its own."""
        while True:
            request, more = self._connection.receive()
            if request.get("op") != "ping":
                thread = threading.Thread(target=self._answer, args=(request, more))
                thread.daemon = True
                thread.start()

    def end(self) -> None:
        """Stop everything gently, and wait for it."""
        with self._lock:
            started = list(self._programs.values())
        for each in started:
            each.stop("interrupted")
        with programs.short_lock:
            for group in list(programs.short_groups):
                programs.send_signal(group, signal.SIGKILL)
        for each in started:
            each.wait()

    def _answer(self, request: Dict[str, Any], more: bytes) -> None:
        try:
            value, content = self._do(request, more)
            answer = {"id": request["id"], "value": value}
        except OSError as error:
            answer, content = {"id": request.get("id"), "error": error.strerror or str(error)}, b""
            answer["errno"] = errno.errorcode.get(error.errno or 0, "")
        except Exception as error:  # a request that makes no sense must not end the connection
            answer, content = {"id": request.get("id"), "error": f"{type(error).__name__}: {error}"}, b""
        self._connection.send(answer, content)

    def _do(self, request: Dict[str, Any], more: bytes) -> Tuple[Any, bytes]:
        name = request["op"]
        if name == "hello":
            variables = {decoded(key): decoded(value) for key, value in os.environb.items()}
            return {
                "protocol": PROTOCOL,
                "identity": looking.identity(),
                "variables": variables,
                "cwd": os.getcwd(),
            }, b""
        if name == "read":
            content = looking.read(encoded(request["path"]))
            return content is not None, content or b""
        if name == "prefetch":
            return looking.sent_ahead(request["patterns"])
        if name == "run":
            return programs.short_command(request["words"], float(request["seconds"]), request["variables"])
        if name == "clear":
            captures.wait_for(request["mark"])
            return programs.clear(request["mark"]), b""
        question = _QUESTIONS.get(name)
        if question:
            return question(encoded(request["path"])), b""
        return self._about_capture(name, request, more)

    def _about_capture(self, name: str, request: Dict[str, Any], more: bytes) -> Tuple[Any, bytes]:
        token = request["token"]
        folder = captures.capture_folder(token, is_new=name in ("folder", "start", "write"))
        if folder is None:
            if name == "remove":
                return True, b""
            raise ValueError("there is no folder of this capture there: it was removed")
        data = os.path.join(folder, b"data")
        if name == "folder":
            return decoded(data), b""
        if name == "write":
            return decoded(captures.write(data, request["name"], more)), b""
        if name == "files":
            entries, is_all = captures.files_of(data)
            return {"files": entries, "is_all": is_all}, b""
        if name == "hash":
            return captures.hash_of(data, request["name"], int(request["length"])), b""
        if name == "chunk":
            with captures.opened(data, request["name"]) as file:
                file.seek(int(request["offset"]))
                return True, file.read(min(CHUNK_BYTES_MAX, int(request["length"])))
        if name == "remove":
            shutil.rmtree(folder)
            return True, b""
        return self._about_program(name, token, folder, request)

    def _about_program(self, name: str, token: str, folder: bytes, request: Dict[str, Any]) -> Tuple[Any, bytes]:
        number = int(request["run"])
        key = (token, number)
        if name == "start":
            with self._lock:
                if key in self._programs:
                    raise ValueError(f"run {number} was started already")
                self._programs[key] = programs.Program(folder, number, request)
            return True, b""
        if name == "remains":
            return captures.remains(folder, number), b""
        current = self._programs.get(key)
        if name == "output":
            offsets = [int(request["stdout"]), int(request["stderr"])]
            if current is not None:
                return current.output(offsets, min(5.0, float(request["wait_seconds"])))
            state = captures.remains(folder, number)  # of an earlier connection
            place = os.path.join(folder, b"runs", b"%d" % number)
            answer, content = programs.output_from(place, offsets, state["ending"])
            answer["is_over"] = not content and not state["alive"]
            return answer, content
        if current is None:
            raise ValueError(f"there is no run {number}")
        if name == "stop":
            current.stop("interrupted")
            return True, b""
        if name == "signal":
            current.signal(int(request["number"]))
            return True, b""
        raise ValueError(f"an unknown request: {name!r}")


_QUESTIONS: Dict[str, Any] = {
    "names": looking.names,
    "facts": looking.facts,
    "real_path": looking.real_path,
    "refusal": looking.refusal,
    "free_bytes": looking.free_bytes,
    "program": looking.program,
}


def main(mark: str) -> None:
    """Serve standard input and output until the connection ends."""

    def leave(*_: Any) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: None)  # not SIG_IGN, which programs would inherit
        raise LostError("told to end")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    sink = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # nothing but answers gets into the connection
    connection = Connection(sys.stdin.buffer, sink)
    agent = Agent(connection)
    os.write(sink, b"\n" + mark.encode("ascii") + b"\n")

    def watch_silence() -> None:
        while time.monotonic() - connection.heard < SILENCE_SECONDS:
            time.sleep(5)
        agent.end()
        os._exit(1)

    watcher = threading.Thread(target=watch_silence)
    watcher.daemon = True
    watcher.start()
    with suppress(LostError, ValueError, OSError):
        agent.serve()
    agent.end()
    os._exit(0)  # threads that still send have nobody to send to


if __name__ == "__main__":
    main(sys.argv[1])
