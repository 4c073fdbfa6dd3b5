"""Packed JSON and CSV: what unpacks to far more than recordings do is refused before it fills the memory."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from wavewright.errors import NotATraceError
from wavewright.readers.files import text

if TYPE_CHECKING:
    from pathlib import Path


def test_text_that_is_packed_too_well_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "SMALL_BYTES", 1 << 20)
    bomb, sound = tmp_path / "bomb.json.gz", tmp_path / "sound.json.gz"
    bomb.write_bytes(gzip.compress(b"[" + b" " * (5 << 20) + b"]"))  # a thousand times what it was packed to
    sound.write_bytes(gzip.compress(b"[" + b",".join(b"%d" % (n * n) for n in range(300_000)) + b"]"))
    assert len(text.text_bytes(sound, is_json=True)) > 1 << 20
    with pytest.raises(NotATraceError, match="more than 1 MiB of text"):
        text.text_bytes(bomb, is_json=True)
