"""Files below a folder that may be profiles of a run, and those that a ROCpd package lists."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from wavescope.errors import NotATraceError, UsageError
from wavescope.readers.decoded import form_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PACKAGE_INDEX", "is_named_like_database", "packaged_files", "profile_files"]

MAX_FOLDERS = 100_000
MAX_FILES = 1_000_000
"""Files and folders looked at below one folder."""
PACKAGE_INDEX = "index.yaml"
_SUFFIXES = (".db", ".rpd", ".sqlite", ".sqlite3", ".csv", ".json", ".gz")
_DATABASE = re.compile(r".*(\.rpd(\.gz)?|_results\.db(\.gz)?)")
_MAX_INDEX_BYTES = 1 << 24


def profile_files(folder: Path) -> Iterator[Path]:
    """Files that may be profiles, by the ends of their names, in the order of their paths.

    Hidden files and folders, decoded thread traces, and folders that were seen before (links) are left out. A folder
    with a `wavescope.json`, and one that cannot be entered, come as they are.

    Raises
    ------
    UsageError
        When there are more than `MAX_FOLDERS` folders or `MAX_FILES` files.

    Examples
    --------
    >>> import tempfile
    >>> list(profile_files(Path(tempfile.mkdtemp())))
    []
    """
    seen: set[tuple[int, int]] = set()
    file_count = 0
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            status = here.stat()
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(here) as found:
                plain = (entry for entry in found if not entry.name.startswith(".") and not _is_circular(entry))
                entries = sorted(plain, key=lambda e: e.name)
        except OSError:
            yield here
            continue
        file_count += len(entries)
        if len(seen) > MAX_FOLDERS or file_count > MAX_FILES:
            what = f"more than {MAX_FOLDERS:,} folders or {MAX_FILES:,} files"
            raise UsageError(what, where=str(folder), advice="name a folder below it")
        names = [entry.name for entry in entries]
        form = form_of(names)
        if form == "parquet" or PACKAGE_INDEX in names:
            yield here if form else here / PACKAGE_INDEX
        if form:
            continue
        yield from (Path(e.path) for e in entries if e.name.lower().endswith(_SUFFIXES) and e.is_file())
        waiting += [Path(entry.path) for entry in reversed(entries) if entry.is_dir()]


def is_named_like_database(name: str) -> bool:
    """Whether only a database of a run is called like this, so that a file which is none has been damaged.

    Examples
    --------
    >>> is_named_like_database("12_results.db"), is_named_like_database("Thumbs.db")
    (True, False)
    """
    return _DATABASE.fullmatch(name) is not None


def packaged_files(index: Path) -> list[Path]:
    """The files that the index of a ROCpd package lists.

    Raises
    ------
    NotATraceError
        When it is not such an index.

    Examples
    --------
    >>> packaged_files(Path("run.rpdb/index.yaml"))  # doctest: +SKIP
    """
    with index.open("rb") as stream:
        text = stream.read(_MAX_INDEX_BYTES).decode("utf-8", "replace")
    files = re.search(r"\bfiles:[ \t]*(\[[^\]]*\]|(?:\r?\n[ \t]*-[^\n]*)+)", text)
    if "rocpd" not in text or files is None:
        what = "not the index of a ROCpd package"
        raise NotATraceError(what, where=str(index), advice="name the databases themselves")
    listed = files[1].strip("[]").split(",") if files[1].startswith("[") else re.findall(r"-([^\n]*)", files[1])
    path = re.search(r"\bpath:[ \t]*([^\n,}]+)", text)
    base = index.parent / _plain(path[1]) if path else index.parent
    return [base / name for item in listed if (name := _plain(item))]


def _plain(scalar: str) -> str:
    return scalar.strip().strip("'\"")


def _is_circular(entry: os.DirEntry[str]) -> bool:
    """Whether it is a link that leads back to itself."""
    try:
        entry.is_dir()
    except OSError:
        return True
    return False
