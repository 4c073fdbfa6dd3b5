"""Files below a folder that may be runs, and those that a ROCpd package lists."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from wavewright.base.compression import PACKED_SUFFIXES, without_packing
from wavewright.base.files import is_inside, listed, not_read_here, open_regular
from wavewright.errors import NotATraceError, UsageError
from wavewright.readers.files.decoded_traces import form_of, survey
from wavewright.readers.files.inventory import Inventory

MAX_FOLDERS = 100_000
MAX_FILES = 1_000_000  #: Files and folders looked at below one folder.
PACKAGE_INDEX = "index.yaml"
XPLANE_SUFFIX = ".xplane.pb"
PERFETTO_SUFFIXES = (".pftrace", ".perfetto-trace", ".proto")
_SUFFIXES = (".db", ".rpd", ".sqlite", ".sqlite3", ".csv", ".json", ".pickle", ".pkl", ".hatchet", XPLANE_SUFFIX,
             *PERFETTO_SUFFIXES, *PACKED_SUFFIXES)  # fmt: skip
#: Logs of RCCL Inspector and of its relatives, and dumps of the flight recorder, one per rank.
_NAMED_RANKS = re.compile(
    r".*-pid\d+\.log|(?i:[\w-]*[nr]ccl[\w.-]*\.(?:log|txt))|accl_profiler_.*\.jsonl|[\w-]*(trace|rank|dump)_?\d+"
)
_DATABASE = re.compile(r".*(\.rpd|_results\.db)")
_MAX_INDEX_BYTES = 1 << 24
_OUTSIDE_PACKAGE = "the package lists it, but it is not in the folder of the package"
_RANK = re.compile(r"rank_?(\d{1,6})(?!\d)")


def rank_in(path: Path) -> int | None:
    """The rank that the name of a file has.

    >>> rank_in(Path("snapshot_rank3.pickle")), rank_in(Path("snapshot.pickle"))
    (3, None)
    """
    match = _RANK.search(path.name)
    return int(match[1]) if match else None


def run_files(folder: Path, inventory: Inventory | None = None) -> Iterator[Path]:
    """Files that may be runs, without those that are not read; see `run_entries`."""
    return (place for place, reason in run_entries(folder, inventory) if not reason)


def run_entries(folder: Path, inventory: Inventory | None = None) -> Iterator[tuple[Path, str]]:
    """Files that may be runs, by the ends of their names, in the order of their paths; and why one is not read.

    Hidden files and folders, decoded thread traces, and folders that were seen before (links) are left out. A folder
    with a `wavewright.json` comes as it is. Not read are links that lead out of `folder` or to nothing, pipes and
    devices, and folders that cannot be entered. Raises `UsageError` when there are more than `MAX_FOLDERS` folders or
    `MAX_FILES` files.
    """
    folder_ids: set[tuple[int, int]] = set()
    file_count = 0
    listings = inventory or Inventory()
    folders = [folder]
    while folders:
        here = folders.pop()
        try:
            status = here.stat()
            if (status.st_dev, status.st_ino) in folder_ids:
                continue
            folder_ids.add((status.st_dev, status.st_ino))
            entries = [entry for entry in listings.entries(here) if not entry.name.startswith(".")]
        except OSError as error:
            yield here, f"cannot be read ({error.strerror})"
            continue
        file_count += len(entries)
        if len(folder_ids) > MAX_FOLDERS or file_count > MAX_FILES:
            problem = f"more than {MAX_FOLDERS:,} folders or {MAX_FILES:,} files"
            raise UsageError(problem, where=str(folder), advice="name a folder below it")
        names = [entry.name for entry in entries]
        form = form_of(names)
        reasons = {entry.name: reason for entry in entries if (reason := not_read_here(entry, folder))}
        if form == "parquet" or PACKAGE_INDEX in names:
            yield (here, "") if form else (here / PACKAGE_INDEX, reasons.get(PACKAGE_INDEX, ""))
        if form:
            continue
        for entry in entries:
            name, reason = entry.name.lower(), reasons.get(entry.name, "")
            is_named = name.endswith(_SUFFIXES) or _NAMED_RANKS.fullmatch(name)
            # What is not read is told if it has the name of a run, or may be a folder with some.
            if (is_named or _may_be_folder(entry)) if reason else (is_named and entry.is_file()):
                yield Path(entry.path), reason
        folders += [Path(entry.path) for entry in reversed(entries) if entry.name not in reasons and entry.is_dir()]


def refused_in(path: Path, inventory: Inventory | None = None) -> dict[str, str]:
    """Links and special files of a folder that look like inputs and are not read, with the reason."""
    if not path.is_dir():
        return {}
    inventory = inventory or Inventory()
    reasons = {str(place.relative_to(path)): reason for place, reason in run_entries(path, inventory) if reason}
    return reasons | dict(survey(path, inventory).refused)


def refused_below(path: Path) -> str:
    """Part of an error about a folder without inputs: those that were refused; empty = there are none."""
    reasons = refused_in(path)
    return f" that can be read ({listed(reasons)})" if reasons else ""


def is_named_like_database(name: str) -> bool:
    """True if only a database of a run is called like this, so that a file which is none has been damaged.

    >>> is_named_like_database("12_results.db"), is_named_like_database("Thumbs.db")
    (True, False)
    """
    return _DATABASE.fullmatch(without_packing(name)) is not None


def packaged_files(index: Path) -> list[tuple[Path, str]]:
    """The files that the index of a ROCpd package lists; and why one is not read: it is not below the index.

    Raises `UsageError` when it cannot be read; `NotATraceError` when it is not such an index.
    """
    try:
        with open_regular(index) as stream:
            text = stream.read(_MAX_INDEX_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(index)) from error
    files = re.search(r"\bfiles:[ \t]*(\[[^\]]*\]|(?:\r?\n[ \t]*-[^\n]*)+)", text)
    if "rocpd" not in text or files is None:
        problem = "not the index of a ROCpd package"
        raise NotATraceError(problem, where=str(index), advice="name the databases themselves")
    names = files[1].strip("[]").split(",") if files[1].startswith("[") else re.findall(r"-([^\n]*)", files[1])
    path = re.search(r"\bpath:[ \t]*([^\n,}]+)", text)
    base = index.parent / _plain(path[1]) if path else index.parent
    places = [base / name for item in names if (name := _plain(item))]
    return [(place, "" if is_inside(place, index.parent) else _OUTSIDE_PACKAGE) for place in places]


def _plain(scalar: str) -> str:
    return scalar.strip().strip("'\"")


def _may_be_folder(entry: os.DirEntry[str]) -> bool:
    """True if a link leads to a folder, or to nothing and is named like a folder."""
    try:
        return entry.is_dir() or "." not in entry.name
    except OSError:  # a link that leads back to itself
        return "." not in entry.name
