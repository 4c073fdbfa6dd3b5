"""Stated totals against the wave files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.readers.trace.ui_output.made import OTHER_WAVE, directory, opened
from wavewright.analysis.trace.selection import Selection, select
from wavewright.analysis.trace.trust.caveats import caveats_of_cycles, differing_row_count

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.model.trace import ThreadTrace


def told(trace: ThreadTrace) -> list[str]:
    return [each.sentence for each in caveats_of_cycles(trace) if each.name == "stored_totals_differ"]


def test_a_whole_directory_agrees(tmp_path: Path) -> None:
    trace = opened(tmp_path, directory())
    assert trace.stored_totals.height == 4
    assert (differing_row_count(trace), told(trace)) == (0, [])


def test_a_missing_wave_shows(tmp_path: Path) -> None:
    files = directory()
    del files[OTHER_WAVE]
    trace = opened(tmp_path, files)
    assert differing_row_count(trace) == 4
    assert told(trace) == ["totals stored in the directory differ from its wave files in 4 rows"]


def test_rows_that_one_side_does_not_have(tmp_path: Path) -> None:
    files = directory()
    files["code.json"]["code"][1][6:10] = [0, 0, 0, 0]
    files["code.json"]["code"].append(["s_nop 0", 0, 5, "", 7, 276, 1, 4, 0, 0])
    assert differing_row_count(opened(tmp_path, files)) == 2


def test_one_cycle_more_is_a_difference(tmp_path: Path) -> None:
    for at in range(7, 10):
        files = directory()
        files["code.json"]["code"][1][at] += 1
        assert differing_row_count(opened(tmp_path / str(at), files)) == 1


def test_a_selection_is_judged_by_the_whole_trace(tmp_path: Path) -> None:
    part = select(opened(tmp_path, directory()), Selection(shader_engines=(1,)))
    assert part.waves.height == 1
    assert differing_row_count(part) == 0


def test_writers_that_state_nothing(tmp_path: Path) -> None:
    files = directory()
    for row in files["code.json"]["code"]:
        row[6:10] = [0, 0, 0, 0]
    assert differing_row_count(opened(tmp_path, files)) == 0
