"""inline_frames.json of ROCm WaveScope: calls through which inlined code was reached, which code.json may lack."""

from __future__ import annotations

import msgspec

from wavewright.model.losses import Loss
from wavewright.readers.files.folder import Folder
from wavewright.readers.trace.ui_output.code import CodeFile
from wavewright.readers.trace.ui_output.parts import read_bytes, readable

FILE_NAME = "inline_frames.json"
VERSION = 2
_LEAST_MATCHED = 0.5  #: Share of its addresses that the code must have; else it is of another build.
_CHAIN = " -> "


class _File(msgspec.Struct):
    """The keys that are read."""

    version: int = 0
    files: list[str] = []
    #: `<code object>:<address>` -> frames, the outermost first: function, file of the call or -1, line, column.
    stacks: dict[str, list[tuple[int, int, int, int]]] = {}


def add_inline_frames(folder: Folder, code: CodeFile) -> None:
    """Lengthen the chains of rows that have only their innermost place; what does not fit is a loss."""
    if FILE_NAME not in folder.names():
        return
    content = read_bytes(folder, FILE_NAME, code.losses)
    if content is None:
        return
    try:
        file = msgspec.json.decode(content, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        code.losses.append(Loss("inline_frames", detail=f"it cannot be read ({error})"))
        return
    if file.version != VERSION:
        code.losses.append(Loss("inline_frames", detail=f"it is of version {file.version}, and {VERSION} is known"))
        return
    rows = {f"{code_object}:{address}": row for row, (code_object, address) in enumerate(code.places)}
    frames_of_row = {rows[key]: frames for key, frames in file.stacks.items() if key in rows}
    if len(frames_of_row) < _LEAST_MATCHED * len(file.stacks):
        counts = f"{len(frames_of_row):,} of its {len(file.stacks):,} addresses are in this code"
        code.losses.append(Loss("inline_frames", detail=f"{counts}: it is of another build"))
        return
    for row, frames in frames_of_row.items():
        place = code.chains[row]
        if place and _CHAIN not in place:
            code.chains[row] = _CHAIN.join([place, *_calls(frames, file.files)])


def _calls(frames: list[tuple[int, int, int, int]], files: list[str]) -> list[str]:
    """Places of the calls, the innermost first."""
    places = [(file, line) for _, file, line, _ in reversed(frames) if 0 <= file < len(files)]
    return [f"{readable(files[file])}:{line if line > 0 else '?'}" for file, line in places]
