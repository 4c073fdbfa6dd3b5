"""Outputs appear whole or not at all, and replace only what they may."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.kit.made_traces import made, one_wave
from wavewright.errors import UsageError, WavewrightError
from wavewright.export.trace.ui_output import write_ui_output

if TYPE_CHECKING:
    from pathlib import Path


def test_an_unknown_schema_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no ui_output schema '4\.0'.*3\.0, 3\.1"):
        write_ui_output(made([]), tmp_path, schema="4.0")


def test_existing_output_is_kept_unless_forced(tmp_path: Path) -> None:
    directory = write_ui_output(made([one_wave()]), tmp_path)
    before = (directory / "code.json").stat().st_ino
    with pytest.raises(UsageError, match=r"exists already.*--force"):
        write_ui_output(made([]), tmp_path)
    assert (directory / "code.json").stat().st_ino == before
    write_ui_output(made([]), tmp_path, force=True)
    assert not list(directory.glob("se*.json"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"stats_{directory.name}.csv", directory.name]


def test_a_foreign_directory_is_not_replaced_even_when_forced(tmp_path: Path) -> None:
    precious = tmp_path / "ui_output_agent_3_dispatch_1" / "thesis.tex"
    precious.parent.mkdir()
    precious.write_text("years of work")
    with pytest.raises(UsageError, match="contains other files"):
        write_ui_output(made([]), tmp_path, force=True)
    assert precious.read_text() == "years of work"


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    trace = made([one_wave()])
    trace.tables["states"] = trace.tables["states"].drop("state")
    with pytest.raises(pl.exceptions.ColumnNotFoundError):
        write_ui_output(trace, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    with pytest.raises(WavewrightError, match=r"cannot write the output.*check the path"):
        write_ui_output(made([]), blocker / "below")
