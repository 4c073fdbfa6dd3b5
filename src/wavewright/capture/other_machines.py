"""Captures on other machines and in containers: the same version of wavewright runs there, and its folder comes back.

`ssh HOST wavewright capture ... --json` takes the capture into a folder below ~/.cache/wavewright/captures there, and a
stream of tar brings that. The other end is not trusted with our disk: names are checked as those of an archive are, no
link is made but that of the result, and what is not taken is said. Its input is held open: when the connection ends, or
the user stops it, the capture there is told to stop, and --resume goes on with it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shlex
import shutil
import socket
import subprocess
import tarfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from wavewright.base import stopping
from wavewright.base.own_folders import make_below
from wavewright.base.shown import quoted, shown
from wavewright.base.words import amount
from wavewright.capture.jobs.folder import JOB, LOCK, RAW, RESULT, JobFolder, refuse_links
from wavewright.errors import MissingToolError, OutputError, UnreachableError, UsageError, WavewrightError
from wavewright.facts.loader import packaged
from wavewright.readers.files.archive import refusal_of_name

FILES_MAX = 100_000  #: Of one capture.
BYTES_MAX = 1 << 40  #: Of one capture, together.
SPARED_BYTES = 256 << 20  #: Free space that is left on this machine.
_LINE_BYTES_MAX = 4 << 20  #: Of a line that is printed there.
_BANNER_BYTES_MAX = 1 << 17  #: What login shells may print before the first word of ours.
_STDERR_BYTES = 1 << 16  #: The end of the error stream that is looked at.
_LOSSES_TOLD_MAX = 10  #: Files that were not brought and are named.
_NOT_FOUND, _SSH_FAILED = 127, 255  #: Statuses: of a shell without the program, and of ssh itself.
_STOP_SECONDS = 200.0  #: For a capture there to stop: its program may use its grace.
_ENGINES = ("docker", "podman", "apptainer", "singularity")
_HOST = re.compile(r"[^\s\x00-\x1f\x7f]{1,300}")
_CONTAINER = re.compile(rf"(?:(?P<engine>{'|'.join(_ENGINES)}):)?(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]{{0,200}})")
_RESULT_TARGET = re.compile(r"attempts/([0-9]{1,9})")

_SSH = packaged("ssh.toml", __package__)
# Scripts for sh, one line each and without `!`: the login shell there may be csh. $0 is a mark that is printed before
# anything of ours, as login shells may print; $1 is the name of the folder.
_MARKED = 'printf "\\n%s\\n" "$0"; '
_FOLDER = '"$HOME/.cache/wavewright/captures/$1"'
_PLAIN = _MARKED + 'exec "$@" </dev/null'
_TAKE = (
    _MARKED + "exec 3<&0 </dev/null; (cat <&3; kill -INT $$) >/dev/null 2>&1 & exec 3<&-; "
    f'f={_FOLDER}; w=$2; v=$3; shift 3; exec "$w" capture "$v" -o "$f" "$@"'
)
_PACK = _MARKED + f"cd {_FOLDER} && exec tar -cf - ."
_REMOVE = _MARKED + f"rm -rf -- {_FOLDER}"
_ENTER = (
    'e=$1; c=$2; shift 2; if test -z "$e"; then e=podman; if command -v docker >/dev/null 2>&1; then e=docker; fi; fi; '
    'case $e in apptainer|singularity) exec $e exec "instance://$c" "$@";; *) exec $e exec -i "$c" "$@";; esac'
)


@dataclass(frozen=True)
class Place:
    """The place where programs shall run; empty words are this machine, or no container."""

    host: str = ""
    engine: str = ""  #: docker, podman, apptainer or singularity; empty = docker, else podman.
    container: str = ""
    program: str = "wavewright"  #: What wavewright is called there.

    @property
    def name(self) -> str:
        """The name in messages."""
        inside = f"container {self.container}" if self.container else ""
        return " on ".join(part for part in (inside, self.host) if part)

    def words(self, script: str, mark: str, arguments: Sequence[str]) -> list[str]:
        """The command that runs a script there.

        >>> place_of("gpu7", None).words("true", "m", ["a b"])[-3:]
        ['--', 'gpu7', "sh -c true m 'a b'"]
        """
        words = ["sh", "-c", script, mark, *arguments]
        if self.container:
            words = ["sh", "-c", _ENTER, "sh", self.engine, self.container, *words]
        if not self.host:
            return words
        options = [word for option in _SSH["options"] for word in ("-o", option)]
        return ["ssh", "-T", *options, "--", self.host, shlex.join(words)]


def place_of(host: str | None, container: str | None, program: str = "") -> Place:
    """The place that --host and --container name.

    >>> place_of("me@gpu7", "podman:rocm")
    Place(host='me@gpu7', engine='podman', container='rocm', program='wavewright')
    """
    if host is not None:
        advice = "write it as user@machine, or as a name from ~/.ssh/config"
        if not _HOST.fullmatch(host) or any(part.startswith("-") for part in host.split("@")):
            raise UsageError(f"this cannot be the name of a host: {host[:300]!r}", advice=advice)
    match = _CONTAINER.fullmatch(container) if container is not None else None
    if container is not None and match is None:
        advice = "use the name or id that `docker ps` shows, or podman:NAME, apptainer:INSTANCE"
        raise UsageError(f"this cannot be the name of a container: {container[:300]!r}", advice=advice)
    engine, name = (match["engine"] or "", match["name"]) if match else ("", "")
    return Place(host or "", engine, name, program or "wavewright")


class _Connection:
    """A program there: its output behind the mark, and the end of what it says besides."""

    def __init__(self, place: Place, script: str, arguments: Sequence[str]) -> None:
        self._place = place
        self._mark = secrets.token_hex(16)
        words = place.words(script, self._mark, arguments)
        if shutil.which(words[0]) is None:
            raise MissingToolError(f"there is no {words[0]} here", advice="install an OpenSSH client")
        with stopping.unstopped():
            # A session of its own: Ctrl-C is for us, who then stop the program there gently.
            self.process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
            self._forget = stopping.add(self.hang_up)
        assert self.process.stdout and self.process.stderr  # noqa: S101 - both are pipes
        self.stdout: IO[bytes] = self.process.stdout
        self._errors = bytearray()
        self._reader = threading.Thread(target=self._collect, args=(self.process.stderr,), daemon=True)
        self._reader.start()

    def hang_up(self) -> None:
        """End its input, at which a capture there stops, and wait for that."""
        with suppress(OSError):
            if self.process.stdin:
                self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_STOP_SECONDS)

    def close(self) -> int:
        """Its status, once it has ended."""
        self.hang_up()
        if self.process.poll() is None:
            self.process.kill()
        self._reader.join(1)
        self._forget()
        self.stdout.close()
        return self.process.wait()

    def skip_banner(self) -> bool:
        """True when the mark came; what shells print before it is skipped."""
        rest_bytes = _BANNER_BYTES_MAX
        while rest_bytes > 0 and (line := self.stdout.readline(rest_bytes)):
            if line.strip() == self._mark.encode():
                return True
            rest_bytes -= len(line)
        return False

    @property
    def errors(self) -> str:
        """The end of what it said on its error stream, printable."""
        return bytes(self._errors).decode("utf-8", "replace")

    def _collect(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            while part := stream.read1(4096):  # type: ignore[attr-defined]
                self._errors += part
                del self._errors[:-_STDERR_BYTES]
        stream.close()

    def refusal(self, status: int) -> WavewrightError:
        """The error for a place that cannot be reached."""
        place = self._place
        engine = place.engine or "docker"
        if status == _NOT_FOUND and "not found" in self.errors and place.container and engine in self.errors:
            return MissingToolError(f"there is no {engine}", where=place.host, advice="install it there")
        for pattern, what, advice in _SSH["problems"] if place.host and status == _SSH_FAILED else ():
            if re.search(pattern, self.errors):
                return UnreachableError(what, where=place.name, advice=advice.format(host=quoted(place.host)))
        return UnreachableError(f"nothing can be run there{_last(self.errors, ': ')}", where=place.name)


@contextmanager
def _connected(place: Place, script: str, *arguments: str) -> Iterator[_Connection]:
    connection = _Connection(place, script, arguments)
    try:
        if not connection.skip_banner():
            raise connection.refusal(connection.close())
        yield connection
    finally:
        connection.close()


def _last(text: str, before: str = "") -> str:
    """The last line of a text from elsewhere, shortened."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{before}{shown(lines[-1])[:300]}" if lines else ""


def check_version(place: Place) -> None:
    """Refuse a place whose wavewright is missing or another version: it would write folders that we do not read."""
    from importlib.metadata import version

    ours = version("wavewright")
    with _connected(place, _PLAIN, place.program, "--version") as connection:
        words = connection.stdout.read(_LINE_BYTES_MAX).decode("utf-8", "replace").split()
        connection.close()
        advice = f"install the same version there: pip install wavewright=={ours}; --remote PATH names where it is"
        if len(words) != 2 or words[0] != "wavewright":
            what = f"there is no wavewright that answers{_last(connection.errors, ': ')}"
            raise MissingToolError(what, where=place.name, advice=advice)
    if words[1] != ours:
        raise UsageError(f"wavewright is {ours} here and {shown(words[1])[:40]} there", where=place.name, advice=advice)


def relay(place: Place, words: Sequence[str], write: Callable[[str], None]) -> int:
    """Run wavewright there and hand on what it prints, line by line; its status."""
    check_version(place)
    with _connected(place, _PLAIN, place.program, *words) as connection:
        for line in iter(lambda: connection.stdout.readline(_LINE_BYTES_MAX), b""):
            write(line.decode("utf-8", "replace").rstrip("\n"))
        status = connection.close()
    if any(line.startswith("error: ") for line in connection.errors.splitlines()):
        raise _refusal(place, status, connection.errors)
    return status


def take_there(
    place: Place,
    verb: str,
    words: Sequence[str],
    folder: Path,
    *,
    resume: bool,
    force: bool,
    say: Callable[[dict[str, Any]], None],
) -> None:
    """Take a capture there and bring its folder.

    `verb` and `words` are those of `wavewright capture --json`, without -o; `say` gets the events of the capture there.
    """
    _check_folder(folder, resume=resume, force=force)
    check_version(place)
    token = hashlib.sha256(f"{socket.gethostname()}:{folder.absolute()}".encode()).hexdigest()[:24]
    with _connected(place, _TAKE, token, place.program, verb, *words) as connection:
        for line in iter(lambda: connection.stdout.readline(_LINE_BYTES_MAX), b""):
            with suppress(ValueError, RecursionError):
                event = json.loads(line)
                if isinstance(event, dict) and event.get("event") != "result":
                    say(event)
        status = connection.close()
    if status not in (0, 1):
        raise _refusal(place, status, connection.errors)
    losses = bring(place, token, folder)
    for loss in losses[:_LOSSES_TOLD_MAX]:
        say({"event": "note", "text": f"not brought: {loss}"})
    if losses:
        say({"event": "note", "text": f"what was not brought is in ~/.cache/wavewright/captures/{token} there"})
    else:
        with _connected(place, _REMOVE, token):
            pass


def _check_folder(folder: Path, *, resume: bool, force: bool) -> None:
    if not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir())):
        return
    where = shown(str(folder))
    if not (folder / JOB).is_file():
        raise UsageError("this is not the folder of a capture", where=where, advice="choose another -o")
    refuse_links(folder, not_below=[RAW])
    if force:
        JobFolder(folder).remove()
    elif not resume:
        advice = "go on with --resume, replace it with --force, or choose another -o"
        raise UsageError("a capture is here already", where=where, advice=advice)


def _refusal(place: Place, status: int, errors: str) -> WavewrightError:
    """The error that the capture there ended with."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    place_of_error = max((number for number, line in enumerate(lines) if line.startswith("error: ")), default=None)
    if place_of_error is None:
        what = f"the connection was lost{_last(errors, ': ')}"
        advice = "what ran there is stopped and its data stay there; run it again with --resume to go on"
        return UnreachableError(what, where=place.name, advice=advice)
    advice = next((line.removeprefix("try: ") for line in lines[place_of_error + 1 :] if line.startswith("try: ")), "")
    error = WavewrightError(
        lines[place_of_error].removeprefix("error: ")[:1000], where=place.name, advice=advice[:1000]
    )
    error.exit_code = status if 0 < status < 126 else error.exit_code
    return error


def bring(place: Place, token: str, folder: Path) -> list[str]:
    """Bring the folder of a capture, as a stream of tar; what was refused, and why."""
    losses: list[str] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        room_bytes = min(BYTES_MAX, shutil.disk_usage(folder).free - SPARED_BYTES)
        with _connected(place, _PACK, token) as connection:
            try:
                with tarfile.open(fileobj=connection.stdout, mode="r|") as archive:
                    for count, entry in enumerate(archive, 1):
                        room_bytes -= entry.size
                        if room_bytes < 0 or count > FILES_MAX:
                            connection.process.kill()  # it would wait for somebody to read the rest of its output
                            what = f"the capture does not fit here: more than {FILES_MAX:,} files or the free space"
                            raise OutputError(what, where=shown(str(folder)), advice="make room, then --resume")
                        if problem := unpacked(archive, entry, folder):
                            losses.append(f"{shown(entry.name)[:300]} ({amount(entry.size)}): {problem}")
            except (tarfile.TarError, EOFError) as error:
                connection.process.kill()
                what = f"the data did not come whole ({error}){_last(connection.errors, ': ')}"
                raise UnreachableError(what, where=place.name, advice="bring them with --resume") from None
            if connection.close() != 0:
                what = f"the data did not come whole{_last(connection.errors, ': ')}"
                raise UnreachableError(what, where=place.name, advice="bring them with --resume")
    except OSError as error:
        raise OutputError(f"cannot write: {error.strerror}", where=shown(str(folder))) from error
    return losses


def unpacked(archive: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path) -> str:
    """Write one entry below the folder; why not, or nothing."""
    name = entry.name.removeprefix("./")
    if name in (".", LOCK):
        return ""
    if problem := refusal_of_name(name, name.split("/")):
        return problem
    path = folder / name
    if entry.issym() and name == RESULT and (match := _RESULT_TARGET.fullmatch(entry.linkname)):
        JobFolder(folder).link_result(int(match[1]))
    elif entry.isdir():
        make_below(folder, path)
    elif entry.isreg():
        make_below(folder, path.parent)
        content = archive.extractfile(entry)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, entry.mode & 0o755 | 0o600), "wb") as stream:
            if content is not None:
                shutil.copyfileobj(content, stream)
    else:
        return "a link" if entry.issym() or entry.islnk() else "neither a file nor a folder"
    return ""
