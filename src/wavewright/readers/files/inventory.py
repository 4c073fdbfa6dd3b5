"""The directories of one opening, each listed once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wavewright.readers.files.archive import Archive
from wavewright.readers.files.unpacked_folder import UnpackedFolder, unpacked_folder


class Inventory:
    """Listings of directories and kinds of inputs, read when first needed and remembered for one opening.

    An opening looks at the same folder several times: what is it, which traces, runs and code objects are below it,
    what is next to them. On network file systems every listing is a round trip.
    """

    def __init__(self) -> None:
        self.kinds: dict[Path, Any] = {}  #: What `sniff` found at a path.
        self._listings: dict[str, list[os.DirEntry[str]]] = {}
        self._archives: dict[Path, Archive] = {}
        self._unpacked: dict[Path, UnpackedFolder | None] = {}

    def entries(self, folder: Path) -> list[os.DirEntry[str]]:
        """The entries of a folder in the order of their names. Raises `OSError` when the folder cannot be read."""
        key = str(folder)  # as given, because entries have paths below it
        if key not in self._listings:
            with os.scandir(key) as entries:
                self._listings[key] = sorted(entries, key=lambda entry: entry.name)
        return self._listings[key]

    def archive(self, path: Path) -> Archive:
        """Contents of an archive, unpacked once.

        Raises `NotATraceError, UsageError` when it cannot be unpacked; see `Archive.read`.
        """
        if path not in self._archives:
            self._archives[path] = Archive.read(path)
        return self._archives[path]

    def unpacked(self, path: Path) -> UnpackedFolder | None:
        """Unpacked archive of runs or counters; None = not an archive, or it cannot be read. Errors as of `archive`."""
        if path not in self._unpacked:
            self._unpacked[path] = unpacked_folder(path)
        return self._unpacked[path]

    def archives_unpacked(self) -> list[UnpackedFolder]:
        """Results of `unpacked` so far."""
        return [folder for folder in self._unpacked.values() if folder]

    def names(self, folder: Path) -> list[str]:
        """The names of the entries of a folder. Raises `OSError` when the folder cannot be read."""
        return [entry.name for entry in self.entries(folder)]

    def walk(self, folder: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
        """As `os.walk`: (folder, its folders, its files); folders that are removed from the list are not entered."""
        try:
            entries = self.entries(folder)
        except OSError:
            return
        folders = [entry.name for entry in entries if _is_folder(entry)]
        links = {entry.name for entry in entries if entry.is_symlink()}
        names = [entry.name for entry in entries if not _is_folder(entry)]
        yield folder, folders, names
        for name in folders:
            if name not in links:
                yield from self.walk(folder / name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
