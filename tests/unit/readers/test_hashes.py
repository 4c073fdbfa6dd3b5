"""Hashes of inputs: whole files, the ends of large ones, folders in order, outputs left out."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from wavewright.readers.files import hashes


def test_files_of_a_folder_in_order(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name, content in (("b/x.db", b"abc"), ("a.db", b""), ("report.html", b"out")):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "link").symlink_to(tmp_path / "a.db")
    files, more = hashes.input_files([tmp_path], leave_out=[tmp_path / "report.html"])
    assert [Path(file.path).relative_to(tmp_path).as_posix() for file in files] == ["a.db", "b/x.db"]
    assert [file.sha256 for file in files] == [hashlib.sha256(content).hexdigest() for content in (b"", b"abc")]
    assert [file.byte_count for file in files] == [0, 3]
    assert all(file.is_whole for file in files)
    assert more == 0


def test_of_large_files_the_ends_and_the_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashes, "WHOLE_UP_TO", 4 << 20)
    content = bytes(range(256)) * (5 << 12)
    (tmp_path / "large.db").write_bytes(content)
    ((file,), _) = hashes.input_files([tmp_path / "large.db"])
    expected = hashlib.sha256(content[: 1 << 20] + content[-(1 << 20) :] + str(len(content)).encode())
    assert (file.sha256, file.is_whole, file.byte_count) == (expected.hexdigest(), False, len(content))


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    assert hashes.input_files([tmp_path / "nothing"]) == ((), 0)


def test_many_files_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashes, "MOST_FILES", 3)
    for number in range(5):
        (tmp_path / f"{number}.db").write_bytes(b"")
    files, more = hashes.input_files([tmp_path])
    assert (len(files), more) == (3, 2)
