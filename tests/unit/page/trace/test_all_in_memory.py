"""A large trace that nothing keeps in files: the terminal, the losses and the page say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from wavewright.model.document import Library
from wavewright.page.inputs import add_inputs
from wavewright.page.trace.overview import overview_of_trace
from wavewright.readers.trace import att


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(tmp_path_factory.mktemp("inputs"), "large")
    write_capture(synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),))), folder)
    return folder


def opened(capture: Path) -> tuple[list[str], list[str]]:
    """What the terminal is told when the page looks at a capture, and the messages of its losses there."""
    notes: list[str] = []
    (document,) = add_inputs(Library(), [capture], tell=notes.append)
    losses = overview_of_trace(document)["losses"]
    return notes, [loss["message"] for loss in losses if loss["kind"] == "all_in_memory"]


def test_all_of_a_large_trace_in_memory_is_told(capture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(att, "LARGE_BYTES", 100)
    monkeypatch.setattr(att, "_BYTES_PER_INSTRUCTION", 10_000_000)
    monkeypatch.setenv("WAVEWRIGHT_CACHE", "")
    count = att.decode(capture).instructions.height
    notes, losses = opened(capture)
    assert len(notes) == len(losses) == 1
    assert f"up to {count / 100:.1f} GB" in losses[0]
    assert notes[0].startswith(f"large: {losses[0]}; unset WAVEWRIGHT_CACHE")


def test_small_traces_and_those_in_files_say_nothing(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAVEWRIGHT_CACHE", "")
    assert opened(capture) == ([], [])
    monkeypatch.setattr(att, "LARGE_BYTES", 100)
    monkeypatch.setenv("WAVEWRIGHT_CACHE", str(tmp_path))
    assert opened(capture) == ([], [])
