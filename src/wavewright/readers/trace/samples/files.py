"""Files below a path with PC samples of rocprofv3, and the choice of the one that is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wavewright.base.words import some_of
from wavewright.errors import UsageError
from wavewright.model.losses import Loss
from wavewright.readers.files.inventory import Inventory
from wavewright.readers.files.kinds import Kind, sniff
from wavewright.readers.files.rocprofv3_columns import run_of
from wavewright.readers.files.runs import run_files
from wavewright.readers.trace.samples.results import holds_samples

_NAMED = 6  #: A loss names at most so many files.


@dataclass(frozen=True)
class SampleFile:
    """One file of samples."""

    path: Path
    is_json: bool
    byte_count: int

    @property
    def run(self) -> tuple[Path, str]:
        """Key that files of the same run have in common: the folder and the start of their names."""
        return self.path.absolute().parent, run_of(self.path.name)


def find_samples(path: Path, inventory: Inventory) -> list[SampleFile]:
    """The files of PC samples that a path names, or that are below it.

    Raises `UsageError` when the path does not exist or cannot be read.
    """
    files = run_files(path, inventory) if path.is_dir() else iter((path,))
    samples = []
    for file in files:
        kind = _kind(file, inventory)
        if kind is Kind.SAMPLES or (kind is Kind.RESULTS and holds_samples(file)):
            samples.append(SampleFile(file, kind is Kind.RESULTS, file.stat().st_size))
    return samples


def _kind(file: Path, inventory: Inventory) -> Kind | None:
    try:
        return sniff(file, inventory) if file.is_file() else None
    except UsageError:
        return None


def choose(files: Sequence[SampleFile], losses: list[Loss]) -> SampleFile:
    """The largest file; of several forms of that run, the JSON file, which records addresses.

    Files of other runs become a loss.
    """
    run = max(files, key=lambda file: (file.byte_count, file.path)).run
    same = [file for file in files if file.run == run]
    best = max(same, key=lambda file: (file.is_json, file.byte_count, file.path))
    others = [file for file in files if file.run != run]
    if others:
        names = some_of(others, _NAMED, lambda file: f"{file.path.parent.name}/{file.path.name}")
        losses.append(Loss("other_samples", len(others), detail=names))
    return best
