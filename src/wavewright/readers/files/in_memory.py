"""Inputs that are bytes in memory (`bytes`, `memoryview`, `mmap`, ...): a capture, or a file of any other kind."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from mmap import mmap
from pathlib import Path
from typing import TypeAlias

from wavewright.errors import NotATraceError, UsageError
from wavewright.readers.files.capture import (
    CODE_SUFFIXES,
    Capture,
    CodeObjectFile,
    capture_of_contents,
    named_code_object,
)

Memory: TypeAlias = "bytes | bytearray | memoryview | mmap"
_TYPES = (bytes, bytearray, memoryview, mmap)
_ELF = b"\x7fELF"
#: First bytes -> the end of a file name that goes with them; contents decide the kind, names only break ties.
_SUFFIXES = {b"SQLite": ".db", b"{": ".json", b"[": ".json", b"\x80": ".pkl", b"\n": ".pftrace"}


def is_in_memory(memory: object) -> bool:
    """True for bytes, a sequence of bytes, and a mapping of names to bytes."""
    if isinstance(memory, _TYPES):
        return True
    parts = memory.values() if isinstance(memory, Mapping) else memory if isinstance(memory, Sequence) else ()
    return bool(parts) and all(isinstance(part, _TYPES) for part in parts)


def capture_in_memory(
    memory: Memory | Sequence[Memory] | Mapping[str, Memory], code_objects: Sequence[str] = ()
) -> Capture:
    """The capture of buffers: one, one per shader engine in their order, or by the names that files would have.

    In a mapping, names that end like code objects, and contents that are ELF files, are code objects; a name may end in
    `@LOAD_ADDRESS:ID`, as in `code_objects`. Raises `NotATraceError` when a mapping has no trace.
    """
    if isinstance(memory, Mapping):
        files = {name: bytes(content) for name, content in memory.items()}
    else:
        buffers: Sequence[Memory] = [memory] if isinstance(memory, bytes | bytearray | memoryview | mmap) else memory
        files = {f"se{number}.att": bytes(content) for number, content in enumerate(buffers)}
    codes: list[tuple[CodeObjectFile, bytes]] = []
    traces: dict[Path, bytes] = {}
    for name, content in files.items():
        code_object = named_code_object(name)
        if content.startswith(_ELF) or code_object.path.name.endswith(CODE_SUFFIXES):
            codes.append((code_object, content))
        else:
            traces[Path("memory", name)] = content
    if not traces:
        raise NotATraceError("no trace among these buffers, only code objects", where="memory")
    return capture_of_contents(traces, codes, code_objects)


def stored(content: Memory) -> tuple[Path, tempfile.TemporaryDirectory[str]]:
    """A file with this content in a folder of its own, which is removed with the last reference to it.

    Raises `UsageError` when it cannot be written.
    """
    data = bytes(content)
    suffix = next((suffix for start, suffix in _SUFFIXES.items() if data.startswith(start)), ".csv")
    try:
        folder = tempfile.TemporaryDirectory(prefix="wavewright-")
        path = Path(folder.name, f"memory{suffix}")
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"bytes cannot be put into a file ({error.strerror})", advice="set TMPDIR") from error
    return path, folder
