"""Captures of tinygrad (`*.pkl` of `VIZ=2` and its examples): thread traces and code objects in one pickle.

`ProfileProgramEvent` holds a code object and where it was loaded, `ProfileSQTTEvent` the buffer of one shader engine of
one execution. Every execution of a program is a dispatch, numbered in their order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from wavewright.errors import NotATraceError
from wavewright.readers.files.pickles import PickledObject, PickleReader

_START = b"\x80"  #: The first byte of a pickle of protocol 2 or newer.
_SUFFIXES = (".pkl", ".pickle", ".profile")
#: Packages whose classes occur in such a pickle; anything else is refused.
_MODULES = ("tinygrad", "decimal", "enum", "functools", "collections", "_codecs")
_MOST_ENGINES = 1 << 10


class TinygradProgram(NamedTuple):
    """A code object of a capture, by the name that a file of it would have."""

    path: Path
    load_address: int | None  #: None = not recorded.
    elf: bytes


def is_tinygrad_profile(name: str, head: bytes) -> bool:
    """True if a file, by its name and its first bytes, is a capture of tinygrad.

    >>> is_tinygrad_profile("profile.pkl", b"\\x80\\x05\\x95...tinygrad.helpers...")
    True
    """
    return name.endswith(_SUFFIXES) and head.startswith(_START) and b"tinygrad" in head


def profile_files(path: Path, data: bytes) -> tuple[dict[Path, bytes], list[TinygradProgram]]:
    """The buffers of a capture by the names that files of them would have, and its code objects.

    Raises `NotATraceError` when it is no such profile, or holds no thread trace. Nothing of the file is ever run.
    """
    events = PickleReader(str(path), lambda module: module.partition(".")[0] in _MODULES).read(data)
    objects = [event for event in events if isinstance(event, PickledObject)] if isinstance(events, list) else []
    traces: dict[Path, bytes] = {}
    programs: list[TinygradProgram] = []
    dispatches: dict[tuple[Any, Any], int] = {}
    for event in objects:
        fields = event.state
        blob, code = _bytes(fields.get("blob")), _bytes(fields.get("lib"))
        if event.name == "ProfileSQTTEvent" and blob is not None:
            key = (_number(fields.get("kern")), _number(fields.get("exec_tag")))
            dispatch = dispatches.setdefault(key, len(dispatches) + 1)
            engine = _number(fields.get("se"))
            if engine is not None and engine < _MOST_ENGINES:
                traces[path / f"k{dispatch}_se{engine}.att"] = blob
        if event.name == "ProfileProgramEvent" and code is not None:
            programs.append(TinygradProgram(path / f"program_{len(programs)}.co", _number(fields.get("base")), code))
    if not traces:
        problem = "a capture of tinygrad without thread traces" if objects else "not a capture of tinygrad"
        raise NotATraceError(problem, where=str(path), advice="record with VIZ=2 (older: SQTT=1), which traces kernels")
    return traces, programs


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 1 << 64 else None


def _bytes(value: Any) -> bytes | None:
    """Bytes; before protocol 3 they are text of the same characters."""
    if isinstance(value, PickledObject) and (value.module, value.name) == ("_codecs", "encode"):
        text = value.values[0][0] if value.values and isinstance(value.values[0], tuple) and value.values[0] else None
        value = text.encode("latin-1", "replace") if isinstance(text, str) else None
    return value if isinstance(value, bytes) else None
