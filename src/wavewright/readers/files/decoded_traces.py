"""Decoded traces below a folder or in an archive: which there are, how full each one is, and which one to read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import msgspec

from wavewright.base.files import not_read_here
from wavewright.errors import UsageError
from wavewright.model.stored_tables import MANIFEST as OUR_MANIFEST
from wavewright.readers.files.archive import RAW_SUFFIXES, Archive, is_raw_name
from wavewright.readers.files.folder import Directory, Folder
from wavewright.readers.files.inventory import Inventory

MAX_FOLDERS = 5_000  #: Folders looked at below the given one; a run of many kernels has some hundred.
MAX_LEVELS = 8  #: Folders below the given one are entered down to this depth.
MAX_BESIDE = 32  #: Folders beside a decoded one that are searched for other files of the run.
MANIFEST = "filenames.json"
_WAVE_FILE = re.compile(r"se\d+_sm\d+_sl\d+_wv\d+\.json")
_AGENT = re.compile(r"agent_(\d{1,18})(?!\d)")
_DISPATCH = re.compile(r"dispatch_(\d{1,18})(?!\d)")
_ARCHIVE_SUFFIXES = (".tar", ".tar.xz", ".tar.gz", ".tar.bz2", ".tar.zst", ".tgz", ".txz", ".tzst", ".zip")
_ENDINGS = (*RAW_SUFFIXES, *_ARCHIVE_SUFFIXES)  #: Of the names of files that `survey` looks at.
_SIZEABLE_JSON = 1 << 16  #: A folder with a JSON file of so many bytes is no placeholder; nothing is parsed to know it.
_JSON_BYTES_PER_INSTRUCTION = 24  #: About what an instruction takes in a wave file.

Form = Literal["ui_output", "parquet"]


@dataclass(frozen=True)
class DecodedTrace:
    """One decoded dispatch: where it is, and how much it holds."""

    folder: Folder
    form: Form
    agent: int | None
    dispatch: int | None
    wave_count: int
    is_placeholder: bool  #: Nothing in it: a capture slot that no kernel used.
    around: tuple[Folder, ...] = ()  #: The folder itself and those beside it, where other files of the same run may be.
    instruction_count: int = 0  #: Parquet only.

    @cached_property
    def byte_count(self) -> int:
        """Size of all files; asking thousands of files takes time that opening one trace does not need to spend."""
        return sum(_size(self.folder, name) for name in self.folder.names())

    @cached_property
    def wave_bytes(self) -> int:
        """Size of the wave files, or what as much would take as JSON, so that both forms can be compared."""
        if self.form == "parquet":
            return self.instruction_count * _JSON_BYTES_PER_INSTRUCTION
        return sum(_size(self.folder, name) for name in self.folder.names() if _WAVE_FILE.fullmatch(name))


@dataclass(frozen=True)
class Survey:
    """Decoded traces, raw traces and archives below a folder."""

    decoded: tuple[Path, ...] = ()
    archives: tuple[Path, ...] = ()
    has_raw: bool = False
    #: Links to folders, and links and special files with names of archives, that are not read; with the reason.
    refused: Mapping[str, str] = field(default_factory=dict)


def form_of(names: Collection[str]) -> Form | None:
    """The decoded form that the file names of a folder show; None = none.

    >>> form_of(["filenames.json"]), form_of(["code.json", "se0.att"]), form_of(["code.json", "occupancy.json"])
    ('ui_output', None, 'ui_output')
    """
    if MANIFEST in names:
        return "ui_output"
    if OUR_MANIFEST in names:
        return "parquet"
    if any(map(is_raw_name, names)):
        return None  # a code.json beside raw traces is their listing
    parts = sum(name in names for name in ("code.json", "occupancy.json", "snapshots.json", "realtime.json"))
    return "ui_output" if parts > 1 or any(_WAVE_FILE.fullmatch(name) for name in names) else None


def survey(folder: Path, inventory: Inventory | None = None) -> Survey:
    """Look below a folder without following links; decoded directories are not entered.

    Raises `UsageError` when there are more than `MAX_FOLDERS` folders.
    """
    decoded_folders: list[Path] = []
    archives: list[Path] = []
    has_raw = False
    refused: dict[str, str] = {}
    entry_count = 0
    for here, folders, names in (inventory or Inventory()).walk(folder):
        entry_count += 1
        if entry_count > MAX_FOLDERS:
            problem = f"more than {MAX_FOLDERS:,} folders"
            raise UsageError(problem, where=str(folder), advice="name the folder of the capture itself")
        if form_of(names):
            decoded_folders.append(here)
            folders.clear()
            continue
        if len(here.relative_to(folder).parts) >= MAX_LEVELS:
            folders.clear()
        # Folders are among these where their names have no dot: a link to one may lead out.
        for place in (here / name for name in (*folders, *names) if "." not in name or name.lower().endswith(_ENDINGS)):
            if reason := not_read_here(place, folder):
                refused[str(place.relative_to(folder))] = reason
            elif is_raw_name(place.name):
                has_raw = True
            elif place.name.lower().endswith(_ARCHIVE_SUFFIXES):
                archives.append(place)
    return Survey(tuple(decoded_folders), tuple(archives), has_raw, refused)


def decoded_folder(folder: Folder) -> DecodedTrace:
    """Measure how full a decoded folder is, from its file names, sizes and manifest."""
    if form_of(folder.names()) == "parquet":
        return _parquet_folder(folder)
    wave_count = sum(_WAVE_FILE.fullmatch(name) is not None for name in folder.names())
    agent, dispatch = _AGENT.search(folder.name), _DISPATCH.search(folder.name)
    return DecodedTrace(
        folder,
        "ui_output",
        int(agent[1]) if agent else None,
        int(dispatch[1]) if dispatch else None,
        wave_count,
        is_placeholder=not wave_count and _is_placeholder(folder),
    )


def decoded_in_archive(archive: Archive) -> list[DecodedTrace]:
    """The decoded folders of an archive."""
    decoded_folders = [folder for _, folder in sorted(archive.folders.items()) if form_of(folder.names())]
    inside = [folder for folder in archive.folders.values() if folder not in decoded_folders]
    outside = Directory(archive.path.absolute().parent)
    return [replace(decoded_folder(folder), around=(folder, outside, *inside)) for folder in decoded_folders]


def decoded_on_disk(folders: Iterable[Path], inventory: Inventory | None = None) -> list[DecodedTrace]:
    """The decoded traces in folders that `survey` found."""
    listings = inventory or Inventory()
    beside: dict[Path, tuple[Folder, ...]] = {}  # looked up once for the folders of one parent: there can be hundreds
    traces = []
    for folder in folders:
        parent = folder.absolute().parent
        if parent not in beside:
            beside[parent] = _beside(parent, listings)
        place = Directory(folder, listings)
        traces.append(replace(decoded_folder(place), around=(place, *beside[parent])))
    return traces


def _beside(parent: Path, listings: Inventory) -> tuple[Folder, ...]:
    """The parent of a decoded folder, and the folders in it that are not decoded traces.

    rocprofv3 puts its CSV files and code objects into one that is called after the host.
    """
    siblings: list[Path] = []
    with suppress(OSError):
        folders = (Path(entry.path) for entry in listings.entries(parent) if entry.is_dir(follow_symlinks=False))
        siblings = [folder for folder in folders if not (folder / MANIFEST).is_file()]
    return tuple(Directory(place, listings) for place in (parent, *siblings[:MAX_BESIDE]))


def _parquet_folder(folder: Folder) -> DecodedTrace:
    manifest = _json_object(folder, OUR_MANIFEST)
    source, tables = _dict(manifest.get("source")), _dict(manifest.get("tables"))
    counts = {name: _dict(table).get("row_count") for name, table in tables.items()}
    rows = {name: count if isinstance(count, int) and count > 0 else 0 for name, count in counts.items()}
    agent, dispatch = (number if isinstance(number := source.get(key), int) else None for key in ("agent", "dispatch"))
    return DecodedTrace(
        folder,
        "parquet",
        agent,
        dispatch,
        rows.get("waves", 0),
        is_placeholder=bool(rows) and not any(rows.get(name, 0) for name in ("waves", "code", "occupancy")),
        instruction_count=rows.get("instructions", 0),
    )


def _is_placeholder(folder: Folder) -> bool:
    """True if neither waves, nor code, nor occupancy are there."""
    names = (MANIFEST, "code.json", "occupancy.json")
    if any(_size(folder, name) >= _SIZEABLE_JSON for name in names):
        return False
    manifest, code, occupancy = (_json_object(folder, name) for name in names)
    has_events = any(key.isdigit() and rows for key, rows in occupancy.items())  # shader engine -> starts and ends
    return not (manifest.get("wave_filenames") or code.get("code") or has_events)


def _json_object(folder: Folder, name: str) -> dict[str, Any]:
    """The object in a JSON file; empty where there is none that can be read."""
    try:
        return _dict(msgspec.json.decode(folder.read(name)))
    except (OSError, msgspec.DecodeError, RecursionError, ValueError):
        return {}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _size(folder: Folder, name: str) -> int:
    """Bytes of a file; 0 where there is none."""
    path = folder.path_of(name)
    try:
        return path.stat().st_size if path else len(folder.read(name))
    except OSError:
        return 0
