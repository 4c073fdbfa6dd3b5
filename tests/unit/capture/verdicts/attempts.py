"""Attempts as the engine leaves them, for tests of verdicts."""

from __future__ import annotations

import shutil
from pathlib import Path

from wavewright.capture.machines.runner import Ending

WELL = Ending(status=0, seconds=12.0)


def ended(status: int | None = 0, stopped: str = "", problem: str = "") -> Ending:
    return Ending(status=status, seconds=12.0, stopped=stopped, problem=problem)


def attempt_in(folder: Path, *, stderr: str = "", stdout: str = "") -> Path:
    """An attempt with an empty folder for raw data."""
    attempt = folder / "attempts" / "1"
    (attempt / "raw").mkdir(parents=True)
    (attempt / "stderr.txt").write_text(stderr, encoding="utf-8")
    (attempt / "stdout.txt").write_text(stdout, encoding="utf-8")
    return attempt


def attempt_of(folder: Path, *sources: Path) -> Path:
    """An attempt whose raw data are copies of real files or folders."""
    attempt = attempt_in(folder)
    for source in sources:
        if source.is_dir():
            _copy_folder(source, attempt / "raw" / source.name)
        else:
            shutil.copyfile(source, attempt / "raw" / source.name)
    return attempt


def _copy_folder(source: Path, copy: Path) -> None:
    """Without the permissions: the originals are read-only."""
    copy.mkdir()
    for path in source.iterdir():
        if path.is_dir():
            _copy_folder(path, copy / path.name)
        else:
            shutil.copyfile(path, copy / path.name)
