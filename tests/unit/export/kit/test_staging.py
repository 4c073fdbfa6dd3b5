"""Outputs appear whole or not at all, with the folders that were made for them."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wavewright.errors import UsageError, WavewrightError
from wavewright.export.kit import staging as _staging
from wavewright.export.kit.staging import staged
from wavewright.export.run.otf2 import write_otf2
from wavewright.model.run import Run


def test_folders_made_for_an_output_that_fails_are_removed(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    full = OSError(28, "No space left on device")
    with (
        pytest.raises(WavewrightError, match="No space left"),
        staged([tmp_path / "old/new/x"], force=False) as (twin,),
    ):
        twin.write_text("half")
        raise full
    assert list(tmp_path.rglob("*")) == [tmp_path / "old"]
    with staged([tmp_path / "old/new/x"], force=False) as (twin,):
        twin.write_text("whole")
    assert (tmp_path / "old/new/x").read_text() == "whole"


def test_errors_of_the_otf2_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    otf2, library = pytest.importorskip("otf2.writer"), pytest.importorskip("_otf2")

    def fail(*_: object, **__: object) -> None:
        raise library.Error(library.ErrorCode(83))

    monkeypatch.setattr(otf2, "open", fail)
    with pytest.raises(WavewrightError, match="cannot write the output"):
        write_otf2(Run([]), tmp_path / "out" / "x")
    assert list(tmp_path.iterdir()) == []


WRITERS = """
import os, sys
from pathlib import Path
from wavewright.errors import UsageError
from wavewright.export.kit.staging import staged

names, kind = sys.argv[2:], sys.argv[1]
ready, go = os.pipe(), os.pipe()

def write():
    try:
        with staged([Path(name) for name in names], force=False) as twins:
            for twin in twins:
                if kind == "folder":
                    twin.mkdir()
                    twin = twin / "inside"
                twin.write_text(str(os.getpid()))
            os.write(ready[1], b"x")
            os.read(go[0], 1)  # everybody stands before the last step
    except UsageError as error:
        return 2 if "exists already" in str(error) else 3
    return 0

writers = []
for _ in range(8):
    writer = os.fork()
    if writer == 0:
        status = 4
        try:
            status = write()
        finally:
            os.write(ready[1], b"x")
            os._exit(status)
    writers.append(writer)
for _ in writers:
    os.read(ready[0], 1)
os.write(go[1], b"x" * len(writers))
ended = {writer: os.waitstatus_to_exitcode(os.waitpid(writer, 0)[1]) for writer in writers}
print(*sorted(ended.values()), *(writer for writer, status in ended.items() if status == 0))
"""


@pytest.mark.parametrize(("kind", "names"), [("file", ["a"]), ("folder", ["a"]), ("file", ["a", "b", "c"])])
def test_of_eight_writers_one_succeeds(tmp_path: Path, kind: str, names: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WRITERS, kind, *names],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    *statuses, winner = done.stdout.split()
    assert (statuses, done.stderr) == (["0", *"2222222"], "")
    written = [path for path in sorted(tmp_path.rglob("*")) if path.is_file()]
    assert [path.relative_to(tmp_path).parts[0] for path in written] == names
    assert {path.read_text() for path in written} == {winner}


@pytest.mark.parametrize("has_links", [True, False])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_name_that_was_taken_meanwhile(
    tmp_path: Path, kind: str, has_links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the last look at the name and the moment when the output would get it."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    if not has_links:
        monkeypatch.setattr(os, "link", refuse)
    for name in ("ours", "theirs"):
        make(tmp_path / name, kind, name)
    with pytest.raises(UsageError, match="exists already"):
        _staging._put(tmp_path / "ours", tmp_path / "theirs")
    _staging._put(tmp_path / "ours", tmp_path / "free")
    assert {path.name: text_of(path) for path in tmp_path.iterdir() if path.name != "ours"} == {
        "theirs": "theirs",
        "free": "ours",
    }


def make(path: Path, kind: str, text: str) -> None:
    if kind == "folder":
        path.mkdir()
        path = path / "inside"
    path.write_text(text)


def text_of(path: Path) -> str:
    return (path / "inside" if path.is_dir() else path).read_text()


def test_with_force_what_came_meanwhile_is_looked_at_again(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contains other files"), staged([tmp_path / "x"], force=True) as (twin,):
        twin.write_text("ours")
        make(tmp_path / "x", "folder", "theirs")
    assert text_of(tmp_path / "x") == "theirs"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
