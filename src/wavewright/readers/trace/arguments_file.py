"""`arguments.json` beside a capture: the bytes of the arguments of dispatches, as whoever launched them wrote them.

`docs/reference/lanes.md` documents it. A dispatch in it is what a kerncap folder holds of one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from wavewright.codeobj.kernel_arguments import DispatchSize
from wavewright.codeobj.metadata import MAX_SEGMENT_BYTES
from wavewright.errors import NotATraceError, UsageError
from wavewright.readers.trace.kerncap import KerncapDispatch, decoded_file

NAME = "arguments.json"
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")
_Count = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF_FFFF)]
_Sizes = tuple[_Count, _Count, _Count]


class ArgumentsEntry(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The arguments of one launch."""

    kernel: str
    segment: Annotated[str, msgspec.Meta(max_length=2 * MAX_SEGMENT_BYTES)]
    workgroup: _Sizes
    grid: _Sizes
    dispatch: _Count | None = None
    launch: _Count | None = None  #: Among those of its kernel in its process, from 1.
    target: str = ""
    lds_bytes: _Count | None = None


class ArgumentsDocument(msgspec.Struct):
    """The file."""

    format: Literal["wavewright.arguments"]
    version: Literal[1]
    dispatches: Annotated[list[ArgumentsEntry], msgspec.Meta(max_length=100_000)]


def arguments_beside(trace: str) -> Path | None:
    """The file beside a capture: in its folder, or in the one above it where that holds the decoded folder."""
    folder = Path(trace)
    folder = folder if folder.is_dir() else folder.parent
    places = [folder, *([folder.parent] if folder.name.startswith("ui_output") else [])]
    return next((place / NAME for place in places if (place / NAME).is_file()), None)


def read_arguments(path: Path, kernels: list[str], dispatch: int | None) -> KerncapDispatch | None:
    """The dispatch of one of these kernels (names as in the symbol table); None = it has none of them.

    `dispatch` chooses by number where the file has numbers. Raises `NotATraceError` when the file is damaged, or of
    another format or version; `UsageError` when several dispatches fit and differ.
    """
    document = decoded_file(path.parent, path.name, ArgumentsDocument)
    candidates = [entry for entry in document.dispatches if entry.kernel.removesuffix(".kd") in kernels]
    candidates = [entry for entry in candidates if dispatch is None or entry.dispatch in (None, dispatch)]
    candidates = [entry for entry in candidates if entry.dispatch is not None] or candidates
    dispatches = list(dict.fromkeys(_dispatch(entry, str(path)) for entry in candidates))
    if len(dispatches) > 1:
        difference = (
            f"{len(dispatches):,} dispatches of the traced kernel differ, and none has the number of the traced one"
        )
        raise UsageError(difference, where=str(path), advice='give each its "dispatch", or leave one of them')
    return dispatches[0] if dispatches else None


def _dispatch(entry: ArgumentsEntry, path: str) -> KerncapDispatch:
    if not _HEX.fullmatch(entry.segment):
        advice = "two hexadecimal digits for each byte"
        raise NotATraceError(f"the segment of {entry.kernel} is not hexadecimal", where=path, advice=advice)
    size = DispatchSize(entry.workgroup, entry.grid)
    try:
        size.check()
    except UsageError as error:
        raise NotATraceError(error.what, where=path, advice="sizes are in work-items") from error
    name, segment = entry.kernel.removesuffix(".kd"), bytes.fromhex(entry.segment)
    return KerncapDispatch(path, name, name, entry.target or None, size, entry.lds_bytes, segment)
