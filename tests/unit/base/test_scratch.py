"""Temporary folders: gone when they are not needed any more, also those of processes that were killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from wavewright.base import scratch, stopping
from wavewright.base.scratch import make_scratch, scratch_folder

KILLED = """
import os, signal, sys
from pathlib import Path
from wavewright.base.scratch import make_scratch
folder, _ = make_scratch(Path(sys.argv[1]))
(folder / "much").write_text("x")
os.kill(os.getpid(), signal.SIGKILL)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=False, timeout=120)
    (left,) = names(tmp_path)
    with scratch_folder(tmp_path) as folder:
        assert names(tmp_path) == [folder.name]
        assert folder.name != left
    assert names(tmp_path) == []


def test_what_a_living_process_has_stays(tmp_path: Path) -> None:
    with scratch_folder(tmp_path) as first, scratch_folder(tmp_path) as second:
        assert names(tmp_path) == sorted([first.name, second.name])


@pytest.mark.parametrize("name", [".wavewright-abcdefgh", ".wavewright-notes", "wavewright-results"])
def test_what_is_not_ours_stays(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir(mode=0o700)
    (tmp_path / name / "mine").write_text("x")
    with scratch_folder(tmp_path):
        pass
    assert (tmp_path / name / "mine").exists()


def test_what_only_looks_like_ours_stays(tmp_path: Path) -> None:
    """A link, a file, and a folder that others may look into."""
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / f"{scratch._PREFIX}aaaaaaaa").symlink_to(tmp_path / "home")
    (tmp_path / f"{scratch._PREFIX}bbbbbbbb").write_text("x")
    (tmp_path / f"{scratch._PREFIX}cccccccc").mkdir()
    (tmp_path / f"{scratch._PREFIX}cccccccc").chmod(0o755)
    before = names(tmp_path)
    with scratch_folder(tmp_path):
        pass
    assert names(tmp_path) == before


def test_it_is_cleared_when_the_program_is_stopped(tmp_path: Path) -> None:
    _, end = make_scratch(tmp_path)
    stopping.clear()
    assert names(tmp_path) == []
    end()


def test_a_place_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        make_scratch(tmp_path / "nowhere")
