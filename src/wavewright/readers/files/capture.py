"""Files of a raw capture: trace buffers and code objects, found by name and place."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from wavewright.base.bounds import integer_of
from wavewright.base.compression import PACKED_SUFFIXES, PackedError, packing_of, unpacked_stream
from wavewright.base.files import listed, not_read_here, open_regular
from wavewright.errors import NotATraceError, UsageError
from wavewright.model.losses import Loss
from wavewright.readers.files.archive import MAX_BYTES, RAW_SUFFIXES, is_archive, is_raw_name
from wavewright.readers.files.inventory import Inventory
from wavewright.readers.files.text import most_unpacked
from wavewright.readers.files.tinygrad_profile import TinygradProgram, is_tinygrad_profile, profile_files

MAX_FILES = 100_000  #: Files looked at in a folder before giving up; a capture has a few hundred.
#: How the names of code objects and their listings end.
CODE_SUFFIXES = (".out", ".hsaco", ".co", ".elf", ".isa.tsv")

# <prefix>_<agent>_shader_engine_<SE>_<dispatch>.att is what rocprofv3 writes: the prefix is the process id, or what -o
# names; then the folder is the process id in captures of ours (-o %pid%/att). k<dispatch>_se<SE>, se<SE> and <SE> are
# what other tools write.
_TRACE_NAMES = (
    re.compile(r"(?:(?P<prefix>.+)_)?(?P<agent>\d+)_shader_engine_(?P<se>\d+)(?:_(?P<dispatch>\d+))?"),
    re.compile(r"(?:k(?P<dispatch>\d+)_)?se(?P<se>\d+)"),
    re.compile(r"(?P<se>\d+)"),
)
_CODE_OBJECT = re.compile(r"(?P<file>.+?)(?:@(?P<load>0[xX][0-9a-fA-F]+|\d+))?(?::(?P<id>\d+))?")
_CODE_OBJECT_PREFIX = re.compile(r"(\d+|.*?)_.*code_object_id_")
_PACKED_END = re.compile(rf"(\.att(?:{'|'.join(map(re.escape, PACKED_SUFFIXES))})?|\.[^.]*)$")
_CODE_USAGE = "write FILE[@LOAD_ADDRESS][:ID]"
_MAGIC_BYTES = 8  #: More than any packed format needs to be told.
_HEAD = 1 << 16  #: A pickle of tinygrad has that name in its first so many bytes.
_TRAILING_NUMBER = re.compile(r"(\d+)$")
_U64 = 1 << 64  #: The first number beyond 64 bits; stands for all of them.


@dataclass(frozen=True)
class StoredFile:
    """A file of a capture, on disk or, where `data` is not None, only in memory: then `path` is what to call it."""

    path: Path
    data: bytes | None = field(default=None, repr=False, compare=False, kw_only=True)

    @property
    def byte_count(self) -> int:
        """Its size; 0 where it cannot be asked for."""
        if self.data is not None:
            return len(self.data)
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def read(self, byte_count: int = -1) -> bytes:
        """Its first bytes, or all. Raises `OSError` when it cannot be read, or is not a regular file."""
        if self.data is not None:
            return self.data if byte_count < 0 else self.data[:byte_count]
        with open_regular(self.path) as stream:
            return stream.read(byte_count)


@dataclass(frozen=True)
class TraceFile(StoredFile):
    """One raw buffer: the trace of one shader engine in one dispatch window; None = not in the name."""

    pid: int | None = None
    agent: int | None = None
    dispatch: int | None = None
    se: int | None = None

    @classmethod
    def named(cls, path: Path, data: bytes | None = None) -> TraceFile:
        """Parse the file name."""
        for pattern in _TRACE_NAMES:
            if match := pattern.fullmatch(_PACKED_END.sub("", path.name)):
                named = match.groupdict()
                pid = _process_of(path, named.pop("prefix", None) or "")
                return cls(path, pid, **{key: integer_of(number) for key, number in named.items()}, data=data)
        return cls(path, data=data)


@dataclass(frozen=True)
class CodeObjectFile(StoredFile):
    """A code object or listing, its id in the trace, where it was loaded, and its process (None = not known)."""

    id: int
    load_address: int | None = None
    pid: int | None = None
    #: The listing of the same name, where files are in memory only.
    listing: bytes | None = field(default=None, repr=False, compare=False, kw_only=True)


@dataclass(frozen=True)
class Window:
    """The buffers of one dispatch window, which share nothing with other windows but the code."""

    pid: int | None
    agent: int | None
    dispatch: int | None
    files: tuple[TraceFile, ...]

    @property
    def byte_count(self) -> int:
        """Bytes of all its files."""
        return sum(file.byte_count for file in self.files)


@dataclass(frozen=True)
class Capture:
    """Everything that belongs to one raw capture."""

    windows: tuple[Window, ...]
    code_objects: tuple[CodeObjectFile, ...]
    #: Names that look like parts of it and are not read, with the reason: links that lead out, pipes.
    refused: Mapping[str, str] = field(default_factory=dict)
    losses: tuple[Loss, ...] = ()  #: What was lost before: entries of archives, ends of packed files.

    def only(self, *, shader_engines: Iterable[int] | None = None) -> Capture:
        """The capture with some shader engines only; None = all. Raises `UsageError` when nothing is left."""
        if shader_engines is None:
            return self
        engines = set(shader_engines)
        parts = ((window, tuple(file for file in window.files if file.se in engines)) for window in self.windows)
        windows = tuple(replace(window, files=files) for window, files in parts if files)
        if not windows:
            raise UsageError("no trace of that shader engine", advice=f"there are: {self.describe()}")
        return replace(self, windows=windows)

    def code_of(self, window: Window) -> tuple[CodeObjectFile, ...]:
        """The code objects of the window's process: ids mean nothing to another process.

        Of several with the same id, that of the folder of the traces: processes of other captures may have had the
        same number.
        """
        folders = {file.path.parent for file in window.files}
        files_by_key: dict[tuple[int | None, int, int | None], CodeObjectFile] = {}
        for code_object in sorted(self.code_objects, key=lambda c: c.path.parent not in folders):
            if None in (code_object.pid, window.pid) or code_object.pid == window.pid:
                files_by_key.setdefault((code_object.pid, code_object.id, code_object.load_address), code_object)
        return tuple(c for c in self.code_objects if files_by_key.get((c.pid, c.id, c.load_address)) is c)

    def describe(self) -> str:
        """The dispatches and shader engines in one line."""
        return "; ".join(
            f"dispatch {'?' if w.dispatch is None else w.dispatch} (SE {', '.join(str(f.se) for f in w.files)})"
            for w in self.windows
        )


def parse_code_object(text: str) -> CodeObjectFile:
    """Read `FILE[@LOAD_ADDRESS][:ID]`; without ID the last number of the file name is the id, else 0.

    Raises `UsageError` when the file does not exist or a number does not fit 64 bits.
    """
    path = Path(text)
    code_object = CodeObjectFile(path, _id_in_name(path)) if path.is_file() else named_code_object(text)
    if not code_object.path.is_file():
        raise UsageError("no such code object", where=text, advice=_CODE_USAGE)
    return code_object


def named_code_object(text: str) -> CodeObjectFile:
    """The code object of a name like `FILE[@LOAD_ADDRESS][:ID]`, whether there is such a file or not.

    Raises `UsageError` when a number does not fit 64 bits.

    >>> named_code_object("x_code_object_id_3.out@0x1000").load_address
    4096
    """
    match = _CODE_OBJECT.fullmatch(text)
    path, load, number = (Path(match["file"]), match["load"], match["id"]) if match else (Path(text), None, None)
    is_hexadecimal = load is not None and load[:2].lower() == "0x"
    load_address = None if load is None else int(load, 16) if is_hexadecimal else _u64(load)
    code_object_id = _id_in_name(path) if number is None else _u64(number)
    if max(load_address or 0, code_object_id) >= _U64:
        raise UsageError("a number does not fit 64 bits", where=text, advice=_CODE_USAGE)
    return CodeObjectFile(path, code_object_id, load_address)


def _u64(digits: str) -> int:
    """The number that digits spell; `_U64` for all that do not fit 64 bits."""
    number = integer_of(digits, below=_U64)
    return _U64 if number is None else number


def find_capture(
    paths: Sequence[str | Path], code_objects: Sequence[str] = (), inventory: Inventory | None = None
) -> Capture:
    """The capture that `paths` name: folders and archives are searched, single `.att` files are taken as they are.

    Code objects that stand beside the traces are found by themselves; `code_objects` (`FILE[@LOAD_ADDRESS][:ID]`) come
    first and replace those with the same id. Raises `UsageError` when a path does not exist; `NotATraceError` when
    there is no `.att` file.
    """
    traces: list[Path] = []
    code_files: list[Path] = []
    refusals: dict[str, str] = {}
    contents: dict[Path, bytes] = {}  # of files that are not on disk
    losses: list[Loss] = []
    programs: list[CodeObjectFile] = []
    listings = inventory or Inventory()
    for path in map(Path, paths):
        if not path.exists():
            raise UsageError("no such file or folder", where=str(path))
        if path.is_dir():
            files = _readable(_walk(path, listings), path, refusals)
            traces += sorted(file for file in files if is_raw_name(file.name))
            code_files += [file for file in files if not is_raw_name(file.name)]
        elif is_archive(path):
            archive = listings.archive(path)
            losses += archive.losses
            raw, code = (archive.files_named(suffixes) for suffixes in (RAW_SUFFIXES, CODE_SUFFIXES))
            traces += sorted(raw)
            code_files += code
            contents |= raw | code
        elif profile := _of_tinygrad(path):
            buffers, of_tinygrad = profile
            contents |= buffers
            traces += list(buffers)
            programs += [CodeObjectFile(code.path, 0, code.load_address, data=code.elf) for code in of_tinygrad]
        else:
            traces.append(path)
            folder = path.absolute().parent
            names = (name for name in listings.names(folder) if name.endswith(CODE_SUFFIXES))
            code_files += _readable((folder / name for name in names), folder, refusals)
    if not traces:
        raise NotATraceError(
            "no .att file here" + (f" that can be read ({listed(refusals)})" if refusals else ""),
            where=", ".join(map(str, paths)),
            advice="a raw capture is what `rocprofv3 --att` writes: *_shader_engine_*.att and *_code_object_id_*.out",
        )
    parsed_objects = [parse_code_object(text) for text in code_objects]
    windows = _windows(_trace_files(traces, contents, losses))
    nearby = code_objects_among(code_files, {c.id for c in parsed_objects}, contents)
    return Capture(windows, (*parsed_objects, *programs, *nearby), refusals, tuple(losses))


def capture_of_contents(
    traces: Mapping[Path, bytes], programs: Sequence[tuple[CodeObjectFile, bytes]], code_objects: Sequence[str] = ()
) -> Capture:
    """The capture of buffers and code objects that are in memory, by the names that files of them would have."""
    losses: list[Loss] = []
    windows = _windows(_trace_files(list(traces), dict(traces), losses))
    codes = [replace(code, data=content) for code, content in programs]
    return Capture(windows, (*map(parse_code_object, code_objects), *codes), losses=tuple(losses))


def _trace_files(traces: Sequence[Path], contents: dict[Path, bytes], losses: list[Loss]) -> list[TraceFile]:
    """The trace files, with what is in packed ones in memory."""
    for path in traces:
        if packing_of(contents.get(path, b"")) or path.suffix in PACKED_SUFFIXES:
            contents[path] = _unpacked(path, contents.get(path), losses)
    return [TraceFile.named(path, contents.get(path)) for path in dict.fromkeys(traces)]


def _of_tinygrad(path: Path) -> tuple[dict[Path, bytes], list[TinygradProgram]] | None:
    """The buffers and code objects of a capture of tinygrad; None = the file is none."""
    with open_regular(path) as stream:
        head = stream.read(_HEAD)
        return profile_files(path, head + stream.read()) if is_tinygrad_profile(path.name, head) else None


def _unpacked(path: Path, content: bytes | None, losses: list[Loss]) -> bytes:
    """A packed trace, up to where it is damaged or too long."""
    plain_bytes = bytearray()
    problem = ""
    try:
        with open_regular(path) if content is None else io.BytesIO(content) as stream:
            packing = packing_of(stream.read(_MAGIC_BYTES))
            stream.seek(0)
            if not packing:
                return stream.read()
            limit = most_unpacked(path.stat().st_size if content is None else len(content), MAX_BYTES)
            for piece in unpacked_stream(stream, packing):
                plain_bytes += piece
                if len(plain_bytes) > limit:
                    problem = f"unpacks to more than {limit >> 20:,} MiB"
                    break
    except (PackedError, OSError) as error:
        problem = str(error)
    if problem:
        detail = f"{path.name}: {problem}; {len(plain_bytes):,} bytes were read"
        losses.append(Loss("unreadable_trace", detail=detail, se=TraceFile.named(path).se))
    return bytes(plain_bytes)


def _readable(files: Iterable[Path], root: Path, refusals: dict[str, str]) -> list[Path]:
    """The files that may be read; others are added to `refusals` with the reason."""
    readable = []
    for file in files:
        reason = not_read_here(file, root)
        if reason:
            refusals[str(file.relative_to(root))] = reason
        elif file.is_file():
            readable.append(file)
    return readable


def _walk(folder: Path, listings: Inventory) -> Iterable[Path]:
    """Paths below a folder that are named like a trace or a code object; folders that are links are not entered."""
    entry_count = 0
    for root, folders, names in listings.walk(folder):
        for name in names:
            entry_count += 1
            if entry_count > MAX_FILES:
                problem = f"more than {MAX_FILES:,} files"
                raise UsageError(problem, where=str(folder), advice="name the folder of the capture itself")
            if name.endswith((*RAW_SUFFIXES, *CODE_SUFFIXES)):
                yield root / name
        # A link to a folder inside leads to what is found anyway; one that leads out, or to nothing, is told.
        entries = (root / name for name in (*folders, *names) if "." not in name)
        yield from (place for place in entries if place.is_symlink())


def _windows(traces: Sequence[TraceFile]) -> tuple[Window, ...]:
    """The windows of trace files, in the order of process, agent and dispatch; unknown numbers come last."""
    groups: dict[tuple[int | None, int | None, int | None], list[TraceFile]] = {}
    for file in traces:
        groups.setdefault((file.pid, file.agent, file.dispatch), []).append(file)
    in_order = sorted(groups.items(), key=lambda item: [(number is None, number or 0) for number in item[0]])
    return tuple(Window(*key, files=_numbered(part)) for key, files in in_order for part in _captures(files))


def _captures(files: list[TraceFile]) -> list[list[TraceFile]]:
    """Files of one dispatch; apart by folder if a shader engine comes twice: then they are of several captures."""
    engines = [file.se for file in files if file.se is not None]
    if len(engines) == len(set(engines)):
        return [files]
    folders: dict[Path, list[TraceFile]] = {}
    for file in files:
        folders.setdefault(file.path.parent, []).append(file)
    return list(folders.values())


def _numbered(files: list[TraceFile]) -> tuple[TraceFile, ...]:
    """Give every file of a window its own shader engine number, keeping those that the names tell."""
    numbers_in_names = {file.se for file in files if file.se is not None}
    free_numbers = (number for number in count() if number not in numbers_in_names)
    by_number: dict[int, TraceFile] = {}
    for file in files:
        se = next(free_numbers) if file.se is None or file.se in by_number else file.se
        by_number[se] = replace(file, se=se)
    return tuple(by_number[se] for se in sorted(by_number))


def code_objects_among(
    files: Iterable[Path], given_ids: set[int], in_memory: Mapping[Path, bytes] | None = None
) -> tuple[CodeObjectFile, ...]:
    """One code object per folder, process and id; an ELF is preferred to a listing: it also has kernels and lines.

    `in_memory` has the contents of files that are not on disk.
    """
    contents = in_memory or {}
    by_key: dict[tuple[int, int, Path], CodeObjectFile] = {}
    for path in sorted(dict.fromkeys(files), key=lambda file: (file.name.endswith(".isa.tsv"), file.name)):
        match, number = _CODE_OBJECT_PREFIX.match(path.name), _id_in_name(path)
        pid = _process_of(path, match[1] if match else "")
        listing = contents.get(path.with_name(f"{path.stem}.isa.tsv"))
        code_object = CodeObjectFile(path, number, pid=pid, data=contents.get(path), listing=listing)
        if number not in given_ids:
            by_key.setdefault((-1 if pid is None else pid, number, path.parent), code_object)
    return tuple(by_key[key] for key in sorted(by_key))


def _process_of(path: Path, prefix: str) -> int | None:
    """The process that a file is of, from the prefix of its name, else from its folder; None = not known."""
    number = integer_of(prefix)
    return integer_of(path.parent.name) if prefix and number is None else number


def _id_in_name(path: Path) -> int:
    """The last number of the name of a code object; 0 = it has none."""
    stem = path.name.removesuffix(".isa.tsv") if path.name.endswith(".isa.tsv") else path.stem
    match = _TRAILING_NUMBER.search(stem)
    return _u64(match[1]) if match else 0
