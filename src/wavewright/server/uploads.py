"""Files that are dropped on the page: copied into a private folder of this server, and removed at its end.

The page lists the files (names and sizes), sends their bytes in pieces, one file after the other, and asks to open
them. All sizes are bounded, no name leads out of the folder, nothing is overwritten, and an upload that was given up
leaves no files.
"""

from __future__ import annotations

import os
import secrets
import shutil
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import msgspec

from wavewright.base.cache import cache_folder
from wavewright.base.scratch import make_scratch
from wavewright.errors import UsageError, WavewrightError
from wavewright.readers.files.archive import is_archive
from wavewright.readers.files.kinds import Kind, sniff

_GIB = 1 << 30
_LONGEST_NAME = 255  #: Bytes of one name, as file systems have it.
_LONGEST_PATH = 2_048  #: Bytes of a path in the upload.
_DEEPEST = 32  #: Parts of a path.
_ROOM_LEFT = 256 << 20  #: Bytes of the disk that stay free.
MOST_LISTED_BYTES = 64 << 20  #: Of the list of files.
PIECE_BYTES = 16 << 20  #: The most in one request of the page.
_BY_PATH = "open them by `wavewright open PATH`, which copies nothing"


@dataclass(frozen=True)
class Budget:
    """Limits of what may be dropped."""

    bytes: int = 4 * _GIB  #: At once.
    files: int = 200_000  #: At once.
    total_bytes: int = 8 * _GIB  #: Of all uploads of a server; the oldest are removed when there are more.
    at_once: int = 2  #: Unfinished uploads.
    idle_seconds: float = 60  #: An unfinished upload without new bytes for so long is given up.

    @property
    def words(self) -> str:
        """The limits, for messages."""
        return f"at most {_amount(self.bytes)} and {self.files:,} files at once"


class _File(msgspec.Struct, frozen=True):
    path: str
    bytes: Annotated[int, msgspec.Meta(ge=0)]


class _Listed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    files: list[_File]


@dataclass
class Upload:
    """The files that were dropped together, as far as they have arrived."""

    folder: Path
    sizes: dict[tuple[str, ...], int]  #: Parts of a path -> bytes of the file, in the order of the list.
    total: int  #: Bytes of all files.
    received: int = 0  #: Bytes that have arrived.
    last: float = field(default_factory=time.monotonic)  #: Time at which the last bytes came.
    lock: threading.Lock = field(default_factory=threading.Lock)
    is_given_up: bool = False
    is_finished: bool = False
    _next_files: Iterator[tuple[tuple[str, ...], int]] = field(init=False)  #: The rest of `sizes`.
    _folders: set[tuple[str, ...]] = field(default_factory=set)  #: Those that were made.
    _open: int = -1  #: The descriptor of the file that is being written; -1 = none is open.
    _missing: int = 0  #: Bytes of that file that have not arrived.

    def __post_init__(self) -> None:
        """Start with the first file."""
        self._next_files = iter(self.sizes.items())

    def write(self, piece: bytes) -> None:
        """Write the next bytes of the files, which arrive in the order of the list."""
        if len(piece) > self.total - self.received:
            raise UsageError("more bytes than were announced", advice="drop the files again: they have changed")
        at = 0
        while at < len(piece):
            if self._missing == 0 and not self._next():
                break
            part = memoryview(piece)[at : at + self._missing]
            byte_count = os.write(self._open, part)
            at += byte_count
            self._missing -= byte_count
            self.received += byte_count
        self.last = time.monotonic()
        if self.received == self.total:
            while self._missing == 0 and self._next():
                pass  # empty files at the end

    def _next(self) -> bool:
        """Open the next file that is not empty; the empty ones before it are made."""
        self.close()
        for parts, size in self._next_files:
            place = self.place.joinpath(*parts)
            self._make_folder(parts[:-1])
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._open = os.open(place, flags, 0o600)  # never an existing file: names may differ only in case
            self._missing = size
            if size:
                return True
            self.close()
        return False

    def _make_folder(self, parts: tuple[str, ...]) -> None:
        for depth in range(len(parts) + 1):
            if parts[:depth] not in self._folders:
                self.place.joinpath(*parts[:depth]).mkdir(mode=0o700, exist_ok=True)
                self._folders.add(parts[:depth])

    def close(self) -> None:
        """Close the current file."""
        if self._open >= 0:
            os.close(self._open)
            self._open = -1

    @property
    def place(self) -> Path:
        """The folder of the files; the page shows its name for them all."""
        return self.folder / "dropped files"

    @property
    def entries(self) -> list[Path]:
        """The files and folders that were dropped."""
        return [self.place / name for name in dict.fromkeys(parts[0] for parts in self.sizes)]


class Uploads:
    """The uploads to one server."""

    def __init__(
        self,
        budget: Budget | None = None,
        parent: Path | None = None,
        on_removal: Callable[[Path], None] = lambda _: None,
    ) -> None:
        self.budget = budget or Budget()
        self._parent = parent
        self._on_removal = on_removal  #: Called with the folder of an opened upload that is removed.
        self._folder: Path | None = None
        self._remove: Callable[[], None] = lambda: None
        self._uploads: dict[str, Upload] = {}  # the oldest first
        self._lock = threading.Lock()

    def start(self, content: bytes) -> str:
        """Start an upload of the files that the page lists; returns its name.

        Raises `UsageError` when they are too many or too large, or a name is not one; `WavewrightError` when there is
        no room for them.
        """
        sizes = self._checked(content)
        total = sum(sizes.values())
        with self._lock:
            self._sweep()
            unfinished_count = sum(not upload.is_finished for upload in self._uploads.values())
            if unfinished_count >= self.budget.at_once:
                problem = f"{unfinished_count} other uploads are on their way"
                raise WavewrightError(problem, advice="wait for them, or cancel them")
            self._make_room(total)
            name = secrets.token_hex(16)
            folder = self._place() / name
            folder.mkdir(mode=0o700)
            self._uploads[name] = Upload(folder, sizes, total)
        self._watch()
        return name

    def upload(self, name: str) -> Upload:
        """An upload that was not given up. Raises `UsageError` when there is none of that name."""
        with self._lock:
            upload = self._uploads.get(name)
        if upload is None or upload.is_given_up:
            raise UsageError("this upload was given up", advice="drop the files again")
        return upload

    def write(self, name: str, at: int, piece: bytes) -> int:
        """Write the bytes at position `at` of an upload; returns the number of bytes that have arrived."""
        upload = self.upload(name)
        with upload.lock:
            if upload.is_given_up or upload.is_finished or at != upload.received:
                raise UsageError("these bytes do not follow those that have come", advice="drop the files again")
            try:
                upload.write(piece)
            except OSError as error:
                self._give_up(upload)
                problem = f"the files cannot be stored: {error.strerror or error}"
                raise WavewrightError(problem, advice=_BY_PATH) from error
        return upload.received

    def finish(self, name: str) -> list[Path]:
        """End an upload; returns the paths to open. Raises `UsageError` when bytes are missing."""
        upload = self.upload(name)
        with upload.lock:
            if upload.received != upload.total:
                self._give_up(upload)
                missing_bytes = upload.total - upload.received
                raise UsageError(f"{missing_bytes:,} bytes are missing", advice="drop the files again")
            upload.write(b"")
            upload.close()
            upload.is_finished = True
        return _openable(upload)

    def give_up(self, name: str) -> None:
        """Remove an upload and its files."""
        with self._lock:
            upload = self._uploads.pop(name, None)
        if upload:
            with upload.lock:
                self._give_up(upload)

    def end(self) -> None:
        """Remove everything."""
        with self._lock:
            self._uploads.clear()
            self._remove()
            self._folder, self._remove = None, lambda: None

    def _give_up(self, upload: Upload) -> None:
        upload.is_given_up = True
        upload.close()
        shutil.rmtree(upload.folder, ignore_errors=True)

    def _watch(self) -> None:
        """Sweep again later, as long as there are unfinished uploads: a closed page does not cancel its own."""

        def look() -> None:
            with self._lock:
                self._sweep()
                is_waiting = any(not upload.is_finished for upload in self._uploads.values())
            if is_waiting:
                self._watch()

        timer = threading.Timer(self.budget.idle_seconds, look)
        timer.daemon = True
        timer.start()

    def _sweep(self) -> None:
        """Give up uploads that get no more bytes, and remove those that were given up."""
        now = time.monotonic()
        for name, upload in list(self._uploads.items()):
            is_idle = not upload.is_finished and now - upload.last > self.budget.idle_seconds
            if is_idle and not upload.is_given_up:
                with upload.lock:
                    self._give_up(upload)
            if upload.is_given_up:
                del self._uploads[name]

    def _make_room(self, total: int) -> None:
        """Remove the oldest opened uploads until there is room."""
        finished_names = [name for name, upload in self._uploads.items() if upload.is_finished]
        while finished_names and self._stored() + total > self.budget.total_bytes:
            upload = self._uploads.pop(finished_names.pop(0))
            self._on_removal(upload.folder)
            self._give_up(upload)
        free = shutil.disk_usage(self._place()).free - _ROOM_LEFT
        if total > free or self._stored() + total > self.budget.total_bytes:
            problem = f"there is no room for {_amount(total)} of dropped files"
            raise WavewrightError(problem, where=str(self._place().parent), advice=_BY_PATH)

    def _stored(self) -> int:
        return sum(upload.total for upload in self._uploads.values())

    def _place(self) -> Path:
        """The private folder of this server, made on first use, when those of killed servers are removed."""
        if self._folder is None:
            parent = self._parent
            if parent is None and (cache := cache_folder()) is not None:
                parent = cache / "dropped"
            try:
                if parent is not None:
                    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._folder, self._remove = make_scratch(parent)
            except OSError as error:
                problem = f"dropped files cannot be stored: {error.strerror or error}"
                raise WavewrightError(problem, where=str(parent or ""), advice="set WAVEWRIGHT_CACHE=FOLDER") from error
        return self._folder

    def _checked(self, content: bytes) -> dict[tuple[str, ...], int]:
        """The files that the page lists: the parts of their paths, which lead nowhere else, and their sizes."""
        if len(content) > MOST_LISTED_BYTES:
            raise UsageError("the list of files is too long", advice=self.budget.words)
        try:
            files = msgspec.json.decode(content, type=_Listed).files
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise UsageError(f"not a list of files: {error}") from error
        total = sum(file.bytes for file in files)
        advice = f"{self.budget.words}; or {_BY_PATH}"
        if len(files) > self.budget.files:
            raise UsageError(f"{len(files):,} files", advice=advice)
        if total > self.budget.bytes:
            raise UsageError(_amount(total), advice=advice)
        if not files:
            raise UsageError("there is no file", advice="drop a capture folder, a file of it, or an archive")
        sizes: dict[tuple[str, ...], int] = {}
        for file in files:
            parts = parts_of(file.path)
            if parts in sizes:
                raise UsageError(f"two files are called {'/'.join(parts)[:80]!r}")
            sizes[parts] = file.bytes
        folders = {parts[:depth] for parts in sizes for depth in range(1, len(parts))}
        if clash := next((parts for parts in sizes if parts in folders), None):
            raise UsageError(f"{'/'.join(clash)[:80]!r} is a file and a folder")
        return sizes


def parts_of(path: str) -> tuple[str, ...]:
    """The names in the path of a dropped file; control characters become underscores.

    Raises `UsageError` when it leads out of the folder, or is too long.

    >>> parts_of("capture/./se0.att"), parts_of("a\\n/b")
    (('capture', 'se0.att'), ('a_', 'b'))
    """
    path_text = repr(path[:80])
    if path.startswith("/") or "\\" in path or "\0" in path:
        raise UsageError(f"{path_text} is not the name of a dropped file")
    parts = tuple(_clean(part) for part in path.split("/") if part not in ("", "."))
    if not parts or ".." in parts:
        raise UsageError(f"{path_text} is not the name of a dropped file")
    if len(parts) > _DEEPEST or sum(len(os.fsencode(part)) + 1 for part in parts) > _LONGEST_PATH:
        raise UsageError(f"the path {path_text} is too long", advice="drop the folder that holds the capture itself")
    if any(len(os.fsencode(part)) > _LONGEST_NAME for part in parts):
        raise UsageError(f"a name in {path_text} is too long")
    return parts


def _clean(part: str) -> str:
    return "".join("_" if unicodedata.category(letter)[0] == "C" else letter for letter in part)


#: Kinds of files that are captures by themselves; CSV and .att files belong to those beside them.
_ALONE = (Kind.ROCPD, Kind.RPD, Kind.ROCPROF_DATABASE, Kind.COMPUTE_DATABASE, Kind.CHROME, Kind.XPLANE, Kind.PACKAGE)


def _openable(upload: Upload) -> list[Path]:
    """The paths to open: each entry if it is a capture by itself, else the folder of all as one capture."""
    entries = upload.entries
    is_alone = len(entries) == 1 or all(map(_is_alone, entries))
    return entries if is_alone else [upload.place]


def _is_alone(path: Path) -> bool:
    with suppress(OSError, WavewrightError):
        return path.is_dir() or is_archive(path) or sniff(path) in _ALONE
    return False


def _amount(count: int) -> str:
    return f"{count / _GIB:,.1f} GiB" if count >= _GIB // 10 else f"{count:,} bytes"
