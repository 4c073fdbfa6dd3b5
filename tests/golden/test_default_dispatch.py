"""The dispatch that is shown where nobody chose one: the one with the most instructions."""

from __future__ import annotations

from pathlib import Path

import wavewright
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.model.trace import ThreadTrace


def opened(path: Path) -> ThreadTrace:
    trace = wavewright.open(path)
    assert isinstance(trace, ThreadTrace)
    return trace


def test_a_dispatch_with_larger_files_but_no_instructions_is_not_chosen(shared: Path) -> None:
    trace = opened(shared / "golden" / "gfx1200" / "profile_sync_run_0")
    assert (trace.source.dispatch, trace.instruction_count) == (0, 32)


def test_engines_without_a_wave_say_nothing_about_idle_units(shared: Path) -> None:
    """Four engines were traced, one has waves: the others neither count as idle nor does the GPU follow from one."""
    answer = diagnose(opened(shared / "golden" / "gfx1200" / "profile_handwritten_run_0"))
    (finding,) = (finding for finding in answer.findings if finding.name == "CUs without work")
    assert finding.verdict == "About 1 of 8 WGPs of 1 shader engine with waves have work"
    assert "3 more traced without a wave, which are not counted" in finding.reason
