"""TOML files of users: whatever they are, one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.in_process import call
from wavewright.base.toml import read_toml
from wavewright.errors import UsageError

BAD = {
    "deep": b"a = " + b"[" * 50_000,
    "long key": b"a." * 5_000 + b"b = 1",
    "binary": b"\xff\xfe",
    "huge number": b"a = " + b"9" * 10_000,
    "no toml": b"a = = 1",
    "too large": b"#" * (1 << 20) + b"#",
}


def test_what_is_read(tmp_path: Path) -> None:
    file = tmp_path / "good.toml"
    file.write_bytes(b"\xef\xbb\xbfa.b = [0.5, 1.5]\n\"x.y\" = 'c.d'\n")
    assert read_toml(file, advice="") == {"a": {"b": [0.5, 1.5]}, "x.y": "c.d"}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_what_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bad.toml"
    file.write_bytes(content)
    with pytest.raises(UsageError) as told:
        read_toml(file, advice="write another")
    assert len(told.value.what) < 300
    assert (told.value.where, told.value.advice) == (str(file), "write another")


@pytest.mark.parametrize(
    "options",
    [
        ("report", "RUN", "--sections", "FILE", "-o", "OUT.md"),
        ("gate", "RUN", "--budget", "FILE"),
        ("gate", "RUN", "--baseline", "FILE"),
        ("counters", "RUN", "--metrics", "FILE"),
        ("capture", "pool", "FILE", "-o", "OUT"),
    ],
    ids=lambda options: f"{options[0]} {options[2]}",
)
@pytest.mark.parametrize("kind", ["pipe", "deep"])
def test_every_verb_that_takes_such_a_file(tmp_path: Path, options: tuple[str, ...], kind: str) -> None:
    file, run = tmp_path / "file.toml", tmp_path / "run.csv"
    run.write_text("Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n")
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.write_bytes(BAD["deep"])
    places = {"FILE": file, "RUN": run, "OUT": tmp_path / "out", "OUT.md": tmp_path / "out.md"}
    done = call(*(places.get(word, word) for word in options))
    assert done.status in (2, 3), done  # 3: it was taken for a capture, and is none
    assert "bug" not in done.stderr
    assert not (tmp_path / "out").exists()
