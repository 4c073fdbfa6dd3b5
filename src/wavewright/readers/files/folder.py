"""A folder of named files, wherever they lie: what the readers of decoded directories need of it."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Protocol

from wavewright.base.files import not_read_here, read_regular
from wavewright.errors import UsageError
from wavewright.readers.files.inventory import Inventory


class Folder(Protocol):
    """Files by plain name (no subfolders): a `Directory` on disk, or an `ArchiveFolder`."""

    @property
    def label(self) -> str:
        """Name to show: its path, or `archive.tar.xz!folder`."""

    @property
    def name(self) -> str:
        """Its own name, without the path to it."""

    def names(self) -> Collection[str]:
        """The names of its files; `in` is fast."""

    def read(self, name: str) -> bytes:
        """The content of one of `names()`. Raises `OSError` when it cannot be read."""

    def path_of(self, name: str) -> Path | None:
        """Path of the file on disk; None = only `read` gets at it."""

    def refused(self) -> Mapping[str, str]:
        """Names of the folder that are not read, with the reason: links that lead out, pipes, devices."""


class Directory:
    """A directory on disk. Only regular files count; links that lead out of it are not followed."""

    def __init__(self, path: str | os.PathLike[str], inventory: Inventory | None = None) -> None:
        self._path = Path(path)
        self._inventory = inventory or Inventory()
        self._names: frozenset[str] | None = None
        self._refused: dict[str, str] = {}

    @property
    def label(self) -> str:
        """Its path as given."""
        return str(self._path)

    @property
    def name(self) -> str:
        """Its own name; what `.` stands for is looked up."""
        return self._path.resolve().name

    def names(self) -> frozenset[str]:
        """The names of its files, listed once. Raises `UsageError` when the directory cannot be read."""
        if self._names is None:
            try:
                entries = self._inventory.entries(self._path)
                self._names = frozenset(entry.name for entry in entries if self._is_file_here(entry))
            except OSError as error:
                raise UsageError(f"cannot be read ({error.strerror})", where=self.label) from error
        return self._names

    def read(self, name: str) -> bytes:
        """The content of one of `names()`; everything else is not found."""
        if name not in self.names():
            raise FileNotFoundError(f"no file {name!r}")
        return read_regular(self._path / name)

    def path_of(self, name: str) -> Path | None:
        """Path of the file; None when `names()` does not have it."""
        return self._path / name if name in self.names() else None

    def refused(self) -> dict[str, str]:
        """Names that are here and not read, in their order."""
        self.names()
        return dict(sorted(self._refused.items()))

    def _is_file_here(self, entry: os.DirEntry[str]) -> bool:
        reason = not_read_here(entry, self._path)
        if reason:
            self._refused[entry.name] = reason
        return not reason and entry.is_file()
