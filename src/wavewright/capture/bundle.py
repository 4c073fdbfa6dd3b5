"""What somebody with a GPU sends to somebody who can help: commands, logs, versions, verdicts; no source, no secrets.

Only files that are named here get into it, each masked (`masking.py`); of data, names, sizes and hashes. Thread traces
and counters themselves come along only when they are asked for, and then never snapshots of source.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import stat
import tarfile
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.base.files import open_regular
from wavewright.base.shown import shown
from wavewright.base.words import counted
from wavewright.capture.masking import Mask
from wavewright.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

TOP = "wavewright-report"  #: The folder in the archive.
FORMAT_VERSION = 1
#: Files of job folders that get in, wherever they are below the folder: masked as JSON, lines of JSON, or text.
_JSON = ("job.json", "machine.json", "command.json", "judgement.json", "files.json", "result.json", "pool.json")
_LINES = ("manifest.jsonl",)
_LOGS = ("stderr.txt",)
_OUTPUTS = ("stdout.txt",)
_RECORD = ".remote.json"  #: Ends the names of what `remote.runner` notes.
_RAW = "raw"
#: Names of files of data that get in with traces; source snapshots and everything else stay.
_DATA_ENDINGS = (".att", ".out", ".csv", ".isa.tsv", ".pftrace", ".db")
_SOURCE_PARTS = ("source", "snapshots")
_LOG_BYTES_MAX = 4 << 20  #: Of a log, half from its start and half from its end.
_JSON_BYTES_MAX = 64 << 20
_FILES_MAX = 20_000
_DATA_BYTES_MAX = 4 << 30


@dataclass(frozen=True)
class BundleFile:
    """One file of a bundle."""

    name: str  #: In the archive, without the top folder.
    size_bytes: int
    what: str  #: What it is, in words.


@dataclass(frozen=True)
class Bundle:
    """A bundle that was written."""

    path: Path
    files: tuple[BundleFile, ...]
    masked_count: int  #: Places at which something was replaced.
    left_out: tuple[str, ...]  #: What did not get in, and why.
    size_bytes: int


def make_bundle(
    folder: Path,
    output: Path,
    *,
    checks: Sequence[Mapping[str, Any]] | None = None,
    variables: Mapping[str, str] | None = None,
    hosts: Iterable[str] = (),
    with_output: bool = False,
    with_traces: bool = False,
    force: bool = False,
) -> Bundle:
    """Write a bundle about the captures below a folder.

    Parameters
    ----------
    folder
        A capture, or a pool of them.
    output
        The archive, a .tar.gz.
    checks
        What doctor says of the machine, as plain values; None = nothing.
    variables
        The environment, for names of the user and home folder.
    hosts
        Names of machines that are replaced.
    with_output
        Whether what the program printed on its standard output gets in, too.
    with_traces
        Whether raw data get in, too.

    Raises
    ------
    UsageError
        When the folder is not a capture, or the output exists.
    OutputError
        When it cannot be written.
    """
    where = shown(str(folder))
    if not folder.is_dir():
        raise UsageError("there is no such folder", where=where, advice="give the folder of a capture or of a pool")
    if output.exists() and not force:
        raise UsageError("the output exists", where=shown(str(output)), advice="--force, or another name with -o")
    contents = _Contents(
        folder, _mask(folder, variables or {}, hosts), with_output=with_output, with_traces=with_traces
    )
    members = contents.members(checks)
    if not any(path.name in _JSON + _LINES for path, _ in contents.paths):
        advice = "wavewright capture att -o FOLDER -- PROGRAM makes one"
        raise UsageError("this is not the folder of a capture", where=where, advice=advice)
    _write(output, members, contents)
    return Bundle(
        path=output,
        files=tuple(BundleFile(name, size, what) for name, size, what, _ in members),
        masked_count=contents.mask.count,
        left_out=tuple(contents.left_out),
        size_bytes=output.stat().st_size,
    )


def _mask(folder: Path, variables: Mapping[str, str], hosts: Iterable[str]) -> Mask:
    """With the names of this user and machine, and those of the folder's path."""
    homes = [variables.get("HOME", ""), str(Path.home())]
    users = [variables.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER", "USERNAME")]
    with suppress(KeyError, OSError, ImportError):
        import pwd

        users.append(pwd.getpwuid(os.getuid()).pw_name)
    mask = Mask(homes, users, [os.uname().nodename, variables.get("HOSTNAME", ""), *hosts])
    mask.learn(str(folder.absolute()))
    return mask


class _Contents:
    """What gets in."""

    def __init__(self, folder: Path, mask: Mask, *, with_output: bool, with_traces: bool) -> None:
        self._folder = folder
        self.mask = mask
        self._logs = _LOGS + (_OUTPUTS if with_output else ())
        self._with_traces = with_traces
        self.left_out: list[str] = []
        self.paths = list(self._walk())

    def members(self, checks: Sequence[Mapping[str, Any]] | None) -> list[tuple[str, int, str, bytes | Path]]:
        """Name, size, description and content of every file, masked; data as paths."""
        self._learn()
        members: list[tuple[str, int, str, bytes | Path]] = []
        for path, name in self.paths:
            content, what = self._masked(path)
            if content is not None:
                members.append((self._name(name), len(content), what, content))
        if checks is not None:
            content = _dumped([self.mask.value(dict(check)) for check in checks])
            members.append(("doctor.json", len(content), "what `wavewright doctor` says of the machine", content))
        listing, data = self._data()
        members.append(("files.tsv", len(listing), "names, sizes and hashes of all files", listing))
        members += [(self._name(name), size, "raw data, not masked", path) for path, name, size in data]
        readme = _README.encode()
        return [("README.txt", len(readme), "what this is", readme), *members]

    def _walk(self) -> Iterator[tuple[Path, str]]:
        """Regular files below the folder with their names; links are not followed."""
        count = 0
        for place, folders, names in os.walk(self._folder):
            folders.sort()
            for name in sorted(names):
                path = Path(place, name)
                try:
                    is_file = stat.S_ISREG(path.lstat().st_mode)
                except OSError:
                    is_file = False
                if not is_file:
                    continue
                count += 1
                if count > _FILES_MAX:
                    self.left_out.append(f"more than {_FILES_MAX:,} files: the rest is not listed")
                    return
                yield path, str(path.relative_to(self._folder))

    def _learn(self) -> None:
        """Names of users and hosts first: they are then replaced in every file."""
        for path, _ in self.paths:
            if path.name.endswith(_RECORD):
                with suppress(OSError, ValueError, AttributeError, TypeError):
                    self.mask.add_host(str(json.loads(_read(path, _JSON_BYTES_MAX)).get("place", "")).split(" on ")[-1])
            if path.name in (*_JSON, *_LINES, *self._logs):
                with suppress(OSError):
                    self.mask.learn(_cut(path).decode("utf-8", "replace"))

    def _masked(self, path: Path) -> tuple[bytes | None, str]:
        """The content that gets in, and what it is; None = it stays."""
        if _RAW in path.relative_to(self._folder).parts[:-1]:
            return None, ""
        try:
            if path.name in _JSON or path.name.endswith(_RECORD):
                return _dumped(self.mask.value(json.loads(_read(path, _JSON_BYTES_MAX)))), _WHAT.get(path.name, "notes")
            if path.name in _LINES:
                return self._lines(path), _WHAT[path.name]
            if path.name.endswith(self._logs):
                text = _cut(path).decode("utf-8", "replace")
                return self.mask.text(_plain(text)).encode("utf-8", "replace"), _WHAT[self._kind_of_log(path)]
        except (OSError, ValueError, RecursionError) as error:
            self.left_out.append(f"{self._name(path.name)}: cannot be read ({type(error).__name__})")
        return None, ""

    def _kind_of_log(self, path: Path) -> str:
        return next(name for name in (*_LOGS, *_OUTPUTS) if path.name.endswith(name))

    def _lines(self, path: Path) -> bytes:
        """Lines of JSON; one that is torn is left out."""
        lines = []
        for line in _read(path, _JSON_BYTES_MAX).splitlines():
            try:
                lines.append(json.dumps(self.mask.value(json.loads(line))))
            except (ValueError, RecursionError):
                lines.append('{"event": "a line that could not be read"}')
        return ("\n".join(lines) + "\n").encode()

    def _data(self) -> tuple[bytes, list[tuple[Path, str, int]]]:
        """The list of all files, and those of data that get in."""
        rows = ["name\tsize_bytes\tsha256"]
        data: list[tuple[Path, str, int]] = []
        rest = _DATA_BYTES_MAX
        other_count = 0
        for path, name in self.paths:
            if not self._is_listed(path):
                other_count += 1
                continue
            try:
                digest, size = _digest(path)
            except OSError:
                self.left_out.append(f"{self._name(name)}: cannot be read")
                continue
            rows.append(f"{self._name(name)}\t{size}\t{digest}")
            if not self._with_traces or _RAW not in Path(name).parts[:-1]:
                continue
            is_source = any(part.startswith(_SOURCE_PARTS) for part in Path(name).parts)
            if is_source or not name.endswith(_DATA_ENDINGS):
                self.left_out.append(f"{self._name(name)}: neither a trace nor counters")
            elif size > rest:
                self.left_out.append(
                    f"{self._name(name)}: the bundle would become larger than {_DATA_BYTES_MAX:,} bytes"
                )
            else:
                rest -= size
                data.append((path, name, size))
        if other_count:
            self.left_out.append(f"{counted(other_count, 'files')} that no capture writes: neither names nor hashes")
        return ("\n".join(rows) + "\n").encode(), data

    def _is_listed(self, path: Path) -> bool:
        """Whether a capture writes such a file."""
        names = (*_JSON, *_LINES, *_LOGS, *_OUTPUTS, _RECORD)
        return _RAW in path.relative_to(self._folder).parts[:-1] or path.name.endswith(names)

    def _name(self, name: str) -> str:
        return self.mask.text(_plain(shown(name)).replace("\t", " "))


_WHAT = {
    "job.json": "what was wanted",
    "machine.json": "GPUs, driver, ROCm and versions",
    "manifest.jsonl": "what happened, event by event",
    "command.json": "the command and its variables",
    "judgement.json": "the verdict and its reasons",
    "files.json": "hashes of the data",
    "result.json": "the result",
    "pool.json": "the jobs of a pool",
    "stderr.txt": "log of the profiler, and errors that the program printed",
    "stdout.txt": "what the program printed",
}

_README = """A report about captures, made by `wavewright capture report`.

It holds commands, logs, versions, verdicts, and the names, sizes and hashes of data. It holds no source; lines of
source in tracebacks and messages of compilers are replaced. Values of variables are only in it where their names begin
like those of ROCm, HIP and frameworks. The names of the user, home folder and host, addresses, and what has the form of
a key or token are replaced by ~, USER, HOST, ADDRESS and [masked].

Names of kernels and files, and arguments of the program are in it as they are. Nothing can recognise every secret:
please look through it before you send it.
"""


def _read(path: Path, most: int) -> bytes:
    with open_regular(path) as stream:
        return stream.read(most)


def _cut(path: Path) -> bytes:
    """A log; of a long one the start and the end, cut at ends of lines: half a secret would not be recognised."""
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size <= _LOG_BYTES_MAX:
            return stream.read(_LOG_BYTES_MAX)
        start = stream.read(_LOG_BYTES_MAX // 2)
        stream.seek(-_LOG_BYTES_MAX // 2, os.SEEK_END)
        end = stream.read(_LOG_BYTES_MAX // 2)
    start, end = start[: start.rfind(b"\n") + 1], end[end.find(b"\n") + 1 :]
    return start + b"[%d bytes are left out here]\n" % (size - len(start) - len(end)) + end


def _plain(text: str) -> str:
    """Without what commands a terminal: such bytes inside of a secret would hide it."""
    import re

    text = re.sub(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])", "", text.replace("\r\n", "\n"))
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "" for letter in text)


def _digest(path: Path) -> tuple[str, int]:
    with open_regular(path) as stream:
        digest = hashlib.file_digest(stream, "sha256")  # type: ignore[arg-type]
        return digest.hexdigest(), stream.tell()


def _dumped(value: Any) -> bytes:
    return (json.dumps(value, indent=1) + "\n").encode()


def _write(output: Path, members: Iterable[tuple[str, int, str, bytes | Path]], contents: _Contents) -> None:
    """The archive, complete or not at all; it says nothing about who made it and when."""
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name[:100]}-")
    except OSError as error:
        raise OutputError(f"cannot write: {error.strerror}", where=shown(str(output))) from None
    try:
        with (
            os.fdopen(handle, "wb") as raw,
            gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for name, size, _, content in members:
                entry = tarfile.TarInfo(f"{TOP}/{name}")
                entry.size = size
                if isinstance(content, bytes):
                    archive.addfile(entry, io.BytesIO(content))
                else:
                    with open_regular(content) as stream:
                        if os.fstat(stream.fileno()).st_size < size:
                            contents.left_out.append(f"{name}: it became shorter")
                            continue
                        archive.addfile(entry, stream)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(output)
    except OSError as error:
        raise OutputError(f"cannot write: {error.strerror}", where=shown(str(output))) from None
    finally:
        Path(temporary).unlink(missing_ok=True)


def bundle_values(bundle: Bundle) -> dict[str, Any]:
    """A bundle as plain values, for JSON."""
    return {**asdict(bundle), "path": str(bundle.path), "format_version": FORMAT_VERSION}
