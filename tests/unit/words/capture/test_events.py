from __future__ import annotations

import pytest

from tests.kit.together import together
from wavewright.words.capture.events import event_line, progress_line

ESC = chr(27)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        ({"event": "judged", "attempt": 2, "verdict": "good", "reasons": ["20 waves."]}, "attempt 2: good: 20 waves"),
        (
            {"event": "judged", "attempt": 1, "verdict": "failed", "reasons": [f"{ESC}[2J"]},
            "attempt 1: failed: \\x1b[2J",
        ),
        ({"event": "judged", "attempt": 1, "verdict": "empty"}, "attempt 1: empty"),
        (
            {"event": "retry", "attempt": 2, "why": "a larger buffer", "pause_seconds": 10},
            "attempt 2: a larger buffer, after 10 s",
        ),
        (
            {"event": "ended", "attempt": 1, "stopped": "timeout", "seconds": 900},
            "attempt 1 did not end in 900 s and was stopped",
        ),
        (
            {"event": "ended", "attempt": 1, "pass": 2, "passes": 3, "problem": "no such file"},
            "attempt 1, pass 2 of 3 could not be started: no such file",
        ),
        (
            {"event": "discovered", "notes": ["gemm, launch 3 of 4", "only one is warm"]},
            "discovery: gemm, launch 3 of 4\n  only one is warm",
        ),
        ({"event": "interrupted", "attempt": 3}, "attempt 3 was interrupted"),
    ],
)
def test_lines(event: dict[str, object], line: str) -> None:
    text = event_line(event)
    assert text is not None
    assert text.text == line


@together("event", [{"event": "ended", "attempt": 1, "status": 0}, {"event": "planned"}, {"event": "x"}, {}])
def test_events_without_a_line(event: dict[str, object]) -> None:
    assert event_line(event) is None


def test_progress() -> None:
    running = {"event": "running", "attempt": 1, "pass": 2, "passes": 3, "seconds": 12.4}
    assert progress_line(running) == "attempt 1, pass 2 of 3 runs, 12 s"
    assert progress_line({"event": "discovery started", "pass": 1, "passes": 1}) == "the discovery runs"
    assert progress_line({"event": "ended", "attempt": 2}) == "attempt 2 is judged"
    assert progress_line({"event": "note", "text": "x"}) is None
