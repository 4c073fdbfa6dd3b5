"""Outputs appear whole or not at all, with the folders that were made for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from wavescope.errors import WavescopeError
from wavescope.export._staging import staged
from wavescope.export.otf2 import write_otf2
from wavescope.model.profile import Profile


def test_folders_made_for_an_output_that_fails_are_removed(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    full = OSError(28, "No space left on device")
    with pytest.raises(WavescopeError, match="No space left"), staged([tmp_path / "old/new/x"], force=False) as (twin,):
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
    with pytest.raises(WavescopeError, match="cannot write the output"):
        write_otf2(Profile([]), tmp_path / "out" / "x")
    assert list(tmp_path.iterdir()) == []
