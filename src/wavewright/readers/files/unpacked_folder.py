"""Archives of runs and counters as folders: their readers want files, some of them at any place of the file.

Thread traces are read in memory (`archive`); what is unpacked here goes when nobody uses it any more.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from wavewright.base.scratch import make_scratch
from wavewright.errors import UsageError, WavewrightError
from wavewright.model.losses import Loss
from wavewright.readers.files.archive import Archive, is_archive, is_raw_name

_CACHED_ARCHIVES = 4  #: Archives that stay unpacked: one opening asks for the same archive several times.


@dataclass(frozen=True)
class UnpackedFolder:
    """The files of an archive without its raw traces, below a temporary folder.

    Copies for other processes do not keep the files: the process that unpacked them does.
    """

    archive: Path
    folder: Path
    losses: tuple[Loss, ...]  #: What was not taken out of the archive.

    def label(self, path: Path) -> str:
        """Name to show of a file below `folder`: the archive and the place in it."""
        return f"{self.archive}!{path.relative_to(self.folder)}" if path != self.folder else str(self.archive)

    def in_words(self, text: str) -> str:
        """A text about files below `folder` in which they are called by their places in the archive."""
        return text.replace(f"{self.folder}/", f"{self.archive}!").replace(str(self.folder), str(self.archive))

    def rename_in(self, error: WavewrightError) -> None:
        """Let an error about files below `folder` name their places in the archive."""
        error.what, error.where, error.advice = map(self.in_words, (error.what, error.where, error.advice))


def unpacked_folder(path: Path) -> UnpackedFolder | None:
    """Unpack an archive of runs or counters; None = not an archive, or it cannot be read.

    Raises `NotATraceError, UsageError` when it cannot be unpacked; see `Archive.read`.
    """
    try:
        if not path.is_file() or not is_archive(path):
            return None
        status = path.stat()
    except OSError:
        return None
    return _unpacked(path, (status.st_mtime_ns, status.st_size, status.st_ino))


def file_of(label: str) -> Path:
    """The file of a path, or of a label of `UnpackedFolder.label` (`archive!place`); any `!` may be the mark."""
    place = Path(label)
    for mark in [at for at, letter in enumerate(label) if letter == "!" and not place.exists()]:
        archive = unpacked_folder(Path(label[:mark]))
        if archive:
            return archive.folder / label[mark + 1 :]
    return place


@lru_cache(maxsize=_CACHED_ARCHIVES)
def _unpacked(path: Path, _stamp: tuple[int, ...]) -> UnpackedFolder:
    archive = Archive.read(path)
    try:
        scratch, remove = make_scratch()
        unpacked = UnpackedFolder(path, scratch / "archive", tuple(archive.losses))
        weakref.finalize(unpacked, remove)
        for name, content in archive.folders.items():
            folder = unpacked.folder / name
            folder.mkdir(parents=True, exist_ok=True)
            for file, data in content.files.items():
                if not is_raw_name(file):
                    (folder / file).write_bytes(data)
    except OSError as error:
        problem = f"the archive cannot be unpacked to where temporary files go ({error.strerror})"
        advice = "set TMPDIR to a place with room, or unpack it yourself"
        raise UsageError(problem, where=str(path), advice=advice) from error
    return unpacked
