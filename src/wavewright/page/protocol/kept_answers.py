"""The first answers about a document, stored in the user's cache folder for the next time that it is shown.

The page shows them until the document itself is read. They are found again only as long as no file of the input or
around it, no option and no file of wavewright changed. They are used only if nobody but the user can have written them:
otherwise another user could show wrong answers about the data.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path

import msgspec

from wavewright.base import stopping
from wavewright.page.protocol.payload import ARROW, JSON, Payload, key_of

MOST_FILES = 50_000  #: Inputs with more files have no fingerprint: taking it would take as long as it saves.
#: Entries around the input that are part of it: readers take registers and names from files beside a trace.
MOST_AROUND = 2_000
MOST_BYTES = 32 << 20  #: Of all answers about one document.
MOST_IN_CACHE = 256 << 20  #: Bytes of all files; the least recently used are removed first.
_QUIET_SECONDS = 0.4  #: After so long without a request, the page has what it needs for now.
_ABANDONED_SECONDS = 3600  #: Age of a temporary file from which on its writer counts as killed.
#: A file is this line, the SHA-256 of what follows, the length of the index (8 bytes), the index as JSON (key, media
#: type and length of each answer), and the answers one after the other.
_MAGIC = b"wavewright answers 2\n"
_DIGEST_BYTES = 32
_MOST_INDEX_BYTES = 4 << 20
_MEDIA_TYPES = (ARROW, JSON)  #: A file with others was not written by `KeptAnswers`.
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def fingerprint(path: Path, options: str = "") -> str | None:
    """A hash that changes with everything that an answer about `path` could depend on; None = it cannot be taken.

    Of names, sizes and times of change of its files, of the files around it, and of wavewright's own files.
    """
    place = path.absolute()
    digest = hashlib.sha256(f"{place}\0{options}".encode(errors="surrogateescape"))
    try:
        own_files = list(islice(_below(place), MOST_FILES + 1))
        if len(own_files) > MOST_FILES:
            return None
        for stamp in chain(own_files, _around(place), _below(Path(__file__).parents[2])):
            digest.update(stamp)
    except OSError:
        return None
    return digest.hexdigest()


def _stamp(entry: os.DirEntry[str] | Path) -> bytes:
    facts = entry.stat()
    name = os.fsencode(entry.name)
    return name + struct.pack("<qqqq", facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)


def _below(place: Path) -> Iterator[bytes]:
    """The stamps of a file, or of a folder and everything in it."""
    yield _stamp(place)
    if not place.is_dir():
        return
    folders = [str(place)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in sorted(entries, key=lambda item: item.name):
                if entry.name == "__pycache__":
                    continue
                yield _stamp(entry)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)


def _around(place: Path) -> Iterator[bytes]:
    """The stamps of the entries beside the input, and of those in the folders beside it."""
    entries_left = MOST_AROUND
    folders = [place.parent]
    for folder in folders:
        with suppress(PermissionError), os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda item: item.name):
                if entry.path == str(place) or entry.name.endswith(".wavewright-notes.json"):
                    continue
                entries_left -= 1
                if entries_left < 0:
                    raise OSError("too many files around the input")
                with suppress(FileNotFoundError):
                    yield _stamp(entry)
                if folder == place.parent and entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))


class KeptAnswers:
    """The first answers about one document: those read from the cache, and the new ones to be stored there."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._earlier = _read(file)
        self._now: dict[str, Payload] = {}
        self._saved = set(self._earlier)
        self._size = 0
        self._last = time.monotonic()

    @property
    def is_known(self) -> bool:
        """True if the cache had answers."""
        return bool(self._earlier)

    def get(self, name: str, parameters: Mapping[str, str]) -> Payload | None:
        """The answer from the cache."""
        self._last = time.monotonic()
        return self._earlier.get(key_of(0, name, parameters))

    def put(self, name: str, parameters: Mapping[str, str], payload: Payload) -> None:
        """Add a new answer, unless there are `MOST_BYTES` of them already."""
        with self._lock:
            key = key_of(0, name, parameters)
            if key not in self._now and self._size + len(payload.content) <= MOST_BYTES:
                self._now[key] = payload
                self._size += len(payload.content)
                self._last = time.monotonic()

    def when_quiet(self, longest_seconds: float) -> None:
        """Wait until nobody has asked for 0.4 s, at most for `longest_seconds`."""
        end = time.monotonic() + longest_seconds
        while (now := time.monotonic()) < end and now - self._last < _QUIET_SECONDS:
            time.sleep(0.02)

    def differs(self) -> bool:
        """True if a new answer differs from the cached one; then the cached answers are dropped."""
        with self._lock:
            is_changed = any(self._earlier.get(key, payload) != payload for key, payload in self._now.items())
        if is_changed:
            self._earlier = {}
            self.file.unlink(missing_ok=True)
        return is_changed

    def save(self) -> None:
        """Store the new answers, completely or not at all, and remove the oldest files of a cache that is too large."""
        with self._lock:
            answers = dict(self._now)
        if answers.keys() <= self._saved:
            return
        self._saved |= answers.keys()
        with suppress(OSError):  # without stored answers, opening takes a little longer the next time
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_private(self.file.parent.stat(), stat.S_ISDIR):
                return  # `_stored` would refuse to read it
            content = _encoded(_fitting(answers, self._earlier), self.file.name)
            with stopping.unstopped():
                descriptor, name = tempfile.mkstemp(suffix=".part", dir=self.file.parent)
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(content)
                Path(name).replace(self.file)
            _prune(self.file.parent)


def _fitting(answers: Mapping[str, Payload], earlier: Mapping[str, Payload]) -> dict[str, Payload]:
    """The new answers, and as many of the earlier ones as there is room for."""
    fitting = dict(answers)
    size = sum(len(payload.content) for payload in answers.values())
    for key, payload in earlier.items():
        if key not in fitting and size + len(payload.content) <= MOST_BYTES:
            fitting[key] = payload
            size += len(payload.content)
    return fitting


def _encoded(answers: Mapping[str, Payload], name: str) -> bytes:
    index = [[key, payload.media_type, len(payload.content)] for key, payload in answers.items()]
    head = msgspec.json.encode(index)
    body = b"".join(payload.content for payload in answers.values())
    content = struct.pack("<Q", len(head)) + head + body
    return _MAGIC + _digest(content, name) + content


def _digest(content: bytes, name: str) -> bytes:
    """The hash of a file's content and name: a file that was renamed is about another input."""
    return hashlib.sha256(os.fsencode(name) + b"\0" + content).digest()


def _is_private(facts: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    """True if it is of the expected kind, and only the user can have written it."""
    return is_kind(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & _OTHERS_WRITE


def _stored(file: Path) -> bytes:
    """The content of a file; empty when it is too long, or others can have written it."""
    most = len(_MAGIC) + _DIGEST_BYTES + 8 + _MOST_INDEX_BYTES + MOST_BYTES
    with _opened(str(file.parent), os.O_DIRECTORY) as folder:
        if not _is_private(os.fstat(folder), stat.S_ISDIR):
            return b""
        # Relative to the folder that was checked, and not through a link, whose target may have another owner.
        with _opened(file.name, os.O_NOFOLLOW | os.O_NONBLOCK, folder) as entry:
            facts = os.fstat(entry)
            if not _is_private(facts, stat.S_ISREG) or facts.st_nlink != 1 or facts.st_size > most:
                return b""  # with a second link, it may be another file of the user that somebody linked here
            with os.fdopen(entry, "rb", closefd=False) as stream:
                content = stream.read(most + 1)
            os.utime(entry)  # so that `_prune` knows when it was last used
            return content if len(content) <= most else b""


@contextmanager
def _opened(path: str, flags: int, folder: int | None = None) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _read(file: Path) -> dict[str, Payload]:
    """The answers in a file; none when it does not exist, is damaged, or others can have written it."""
    start = len(_MAGIC) + _DIGEST_BYTES
    try:
        stored = _stored(file)
        content = stored[start:]
        if not stored.startswith(_MAGIC) or _digest(content, file.name) != stored[len(_MAGIC) : start]:
            return {}
        (length,) = struct.unpack_from("<Q", content)
        index = msgspec.json.decode(content[8 : 8 + length], type=list[tuple[str, str, int]])
    except (OSError, ValueError, struct.error, RecursionError):  # ValueError: also of msgspec, and a name with a NUL
        return {}
    sizes = [size for _, _, size in index]
    is_whole = min(sizes, default=0) >= 0 and sum(sizes) == len(content) - 8 - length <= MOST_BYTES
    if not is_whole or any(media_type not in _MEDIA_TYPES for _, media_type, _ in index):
        return {}
    answers, at = {}, 8 + length
    for key, media_type, size in index:
        answers[key] = Payload(content[at : at + size], media_type)
        at += size
    return answers if len(answers) == len(index) else {}


def _prune(folder: Path) -> None:
    """Remove the files that were not used for longest, and those that were left half written."""
    files = sorted(folder.glob("*.answers"), key=lambda file: file.stat().st_mtime, reverse=True)
    total = 0
    for file in files:
        total += file.stat().st_size
        if total > MOST_IN_CACHE:
            file.unlink(missing_ok=True)
    for part in folder.glob("*.part"):  # of a process that was killed while it wrote
        if time.time() - part.stat().st_mtime > _ABANDONED_SECONDS:
            part.unlink(missing_ok=True)
