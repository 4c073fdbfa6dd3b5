"""Comparisons of traces say what lies between instructions, and which side is a cold launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import wavewright
from synth.planted import plant, write_decoded
from wavewright.analysis.trace.compare import compare

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.analysis.trace.compare import Comparison


def test_less_cold_fetch_is_no_faster_code(shared: Path) -> None:
    """c04 and c05 by AMD's own decode: idle 145,816 and 53,188 cycles, latency 274,392 and 261,244, of 8 waves each."""
    captures = [shared / "data" / "att-mi300x-bmm" / name / "raw" for name in ("c04", "c05")]
    answer = compare([wavewright.decode(path, dispatch=3) for path in captures])
    other = answer.traces.row(1, named=True)
    idle = (53_188 - 145_816) / (274_392 + 145_816)
    assert other["speed_idle_share"] == pytest.approx(idle, abs=0.005)
    assert abs(other["speed_idle_share"]) > 4 * abs(other["speed_share"] - other["speed_idle_share"])
    (cold, *_) = answer.idle_parts.iter_rows(named=True)
    assert cold["part"] == "cold instruction fetch"
    verdict = answer.verdict()
    assert "from shorter gaps between instructions (mostly cold instruction fetch" in verdict
    assert "-25.2 % from the same instructions" not in verdict
    assert (
        "A cold launch: waves wait for code that never ran before (29.5 % in A, 10.5 % in B of all cycles)" in verdict
    )


def compared(cause: str, folder: Path) -> Comparison:
    pair = plant(cause, "gfx942", "small")
    sides = [write_decoded(side, folder / name) for side, name in ((pair.planted, "planted"), (pair.twin, "twin"))]
    return compare([wavewright.open(path) for path in sides])


def test_a_planted_cold_launch_is_said(tmp_path: Path) -> None:
    """The same code, first cold and then warm: all of the difference lies between instructions."""
    answer = compared("cold fetch", tmp_path)
    other = answer.traces.row(1, named=True)
    assert other["speed_idle_share"] == pytest.approx(other["speed_share"], abs=0.02)
    assert "A cold launch" in answer.verdict()
    assert answer.idle_parts["part"][0] == "cold instruction fetch"


def test_slower_loads_are_no_gaps(tmp_path: Path) -> None:
    """The twin of a planted latency: waits are instructions, nothing lies between them."""
    answer = compared("load latency", tmp_path)
    other = answer.traces.row(1, named=True)
    assert abs(other["speed_share"]) > 0.2
    assert abs(other["speed_idle_share"]) < 0.02
    assert "A cold launch" not in answer.verdict()
