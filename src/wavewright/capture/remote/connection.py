"""A connection to another machine or into a container: our agent is sent over it, and then answers requests."""

from __future__ import annotations

import json
import queue
import re
import secrets
import shlex
import shutil
import struct
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from wavewright.base import stopping
from wavewright.base.shown import quoted
from wavewright.errors import MissingToolError, UnreachableError, UsageError, WavewrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ANSWER_BYTES_MAX = 64 << 20  #: More in one answer is not from our agent.
CONNECT_SECONDS = 60.0  #: From the start of ssh to the first word of the agent.
ANSWER_SECONDS = 120.0  #: For an answer that needs no work.
_PING_SECONDS = 20.0
_JOIN_SECONDS = 1.0
_BANNER_BYTES_MAX = 1 << 17
_STDERR_BYTES = 8192
_LINE_CHARACTERS = 300
_HEADER = struct.Struct(">II")
#: The agent's modules, each after those that it imports.
_PIECES = ("wire", "looking", "programs", "captures", "serving")
_PACKAGE = "wavewright.capture.remote.agent"
_ENGINES = ("docker", "podman", "apptainer", "singularity")
_HOST = re.compile(r"[^\s\x00-\x1f\x7f]{1,300}")
_CONTAINER = re.compile(rf"(?:(?P<engine>{'|'.join(_ENGINES)}):)?(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]{{0,200}})")

#: No question is asked in a terminal, nothing but the command travels, and a dead connection is noticed in a minute.
#: Sockets of a ControlMaster that the user configured are used.
SSH_OPTIONS = (
    "BatchMode=yes",
    "ConnectTimeout=15",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=4",
    "ForwardAgent=no",
    "ForwardX11=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
)

# Words of these scripts: $1 the mark, $2 the Python program; and $3 the container, $4 its engine or nothing. They are
# one line each, without `!`: the login shell there may be csh.
_FIND_PYTHON = (
    "for p in python3 python /usr/bin/python3 /usr/libexec/platform-python; do "
    'if "$p" -c "import sys; sys.exit(sys.version_info < (3, 6))" </dev/null >/dev/null 2>&1; '
    'then exec "$p" -u -c "$2" "$1"; fi; done; printf "\\n%s no-python\\n" "$1"'
)
_ENTER_CONTAINER = (
    "seen=; for e in ${4:-docker podman}; do case $e in docker|podman) "
    "if command -v $e >/dev/null 2>&1; then seen=1; "
    'state=$($e container inspect -f "{{.State.Running}}" "$3" </dev/null); '
    'case $state in true) exec $e exec -i "$3" sh -c "$0" sh "$1" "$2";; '
    'false) printf "\\n%s stopped\\n" "$1"; exit 1;; '
    "esac; fi;; esac; done; "
    "for e in ${4:-apptainer singularity}; do case $e in apptainer|singularity) "
    "if command -v $e >/dev/null 2>&1; then seen=1; "
    'if $e instance list "$3" </dev/null 2>/dev/null | grep -q "^$3 "; '
    'then exec $e exec "instance://$3" sh -c "$0" sh "$1" "$2"; fi; fi;; esac; done; '
    'if test -n "$seen"; then printf "\\n%s no-container\\n" "$1"; else printf "\\n%s no-engine\\n" "$1"; fi'
)
_BOOTSTRAP = "import sys;r=sys.stdin.buffer;exec(r.read(int(r.readline())))"

#: What ssh prints when it cannot connect: pattern, what happened, what to do.
_SSH_PROBLEMS = (
    (r"Could not resolve hostname", "the host is unknown", "check its name, or its entry in ~/.ssh/config"),
    (
        r"Permission denied|Too many authentication failures",
        "ssh is not allowed to log in",
        "make `ssh {host} true` work without a password first: a key in ssh-agent, or a ControlMaster connection",
    ),
    (
        r"Host key verification failed",
        "ssh does not know the host's key, or it has changed",
        "run `ssh {host} true` once by hand and check the fingerprint",
    ),
    (r"Connection refused", "nothing listens for ssh there", "check the host and its port"),
    (
        r"timed out|No route to host|Network is unreachable",
        "the host does not answer",
        "check the network, or add a ProxyJump for it to ~/.ssh/config",
    ),
)


def agent_source() -> bytes:
    """The agent as one program: its modules, each as text that the other Python makes a module of."""
    folder = Path(__file__).parent / "agent"
    pieces = [(name, (folder / f"{name}.py").read_text(encoding="utf-8")) for name in _PIECES]
    return f"""import sys, types
package = types.ModuleType({_PACKAGE!r})
sys.modules[package.__name__] = package
for name, text in {pieces!r}:
    module = types.ModuleType(package.__name__ + "." + name)
    sys.modules[module.__name__] = module
    setattr(package, name, module)
    exec(compile(text, name, "exec"), module.__dict__)
package.serving.main(sys.argv[1])
""".encode()


@dataclass(frozen=True)
class Address:
    """Where programs shall run; empty words are this machine, or no container."""

    host: str = ""
    engine: str = ""  #: docker, podman, apptainer or singularity; empty = the one that has the container.
    container: str = ""

    @property
    def name(self) -> str:
        """What messages call it.

        Examples
        --------
        >>> address("gpu7", "podman:rocm").name, address(None, "rocm").name
        ('container rocm on gpu7', 'container rocm')
        """
        place = f"container {self.container}" if self.container else ""
        return " on ".join(part for part in (place, self.host) if part)

    def words(self, mark: str) -> list[str]:
        """The command that starts a Python there which reads our agent from its standard input.

        Examples
        --------
        >>> address("gpu7", None).words("m")[-3:-1]
        ['--', 'gpu7']
        """
        inner = ["sh", "-c", _FIND_PYTHON, "sh", mark, _BOOTSTRAP]
        if self.container:
            inner = ["sh", "-c", _ENTER_CONTAINER, _FIND_PYTHON, mark, _BOOTSTRAP, self.container, self.engine]
        if not self.host:
            return inner
        options = [word for option in SSH_OPTIONS for word in ("-o", option)]
        return ["ssh", "-T", *options, "--", self.host, shlex.join(inner)]


def address(host: str | None, container: str | None) -> Address:
    """The place that --host and --container name.

    Raises
    ------
    UsageError
        For a name that ssh or a container engine would take for something else.

    Examples
    --------
    >>> address("me@gpu7", "podman:rocm")
    Address(host='me@gpu7', engine='podman', container='rocm')
    """
    if host is not None:
        advice = "write it as user@machine, or as a name from ~/.ssh/config"
        if not _HOST.fullmatch(host) or any(part.startswith("-") for part in host.split("@")):
            raise UsageError(f"this cannot be the name of a host: {host[:_LINE_CHARACTERS]!r}", advice=advice)
    match = _CONTAINER.fullmatch(container) if container is not None else None
    if container is not None and match is None:
        advice = "use the name or id that `docker ps` shows, or podman:NAME, apptainer:INSTANCE"
        raise UsageError(f"this cannot be the name of a container: {container[:_LINE_CHARACTERS]!r}", advice=advice)
    if host is None and container is None:
        raise UsageError("neither a host nor a container is named", advice="--host user@machine, or --container NAME")
    engine, name = (match["engine"] or "", match["name"]) if match else ("", "")
    return Address(host or "", engine, name)


class Connection:
    """Requests to an agent and its answers; any thread may ask.

    Parameters
    ----------
    place
        Where to connect to.
    variables
        The environment of ssh and of container engines; None = that of this process.

    Raises
    ------
    MissingToolError
        When ssh, a container engine or Python is missing.
    UnreachableError
        When there is no connection; the sentence says why.
    """

    def __init__(self, place: Address, variables: Mapping[str, str] | None = None) -> None:
        self.place = place
        self._mark = secrets.token_hex(16)
        self._answers: dict[int, queue.SimpleQueue[tuple[dict[str, Any], bytes] | None]] = {}
        self._next = 1
        self._lock = threading.Lock()  #: Of the writing end and of `_answers`.
        self._stderr = bytearray()
        self._has_ended = threading.Event()
        self._threads: list[threading.Thread] = []
        self._is_protocol_broken = ""
        words = place.words(self._mark)
        if not shutil.which(words[0], path=None if variables is None else variables.get("PATH", "")):
            raise MissingToolError(f"there is no {words[0]} here", advice="install an OpenSSH client")
        with stopping.unstopped():
            # A session of its own: Ctrl-C is for us, who then stop the program there gently.
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=None if variables is None else dict(variables),
                start_new_session=True,
                bufsize=0,
            )
            self._forget = stopping.add(self._hang_up)
        self._start(self._collect_stderr)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; the agent stops what still runs."""
        self._hang_up()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(_JOIN_SECONDS)
        for stream in (self._process.stdout, self._process.stderr):
            if stream:
                stream.close()
        self._forget()

    def ask(self, request: str, more: bytes = b"", *, patience: float = ANSWER_SECONDS, **values: Any) -> Any:
        """The value of an answer without bytes."""
        return self.ask_bytes(request, more, patience=patience, **values)[0]

    def ask_bytes(
        self, request: str, more: bytes = b"", *, patience: float = ANSWER_SECONDS, **values: Any
    ) -> tuple[Any, bytes]:
        """Send a request and wait for its answer, at most `patience` seconds.

        Raises
        ------
        UnreachableError
            When the connection is lost.
        WavewrightError
            When the agent refuses.
        """
        return self.answer(self.send(request, more, **values), patience)

    def send(self, request: str, more: bytes = b"", **values: Any) -> int:
        """Send a request; `answer` waits for what comes back under the number."""
        with self._lock:
            number = self._next
            self._next += 1
            self._answers[number] = queue.SimpleQueue()
            self._write({"id": number, "op": request, **values}, more)
        if self._has_ended.is_set():
            self._lost()
        return number

    def answer(self, number: int, seconds: float = ANSWER_SECONDS) -> tuple[Any, bytes]:
        """The answer to a request, waited for at most `seconds`."""
        try:
            received = self._answers[number].get(timeout=seconds)
        except queue.Empty:
            self._hang_up()
            raise UnreachableError(
                f"no answer for {seconds:.0f} s", where=self.place.name, advice="run it again with --resume"
            ) from None
        finally:
            self._answers.pop(number, None)
        if received is None:
            self._lost()
        message, more = received
        if "value" not in message:
            raise WavewrightError(_line(str(message.get("error"))), where=self.place.name)
        return message["value"], more

    def drop(self, number: int) -> None:
        """Forget a request whose answer is not needed."""
        self._answers.pop(number, None)

    def _lost(self) -> NoReturn:
        problem = self._is_protocol_broken or f"the connection was lost{self._last_words(': ')}"
        advice = "what ran there is stopped and its data stay there; run it again with --resume to bring them"
        raise UnreachableError(problem, where=self.place.name, advice=advice)

    def _last_words(self, before: str) -> str:
        lines = bytes(self._stderr).decode("utf-8", "replace").strip().splitlines()
        return f"{before}{_line(lines[-1])}" if lines else ""

    def _write(self, message: dict[str, Any], more: bytes = b"") -> None:
        """With the lock. What cannot be written is lost; the reader notices it."""
        text = json.dumps(message).encode("ascii")
        rest = memoryview(_HEADER.pack(len(text), len(more)) + text + more)
        stream = self._process.stdin
        with suppress(OSError, ValueError):
            while rest and stream:
                rest = rest[stream.write(rest) or 0 :]

    def _hang_up(self) -> None:
        """Nothing is waited for: the agent sees the end of its input."""
        self._has_ended.set()
        with suppress(OSError, ValueError):
            if self._process.stdin:
                self._process.stdin.close()

    def _collect_stderr(self) -> None:
        stream = self._process.stderr
        with suppress(OSError, ValueError):
            while stream and (part := stream.read(4096)):
                self._stderr += part
                del self._stderr[:-_STDERR_BYTES]

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name=f"remote{work.__name__}", daemon=True)
        self._threads.append(thread)
        thread.start()

    # --- the start ---

    def _open(self) -> None:
        source = agent_source()
        with suppress(OSError):
            assert self._process.stdin  # noqa: S101 - is a pipe
            rest = memoryview(b"%d\n" % len(source) + source)
            while rest:
                rest = rest[self._process.stdin.write(rest) or 0 :]
        problem = self._wait_for_mark()
        if problem is not None:
            self._not_connected(problem)
        self._start(self._receive)
        self._start(self._ping)

    def _wait_for_mark(self) -> str | None:
        """Skip what shells print; None = our agent is there, else what stands in the way."""
        assert self._process.stdout  # noqa: S101 - is a pipe
        timer = threading.Timer(CONNECT_SECONDS, self._process.kill)
        timer.daemon = True
        timer.start()
        mark = self._mark.encode()
        try:
            line = bytearray()
            total = 0
            while total < _BANNER_BYTES_MAX:
                byte = self._process.stdout.read(1)  # one by one: what follows the mark is for the reader
                if not byte:
                    break
                total += 1
                if byte != b"\n":
                    line += byte
                    continue
                if line == mark:
                    return None
                if line.startswith(mark + b" "):
                    return line[len(mark) + 1 :].decode("ascii", "replace")
                line.clear()
            return ""
        finally:
            timer.cancel()

    def _not_connected(self, problem: str) -> NoReturn:
        place = self.place
        engine = place.engine or "docker or podman"
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.kill()
        time.sleep(0.05)  # the last words arrive on another thread
        if problem == "no-python":
            advice = "install python3 (3.6 or newer) there; nothing else is needed"
            raise MissingToolError("there is no Python 3.6 or newer", where=place.name, advice=advice)
        if problem == "no-engine":
            where = place.host
            raise MissingToolError(
                f"there is no {engine}", where=where, advice="install it, or name the host with --host"
            )
        if problem == "no-container":
            what = f"there is no container {place.container} that we may see{self._last_words(' (')}"
            what += ")" if what.count("(") > what.count(")") else ""
            raise UnreachableError(what, where=place.host, advice=f"`{engine.split()[0]} ps` lists those that run")
        if problem == "stopped":
            advice = f"{engine.split()[0]} start {place.container}"
            raise UnreachableError(f"the container {place.container} does not run", where=place.host, advice=advice)
        text = bytes(self._stderr).decode("utf-8", "replace")
        for pattern, what, advice in _SSH_PROBLEMS if place.host else ():
            if re.search(pattern, text):
                raise UnreachableError(what, where=place.name, advice=advice.format(host=quoted(place.host)))
        by_hand = f"ssh {quoted(place.host)} python3 --version" if place.host else "the command by hand"
        raise UnreachableError(
            f"our agent could not be started{self._last_words(': ')}", where=place.name, advice=f"try `{by_hand}`"
        )

    # --- while it is open ---

    def _ping(self) -> None:
        """The agent takes a long silence for a lost connection."""
        while not self._has_ended.wait(_PING_SECONDS):
            with self._lock:
                self._write({"op": "ping"})

    def _receive(self) -> None:
        try:
            while (message := self._message()) is not None:
                answers = self._answers.get(message[0].get("id", 0))
                if answers is not None:
                    answers.put(message)
        except (ValueError, TypeError, AttributeError, RecursionError):
            self._is_protocol_broken = "what comes back is not from our agent"
            self._hang_up()
        except OSError:
            pass
        self._has_ended.set()
        with self._lock:
            for answers in self._answers.values():
                answers.put(None)

    def _message(self) -> tuple[dict[str, Any], bytes] | None:
        head = self._exactly(_HEADER.size)
        if head is None:
            return None
        text_bytes, more_bytes = _HEADER.unpack(head)
        if text_bytes + more_bytes > ANSWER_BYTES_MAX:
            raise ValueError("an answer that is too long")
        text, more = self._exactly(text_bytes), self._exactly(more_bytes)
        if text is None or more is None:
            return None
        message = json.loads(text)
        if not isinstance(message, dict):
            raise TypeError("not an object")
        return message, more

    def _exactly(self, count: int) -> bytes | None:
        assert self._process.stdout  # noqa: S101 - is a pipe
        parts = bytearray()
        while len(parts) < count:
            part = self._process.stdout.read(min(1 << 20, count - len(parts)))
            if not part:
                return None
            parts += part
        return bytes(parts)


def _line(text: str) -> str:
    """One line of a text from elsewhere, shortened."""
    line = " ".join(text.split())
    return line if len(line) <= _LINE_CHARACTERS else f"{line[: _LINE_CHARACTERS - 1]}…"
