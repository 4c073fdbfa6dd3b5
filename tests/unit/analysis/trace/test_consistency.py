"""Stated totals against the wave files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.readers.trace.ui_output.made import OTHER_WAVE, directory, opened
from wavewright.analysis.trace.selection import Selection, select
from wavewright.analysis.trace.trust.caveats import consistency

if TYPE_CHECKING:
    from pathlib import Path


def test_a_whole_directory_agrees(tmp_path: Path) -> None:
    answer = consistency(opened(tmp_path, directory()))
    assert (answer.is_comparable, answer.is_consistent, answer.row_count) == (True, True, 4)
    assert answer.differences.columns == [column.name for column in answer.tables["differences"].columns]


def test_a_missing_wave_shows(tmp_path: Path) -> None:
    files = directory()
    del files[OTHER_WAVE]
    differences = consistency(opened(tmp_path, files)).differences
    assert differences.select("row", "hit_count", "stored_hit_count").rows() == [(row, 1, 2) for row in range(4)]
    assert differences["idle_cycles_total"][0] == 32


def test_rows_that_one_side_does_not_have(tmp_path: Path) -> None:
    files = directory()
    files["code.json"]["code"][1][6:10] = [0, 0, 0, 0]
    files["code.json"]["code"].append(["s_nop 0", 0, 5, "", 7, 276, 1, 4, 0, 0])
    differences = consistency(opened(tmp_path, files)).differences
    assert differences.select("row", "hit_count", "stored_hit_count").rows() == [(0, 2, 0), (4, 0, 1)]


def test_a_selection_is_judged_by_the_whole_trace(tmp_path: Path) -> None:
    part = select(opened(tmp_path, directory()), Selection(shader_engines=(1,)))
    assert part.waves.height == 1
    assert consistency(part).is_comparable
    assert consistency(part).is_consistent


def test_writers_that_state_nothing(tmp_path: Path) -> None:
    files = directory()
    for row in files["code.json"]["code"]:
        row[6:10] = [0, 0, 0, 0]
    answer = consistency(opened(tmp_path, files))
    assert (answer.is_comparable, answer.is_consistent) == (False, True)
