"""Folders inside tar and zip archives, unpacked into memory only, with a limit on everything that can grow."""

from __future__ import annotations

import io
import lzma
import os
import re
import stat
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, TypeVar

from wavewright.base.compression import (
    PACKED_SUFFIXES,
    PackedError,
    opened_unpacked,
    packing_of,
    unpacked_stream,
    zstd_library,
)
from wavewright.base.files import open_regular
from wavewright.errors import MissingToolError, NotATraceError, UsageError, WavewrightError
from wavewright.model.losses import Loss
from wavewright.readers.files.text import most_unpacked

_Ignore = Callable[[str, str], None]
T = TypeVar("T")
MAX_BYTES = 4 << 30  #: Unpacked bytes of one archive.
MAX_MEMBERS = 200_000
MAX_DEPTH = 16
RAW_SUFFIXES = (".att", *(f".att{suffix}" for suffix in PACKED_SUFFIXES))  #: Ends of names of raw traces.
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ZIP_ZSTD = 93  # PKWARE's APPNOTE, 4.4.5
_DECODED_NAME = re.compile(r"(?:^|/)(?:filenames|code|occupancy|se\d+_sm\d+_sl\d+_wv\d+)\.json$")
_TAR_NAMES = (*(f".tar{suffix}" for suffix in PACKED_SUFFIXES), ".tar", ".tgz", ".txz", ".tbz2", ".tzst")
_TAR_BLOCK = 512
_RECORD = 20 * _TAR_BLOCK  #: tar pads its output to multiples of this.
#: What the standard library raises on damaged, encrypted or foreign archives, besides its own exceptions.
_BROKEN = (EOFError, OSError, zlib.error, lzma.LZMAError, ValueError, RuntimeError)


class _TooLargeError(Exception):
    """The archive unpacks to more than it may."""


@dataclass(frozen=True)
class ArchiveFolder:
    """One folder of an archive, as the readers of decoded directories want it."""

    label: str
    name: str
    files: dict[str, bytes] = field(repr=False)

    def names(self) -> Collection[str]:
        """Names of the files in the folder itself."""
        return self.files.keys()

    def read(self, name: str) -> bytes:
        """Content of a file. Raises `FileNotFoundError` when there is no such file."""
        if name not in self.files:
            raise FileNotFoundError(f"no file {name!r}")
        return self.files[name]

    def path_of(self, name: str) -> Path | None:
        """None: nothing of an archive lies on disk."""
        return None

    def refused(self) -> dict[str, str]:
        """Nothing: what is not taken out of an archive is a loss of the archive."""
        return {}


@dataclass
class Archive:
    """All files of an archive, by folder; what was not taken, and why, is in `losses`."""

    path: Path
    folders: dict[str, ArchiveFolder] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    file_count: int = 0
    _ignored: dict[str, list[str]] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Archive:
        """Unpack an archive into memory. A damaged one gives what came before the damage, and a loss.

        Raises `NotATraceError` when nothing could be unpacked; `UsageError` when it unpacks to more than `MAX_BYTES`,
        or to suspiciously much.
        """
        archive = cls(Path(path))
        problem = ""
        try:
            for name, data in _members(archive.path, archive._ignore):
                archive._add(name, data)
        except _TooLargeError as error:
            advice = "if you trust it, unpack it yourself and open the folder"
            raise UsageError(str(error), where=str(path), advice=advice) from error
        except _BROKEN as error:
            text = str(error) or type(error).__name__
            problem = text[0].lower() + text[1:].rstrip(".")
        if problem and not archive.file_count:
            message = f"the archive cannot be unpacked: {problem}"
            raise NotATraceError(message, where=str(path), advice="check that it was copied whole")
        if problem:
            archive.losses.append(Loss("broken_archive", archive.file_count, detail=problem))
        for reason, names in archive._ignored.items():
            archive.losses.append(Loss("archive_entries", len(names), detail=f"{reason}, e.g. {names[0]!r:.80}"))
        return archive

    def files_named(self, suffixes: tuple[str, ...]) -> dict[Path, bytes]:
        """Files whose names end like this, under the paths that they would have if the archive were a folder."""
        return {
            self.path / folder / name: data
            for folder, content in self.folders.items()
            for name, data in content.files.items()
            if name.endswith(suffixes)
        }

    def _add(self, name: str, data: bytes) -> None:
        parts = [part for part in name.split("/") if part not in ("", ".")]
        reason = refusal_of_name(name, parts)
        if reason:
            self._ignore(reason, name)
            return
        if parts[0] == "__MACOSX" or parts[-1].startswith("._"):
            return  # what macOS adds to every archive
        folder, file = "/".join(parts[:-1]), parts[-1]
        if folder not in self.folders:
            ending = next((suffix for suffix in (*_TAR_NAMES, ".zip") if self.path.name.endswith(suffix)), "")
            own_name = parts[-2] if folder else self.path.name.removesuffix(ending)
            label = f"{self.path}!{folder}" if folder else str(self.path)
            self.folders[folder] = ArchiveFolder(label, own_name, {})
        files = self.folders[folder].files
        if file in files:
            self._ignore("stored twice; the last one counts", name)
        files[file] = data
        self.file_count += 1

    def _ignore(self, reason: str, name: str) -> None:
        self._ignored.setdefault(reason, []).append(name)


def is_archive(path: Path) -> bool:
    """True if a file is a tar (plain or compressed) or zip archive, by its first bytes."""
    with open_regular(path) as stream:
        head = stream.read(_TAR_BLOCK)
    if head.startswith(_ZIP) or _is_tar_block(head):
        return True
    packing = packing_of(head)
    if not packing:
        return False
    with open_regular(path) as stream:
        unpacked = next(_pieces_before_damage(stream, packing), b"")
    return _is_tar_block(unpacked[:_TAR_BLOCK]) or (not unpacked and path.name.endswith(_TAR_NAMES))


def traces_in(path: Path) -> Literal["raw", "decoded", ""]:
    """The form of the first thread trace in an archive; readers of archives with both forms look at all names."""
    try:
        with open_regular(path) as stream:
            head = stream.read(_TAR_BLOCK)
            stream.seek(0)
            if head.startswith(_ZIP):
                with zipfile.ZipFile(stream) as archive:
                    return _form_in(sorted(archive.namelist(), key=is_raw_name, reverse=True))
            limit = most_unpacked(path.stat().st_size, MAX_BYTES)
            with tarfile.open(fileobj=_Bounded(opened_unpacked(stream), limit), mode="r|") as tar:
                return _form_in(member.name for member in islice(tar, MAX_MEMBERS))
    except (*_BROKEN, _TooLargeError, tarfile.TarError, zipfile.BadZipFile, WavewrightError):
        return ""


def _form_in(names: Iterable[str]) -> Literal["raw", "decoded", ""]:
    """The form of the first trace among these names; empty = there is none."""
    trace = next((name for name in names if is_raw_name(name) or _DECODED_NAME.search(name)), "")
    return "raw" if is_raw_name(trace) else "decoded" if trace else ""


def is_raw_name(name: str) -> bool:
    """True if a file of this name is a raw trace, packed or not.

    >>> is_raw_name("a/se0.att"), is_raw_name("se0.att.zst"), is_raw_name("code.json")
    (True, True, False)
    """
    return name.endswith(RAW_SUFFIXES)


def _pieces_before_damage(stream: BinaryIO, packing: str) -> Iterator[bytes]:
    """Pieces of a packed file up to where it is damaged."""
    try:
        yield from unpacked_stream(stream, packing)
    except (PackedError, MissingToolError, OSError):
        return


def _is_tar_block(block: bytes) -> bool:
    """True if 512 bytes are the header of a tar member: bytes 148 to 155 are their sum, with spaces there."""
    if len(block) < _TAR_BLOCK or not block.strip(b"\0"):
        return False
    try:
        checksum = int(block[148:156].strip(b" \0") or b"x", 8)
    except ValueError:
        return False
    return sum(block[:148]) + 8 * 0x20 + sum(block[156:]) == checksum


def _members(path: Path, ignore: _Ignore) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file in an archive; `ignore` is called with the reason and name of other entries."""
    limit = most_unpacked(path.stat().st_size, MAX_BYTES)
    with open_regular(path) as stream:
        head = stream.read(_TAR_BLOCK)
        stream.seek(0)
        if head.startswith(_ZIP):
            yield from _zip_members(stream, limit, ignore)
        else:
            yield from _tar_members(_Bounded(opened_unpacked(stream), limit), ignore)


class _Bounded(io.RawIOBase):
    """A stream that raises when more than `limit` bytes were read."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        super().__init__()
        self._stream, self._limit, self._room = stream, limit, limit
        self.tail = b""  # The bytes read last.

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(self._room + 1 if size < 0 else min(size, self._room + 1))
        self._room -= len(data)
        if self._room < 0:
            raise _TooLargeError(_too_large(self._limit))
        self.tail = (self.tail + data)[-2 * _RECORD :]
        return data


def _too_large(limit: int) -> str:
    return f"the archive unpacks to more than {limit / (1 << 20):,.0f} MiB"


def _tar_members(stream: _Bounded, ignore: _Ignore) -> Iterator[tuple[str, bytes]]:
    # A stream ("r|") cannot be sent back to where it was: no loop over the same bytes.
    try:
        with tarfile.open(fileobj=stream, mode="r|", errorlevel=0) as tar:
            for member in _bounded_entries(tar):
                if member.isdir():
                    continue
                if not member.isreg() or member.issparse():
                    ignore("links, devices and sparse files are not followed", member.name)
                    continue
                file = tar.extractfile(member)
                data = file.read() if file else b""
                if len(data) != member.size:
                    raise EOFError(f"{member.name!r:.80} ends early")
                yield member.name, data
    except tarfile.TarError as error:
        raise EOFError(str(error)) from error
    if bytes(_TAR_BLOCK) not in stream.tail:
        raise EOFError("it ends without the mark of its end")
    while stream.read(_RECORD):
        pass  # read to the end: the checksum of a packed file, which shows damage, comes last


def _zip_members(stream: IO[bytes], limit: int, ignore: _Ignore) -> Iterator[tuple[str, bytes]]:
    module, errors = _zip_module(stream)
    try:
        with module.ZipFile(stream) as archive:
            unpacked_bytes = 0
            for info in _bounded_entries(archive.infolist()):
                if info.is_dir():
                    continue
                mode = info.external_attr >> 16
                if mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
                    ignore("links, devices and sparse files are not followed", info.filename)
                    continue
                unpacked_bytes += info.file_size  # no more than this is read, whatever the data say
                if unpacked_bytes > limit:
                    raise _TooLargeError(_too_large(limit))
                yield info.filename, archive.read(info)
    except errors as error:
        raise EOFError(str(error)) from error


def _zip_module(stream: IO[bytes]) -> tuple[Any, tuple[type[Exception], ...]]:
    """The module that reads a zip archive, and the errors it raises on damage besides `_BROKEN`.

    For Zstandard, which Python's own module reads from 3.14 on, it is that of the library.
    """
    try:
        with zipfile.ZipFile(stream) as archive:
            has_zstd = any(info.compress_type == _ZIP_ZSTD for info in archive.infolist())
    except zipfile.BadZipFile:
        has_zstd = False
    stream.seek(0)
    if not has_zstd:
        return zipfile, (zipfile.BadZipFile,)
    error_type = zstd_library().ZstdError  # without a library, this says what is missing
    if sys.version_info >= (3, 14):
        return zipfile, (zipfile.BadZipFile, error_type)
    from backports.zstd import zipfile as zipfile_with_zstd

    return zipfile_with_zstd, (zipfile_with_zstd.BadZipFile, error_type)


def _bounded_entries(entries: Iterable[T]) -> Iterator[T]:
    """The entries of an archive; an archive of more than `MAX_MEMBERS` is too large."""
    for number, entry in enumerate(entries):
        if number >= MAX_MEMBERS:
            raise _TooLargeError(f"the archive has more than {MAX_MEMBERS:,} entries")
        yield entry


def refusal_of_name(name: str, parts: list[str]) -> str:
    """Reason for not using the name of an entry as the name of a file below a folder; empty = it is used."""
    if not parts or not name.isprintable():
        return "names with unprintable characters are not taken"
    if name.startswith("/") or ".." in parts or "\\" in name or parts[0].endswith(":"):
        return "names that lead out of the archive are not taken"
    return "folders nested too deeply are not taken" if len(parts) > MAX_DEPTH else ""
