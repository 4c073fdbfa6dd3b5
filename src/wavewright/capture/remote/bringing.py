"""What programs left on another machine, brought here: resumable, checked by hash, and nothing outside the folder.

The other end is not trusted: names that lead out, links, devices, files without an end, and content that does not have
the hash which was announced become losses. A file is complete when it has its name; before that it is a partial file in
a folder beside, at whose end the next call goes on, if what is there so far has the right hash.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from wavewright.base.files import is_inside, open_regular
from wavewright.base.shown import shown
from wavewright.base.words import amount
from wavewright.errors import OutputError, WavewrightError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wavewright.capture.remote.connection import Connection

FILES_MAX = 100_000
BYTES_MAX = 1 << 40  #: Of one folder, together.
SPARED_BYTES = 256 << 20  #: Free space that is left on this machine.
CHUNK_BYTES = 1 << 19
_WINDOW = 8  #: Chunks that are asked for ahead, so that a distant machine is not waited for at each.
_DEPTH_MAX = 32
_NAME_BYTES_MAX = 255
_PATH_BYTES_MAX = 3000
_ATTEMPTS = 2
_HASH_SECONDS = 3600.0
_LOSSES_LISTED_MAX = 200


class _WrongContentError(Exception):
    """What came is not what was announced; the words say how."""


@dataclass
class Brought:
    """What a call of `bring` did."""

    file_count: int = 0  #: Files that are here now.
    sent_bytes: int = 0  #: What travelled over the connection.
    losses: list[str] = field(default_factory=list)  #: What was refused or left there, and why.

    def lose(self, name: str, why: str) -> None:
        """Note something that is not here."""
        if len(self.losses) < _LOSSES_LISTED_MAX:
            self.losses.append(f"{shown(name)[:_PATH_BYTES_MAX]}: {why}")


def bring(
    connection: Connection,
    token: str,
    local: Path,
    *,
    bytes_max: int = BYTES_MAX,
    progress: Callable[[int, int], None] = lambda done_bytes, total_bytes: None,
) -> Brought:
    """Bring the data of a capture into `local`; small files come first.

    Raises
    ------
    UnreachableError
        When the connection is lost; the next call goes on where this one stopped.
    OutputError
        When the file system here refuses.
    """
    brought = Brought()
    try:
        local.mkdir(parents=True, exist_ok=True)
        files = _listed(connection, token, local, brought)
        budget = min(bytes_max, shutil.disk_usage(local).free - SPARED_BYTES)
        partials = local.parent / f".{local.name}.partial"
        partials.mkdir(mode=0o700, exist_ok=True)
        total = sum(size for _, size in files)
        done = 0
        for name, size in sorted(files, key=lambda each: (each[1], each[0])):
            start = done
            transfer = _Transfer(connection, token, name, size, local, partials)
            try:
                is_here = transfer.is_here()
                if not is_here and size > budget:
                    brought.lose(name, f"its {amount(size)} do not fit here; it stays there")
                    continue
                if not is_here:
                    transfer.fetch(lambda count, start=start: progress(start + count, total))  # type: ignore[misc]
                    budget -= size
            except _WrongContentError as error:
                brought.lose(name, str(error))
                continue
            finally:
                brought.sent_bytes += transfer.sent_bytes
                done += size
            brought.file_count += 1
            progress(done, total)
        with suppress(OSError):
            partials.rmdir()  # what is left of files that were lost stays
    except OSError as error:
        raise OutputError(f"cannot write: {error.strerror}", where=shown(str(local))) from error
    return brought


def _listed(connection: Connection, token: str, local: Path, brought: Brought) -> list[tuple[str, int]]:
    """Names and sizes of the files that may be brought; folders are made."""
    answer = connection.ask("files", token=token)
    entries = answer.get("files") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        raise WavewrightError("the list of files from there makes no sense", where=connection.place.name)
    if len(entries) > FILES_MAX or not answer.get("is_all"):
        brought.lose("", f"more than {FILES_MAX:,} files: the rest stays there")
    files: dict[str, int] = {}
    for entry in entries[:FILES_MAX]:
        name, kind, size = _entry(entry)
        if problem := name_problem(name):
            brought.lose(name, problem)
        elif kind == "folder":
            if _can_be_folder(local, name):
                (local / name).mkdir(parents=True, exist_ok=True)
            else:
                brought.lose(name, "here it is a file or leads out")
        elif kind != "file" or size < 0:
            brought.lose(name, "a link" if kind == "link" else "neither a file nor a folder")
        elif not _can_be_folder(local, os.path.dirname(name)):  # noqa: PTH120 - a name of the other machine
            brought.lose(name, "here its folder is a file or leads out")
        else:
            files[name] = size
    return list(files.items())


def _entry(entry: Any) -> tuple[str, str, int]:
    match entry:
        case [str(name), str(kind), int(size), *_]:
            with suppress(UnicodeError):  # an old Python there may have spelled letters as bytes
                name = name.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
            return name, kind, size
    return "", "other", -1


def name_problem(name: str) -> str:
    """Why a name from another machine is not used as a name of a file below a folder; empty = it is.

    Examples
    --------
    >>> name_problem("a/b.att"), name_problem("../a"), name_problem("/etc/passwd")
    ('', 'a name that leads out of the folder', 'a name that leads out of the folder')
    """
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "a name that leads out of the folder"
    try:
        sizes = [len(os.fsencode(part)) for part in parts]
    except UnicodeError:
        return "a name that cannot be written here"
    if "\0" in name or max(sizes) > _NAME_BYTES_MAX or sum(sizes) > _PATH_BYTES_MAX or len(parts) > _DEPTH_MAX:
        return "a name that is too long, too deep or holds a NUL"
    if not shown(name).isprintable():
        return "a name with control characters"
    return ""


def _can_be_folder(local: Path, name: str) -> bool:
    """Whether a folder below `local` is one, or can be made without leaving it."""
    place = local
    for part in name.split("/") if name else ():
        place = place / part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            return False
    return is_inside(place, local)


class _Transfer:
    """One file on its way."""

    def __init__(self, connection: Connection, token: str, name: str, size: int, local: Path, partials: Path) -> None:
        self._connection = connection
        self._token = token
        self._name = name
        self._size = size
        self._place = local / name
        self._partial = partials / hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
        self.sent_bytes = 0

    def is_here(self) -> bool:
        """Whether the same file is here already."""
        with suppress(OSError), open_regular(self._place) as stream:
            if os.fstat(stream.fileno()).st_size == self._size:
                return self._hash(self._size) == (_digest(stream).hexdigest(), self._size)
        return False

    def fetch(self, progress: Callable[[int], None]) -> None:
        """Bring it, from where an earlier attempt stopped."""
        for attempt in range(_ATTEMPTS):
            try:
                self._fetch(progress)
            except _WrongContentError:
                self._partial.unlink(missing_ok=True)
                if attempt == _ATTEMPTS - 1:
                    raise
            else:
                return

    def _fetch(self, progress: Callable[[int], None]) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(self._partial, flags, 0o600), "r+b") as stream:
            digest, offset = self._resumed(stream)
            stream.seek(offset)
            stream.truncate()
            self._receive(stream, digest, offset, progress)
            stream.flush()
            os.fsync(stream.fileno())
        # One byte more than was listed is asked for: a file that grows is noticed.
        if self._hash(self._size + 1) != (digest.hexdigest(), self._size):
            raise _WrongContentError("it changed on the way, or its hash is wrong; it stays there")
        self._partial.chmod(0o644)
        try:
            self._place.parent.mkdir(parents=True, exist_ok=True)
            self._partial.replace(self._place)
        except (FileExistsError, IsADirectoryError, NotADirectoryError):
            raise _WrongContentError("a file and a folder of one name; the file stays there") from None

    def _resumed(self, stream: BinaryIO) -> tuple[hashlib._Hash, int]:
        """Where to go on, with the hash so far."""
        offset = os.fstat(stream.fileno()).st_size
        if 0 < offset <= self._size:
            digest = _digest(stream)
            if self._hash(offset) == (digest.hexdigest(), offset):
                return digest, offset
        return hashlib.sha256(), 0

    def _receive(self, stream: BinaryIO, digest: hashlib._Hash, offset: int, progress: Callable[[int], None]) -> None:
        waiting: deque[tuple[int, int]] = deque()  #: Numbers of requests, and how much each asks for.
        asked = offset
        while offset < self._size:
            while asked < self._size and len(waiting) < _WINDOW:
                length = min(CHUNK_BYTES, self._size - asked)
                number = self._connection.send("chunk", token=self._token, name=self._name, offset=asked, length=length)
                waiting.append((number, length))
                asked += length
            number, length = waiting.popleft()
            try:
                _, chunk = self._connection.answer(number)
                if len(chunk) != length:
                    raise _WrongContentError("it became shorter on the way; it stays there")
            except (_WrongContentError, WavewrightError):
                for number, _ in waiting:
                    self._connection.drop(number)
                raise
            stream.write(chunk)
            digest.update(chunk)
            offset += length
            self.sent_bytes += length
            progress(offset)

    def _hash(self, length: int) -> tuple[str, int]:
        """SHA-256 of the first bytes there, and how many there are."""
        answer = self._connection.ask("hash", token=self._token, name=self._name, length=length, patience=_HASH_SECONDS)
        match answer:
            case {"sha256": str(digest), "bytes": int(count)}:
                return digest, count
        return "", -1


def _digest(stream: BinaryIO) -> hashlib._Hash:
    stream.seek(0)
    return hashlib.file_digest(stream, "sha256")  # type: ignore[arg-type]
