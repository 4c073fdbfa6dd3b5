"""The paths that a client may name: after following all links, they are below the folders given at the start."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from wavewright.base.files import is_inside
from wavewright.base.shown import shown
from wavewright.errors import UsageError

_LONGEST = 4096  #: Characters of a path.
_LOOKED_AT = 2_000  #: Names of a folder among which a similar one is looked for.


@dataclass(frozen=True)
class Roots:
    """The folders below which captures may be read; relative paths start at the first."""

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, folders: Sequence[Path]) -> Roots:
        """The folders with all links followed. Raises `UsageError` when one of them is not a folder."""
        for folder in folders:
            if not folder.is_dir():
                raise UsageError("not a folder", where=str(folder), advice="--root takes a folder with captures")
        return cls(tuple(Path(os.path.realpath(folder)) for folder in folders))

    def path(self, given: str) -> Path:
        """A path of a client. Raises `UsageError` when it leads out of the folders, or nothing is there."""
        where = given[:200]
        if not given or len(given) > _LONGEST or "\0" in given:
            raise UsageError("not a path", where=where.replace("\0", "\\0"), advice=self._advice())
        if ".." in Path(given).parts:
            raise UsageError("a path with '..' is refused", where=where, advice=self._advice())
        places = [folder / given for folder in self.folders]  # an absolute path stays as it is
        inside = [place for place in places if self.holds(place)]
        if not inside:
            what = "this path leads out of the folders that may be read"
            raise UsageError(what, where=where, advice=self._advice())
        for place in inside:
            if place.exists():
                return place
        raise UsageError("no such file or folder", where=where, advice=self._nearest(inside[0]))

    def holds(self, path: Path) -> bool:
        """True if a path stays below one of the folders when all links are followed."""
        return any(is_inside(path, folder) for folder in self.folders)

    def relative(self, path: Path) -> str:
        """The name of a path for clients: relative to the first folder, else absolute."""
        first = self.folders[0]
        for place in (path, Path(os.path.realpath(path))):
            if place.is_relative_to(first):
                return shown(str(place.relative_to(first)))
        return shown(str(path))

    def _advice(self) -> str:
        folders = " or ".join(shown(str(folder)) for folder in self.folders)
        return f"give a path below {folders}; list_captures finds some"

    def _nearest(self, place: Path) -> str:
        """Advice with a similar name in the last folder of the path that exists."""
        while not place.parent.is_dir() and place.parent != place:
            place = place.parent
        try:
            names = sorted(entry.name for _, entry in zip(range(_LOOKED_AT), os.scandir(place.parent), strict=False))
        except OSError:
            names = []
        meant = get_close_matches(place.name, names, n=1, cutoff=0.5)
        if meant and self.holds(place.parent):
            return f"did you mean {self.relative(place.parent / meant[0])!r}?"
        return "list_captures finds captures"
