"""The raw buffers of a dispatch window: checked by their first bytes, read when they are decoded, as many as fit."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from wavewright import _core
from wavewright.base.cache import cache_folder
from wavewright.errors import NotATraceError, UnsupportedError, WavewrightError
from wavewright.model.losses import Loss
from wavewright.readers.files.capture import TraceFile
from wavewright.readers.files.kinds import Generation, generation_of

LARGE_BYTES = 256 << 20  #: Tables of more raw bytes than this lie in files of the cache folder instead of in memory.
#: Bytes of raw buffers that are decoded at once where a capture need not be in memory whole.
GROUP_BYTES = LARGE_BYTES
_HEADER_BYTES = 8
_WRITTEN_TO = "something writes to the file: ask again when it is done"


@dataclass(frozen=True)
class Buffers:
    """The trace files of a window, and how to decode them."""

    files: tuple[TraceFile, ...]
    amd: bool = False  #: Whether AMD's decoder is followed, defects included.
    threads: int = 0

    @property
    def byte_count(self) -> int:
        """Bytes of all files."""
        return sum(file.byte_count for file in self.files)

    def heads(self) -> list[bytes]:
        """The header of every file; empty where it cannot be read."""
        return [_read(file, _HEADER_BYTES) for file in self.files]

    def check(self) -> list[Loss]:
        """Losses for files that are not traces. Raises `NotATraceError, UnsupportedError` when none of them is one."""
        losses: list[Loss] = []
        problems: list[WavewrightError] = []
        for file in self.files:
            problem = _problem(file)
            if problem is not None:
                problems.append(problem)
                losses.append(Loss("unreadable_trace", detail=f"{file.path.name}: {problem.what}", se=file.se))
            elif not file.byte_count:
                losses.append(Loss("unreadable_trace", detail=f"{file.path.name}: empty file", se=file.se))
        if problems and len(problems) == len(self.files):
            raise problems[0]
        return losses

    def decode(self, program: _core.Program) -> list[_core.Records]:
        """Decode all files at once, with the rows of their instructions and states."""
        return self._decoded(self.files, program)

    def count(self, program: _core.Program, *, first_bytes: int = -1) -> list[_core.Records]:
        """Decode all files, a few at a time, and only count instructions and states; of each its first bytes or all."""
        records: list[_core.Records] = []
        for group in self._groups():
            records += self._decoded(group, program, rows=False, first_bytes=first_bytes)
        return records

    def each(self, program: _core.Program, counts: Sequence[tuple[int, int]]) -> Iterator[_core.Records]:
        """Decode file after file with rows; `counts` has the numbers of waves and instructions of each.

        Raises `WavewrightError` when a file is no longer what it was when it was counted.
        """
        first_wave = number = 0
        for group in self._groups():
            records = self._decoded(group, program, first_wave=first_wave)
            for file in group:
                record = records.pop(0)
                waves, instructions = counts[number]
                if record.instruction_count != instructions:
                    problem = f"{record.instruction_count:,} instructions where there were {instructions:,} before"
                    raise WavewrightError(problem, where=str(file.path), advice=_WRITTEN_TO)
                yield record
                del record
                number, first_wave = number + 1, first_wave + waves

    def _groups(self) -> list[list[TraceFile]]:
        """Neighbouring files of at most `GROUP_BYTES` together; a larger one is alone."""
        groups: list[list[TraceFile]] = []
        room = 0
        for file in self.files:
            size = file.byte_count
            if not groups or size > room:
                groups.append([])
                room = GROUP_BYTES
            groups[-1].append(file)
            room -= size
        return groups

    def _decoded(
        self,
        files: Sequence[TraceFile],
        program: _core.Program,
        *,
        rows: bool = True,
        first_wave: int = 0,
        first_bytes: int = -1,
    ) -> list[_core.Records]:
        is_large = sum(file.byte_count for file in files) > LARGE_BYTES
        if rows and is_large:
            use_files()
        is_mapped = is_large and first_bytes < 0
        contents = [
            _mapped(file) if is_mapped and file.data is None and file.byte_count else _read(file, first_bytes)
            for file in files
        ]
        buffers = [item.bytes() if isinstance(item, _core.MappedFile) else item for item in contents]
        records = _core.decode(
            buffers, program, corrected=not self.amd, threads=self.threads, rows=rows, first_wave=first_wave
        )
        for file, content in zip(files, contents, strict=True):
            if isinstance(content, _core.MappedFile) and not content.is_whole:
                problem = "the file became shorter while it was read"
                raise WavewrightError(problem, where=str(file.path), advice=_WRITTEN_TO)
        return records


def _mapped(file: TraceFile) -> _core.MappedFile | bytes:
    """A file in place: reading those of a large capture would take as much memory again."""
    try:
        return _core.MappedFile(str(file.path))
    except RuntimeError:
        return _read(file)


def _read(file: TraceFile, byte_count: int = -1) -> bytes:
    try:
        return file.read(byte_count)
    except OSError:
        return b""  # `check` reports it


def _problem(file: TraceFile) -> WavewrightError | None:
    """Error that keeps a file from being decoded, if any. An empty file is a trace without records."""
    where = str(file.path)
    try:
        data = file.read(_HEADER_BYTES + 1)
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        return NotATraceError(problem, where=where)
    head = data[:_HEADER_BYTES]
    generation = generation_of(head)
    if not data or generation not in (Generation.NONE, Generation.NEWER):
        if generation is Generation.GFX9 and len(data) == _HEADER_BYTES:
            problem = "a gfx9 header without payload"
            return NotATraceError(problem, where=where, advice="the trace buffer was empty: capture again")
        return None
    if len(data) < _HEADER_BYTES:
        problem = f"{len(data)} bytes are too short for a thread trace (8 at least)"
        return NotATraceError(problem, where=where, advice="check that the file was copied whole")
    if generation is Generation.NEWER:
        problem = f"a thread trace of an unknown generation (header {head.hex()} at offset 0)"
        return UnsupportedError(problem, where=where, advice="a newer wavewright may know it")
    problem = f"not a thread trace (header {head.hex()} at offset 0)"
    return NotATraceError(problem, where=where, advice="raw traces are the .att files that rocprofv3 --att writes")


# --- memory of large traces in files of the cache folder: without names, bounded, and gone with the process ---
_MOST_BYTES = 64 << 30  #: Of all files together, and half of what is free on the disk.
_MOST_RESIDENT_BYTES = 512 << 20  #: Of pages of them that stay in memory.
_GUARD = threading.Lock()
_is_used = False


def use_files() -> None:
    """From now on the core makes large blocks in files; where that cannot be, they stay in memory."""
    global _is_used
    folder = cache_folder()
    with _GUARD, suppress(OSError, RuntimeError):
        if folder is None or _is_used:
            return
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _core.keep_blocks_in(str(folder), min(_MOST_BYTES, shutil.disk_usage(folder).free // 2))
        threading.Thread(
            target=_core.bound_pages, args=(_MOST_RESIDENT_BYTES,), name="large memory", daemon=True
        ).start()
        _is_used = True
