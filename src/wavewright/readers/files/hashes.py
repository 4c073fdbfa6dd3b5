"""Names, sizes and hashes of files, for the provenance of a report."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from wavewright.base.files import open_regular
from wavewright.base.shown import shown
from wavewright.model.report import InputFile

WHOLE_UP_TO = 256 << 20  #: Bytes of a file up to which all of it is hashed.
_ENDS = 1 << 20  #: Bytes of the start and of the end of a larger file that are hashed.
_CHUNK = 1 << 20
MOST_FILES = 1000  #: Files of one report that are listed.
_MOST_INPUTS = 100  #: Files of one capture of a baseline that are listed; there may be thousands of ranks.


def input_files(paths: Sequence[str | Path], leave_out: Iterable[str | Path] = ()) -> tuple[tuple[InputFile, ...], int]:
    """The files at these paths, those of a folder by name, and how many more there are than `MOST_FILES`.

    Links in folders are not followed, and what is in `leave_out`, such as outputs, is not looked at.
    """
    left_out = {os.path.realpath(path) for path in leave_out}
    names: dict[str, None] = {}
    for path in paths:
        names |= dict.fromkeys(_files_at(Path(path), left_out))
    files = [file for name in list(names)[:MOST_FILES] if (file := hashed_file(name)) is not None]
    return tuple(files), max(0, len(names) - MOST_FILES)


def hashed_inputs(paths: Sequence[Path]) -> tuple[InputFile, ...]:
    """The first `_MOST_INPUTS` files at these paths, for baselines: named from each path on, for all machines alike."""
    files = [(name, path.parent) for path in paths for name in _files_at(path, set())][:_MOST_INPUTS]
    pairs = ((hashed_file(name), os.path.relpath(name, above)) for name, above in files)
    return tuple(replace(file, path=shown(name)) for file, name in pairs if file is not None)


def hashed_file(path: str | Path) -> InputFile | None:
    """Name, size and SHA-256 of a file; of a large one, of its first and last MiB and its size. None = unreadable."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            digest = hashlib.sha256()
            if size <= WHOLE_UP_TO:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
            else:
                digest.update(file.read(_ENDS))
                file.seek(-_ENDS, os.SEEK_END)
                digest.update(file.read(_ENDS))
                digest.update(str(size).encode())
    except OSError:
        return None
    return InputFile(shown(os.fspath(path)), size, digest.hexdigest(), is_whole=size <= WHOLE_UP_TO)


def _files_at(path: Path, left_out: set[str]) -> Iterator[str]:
    if os.path.realpath(path) in left_out:
        return
    if not path.is_dir():
        yield os.fspath(path)
        return
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink():
            continue
        if entry.is_dir():
            yield from _files_at(Path(entry.path), left_out)
        elif entry.is_file() and os.path.realpath(entry.path) not in left_out:
            yield entry.path
