"""Thread traces in Hatchet and Pipit: their sums are those of the trace."""

from __future__ import annotations

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from wavewright.errors import UsageError
from wavewright.export.run.hatchet import to_hatchet as run_to_hatchet
from wavewright.export.run.pipit import to_pipit as run_to_pipit
from wavewright.export.trace.hatchet import to_hatchet
from wavewright.export.trace.pipit import to_pipit
from wavewright.model.trace import ThreadTrace
from wavewright.readers.trace.att import decode


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> ThreadTrace:
    folder = tmp_path_factory.mktemp("capture")
    write_capture(synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),), shader_engines=2)), folder)
    return decode(folder)


def test_hatchet(trace: ThreadTrace) -> None:
    pytest.importorskip("hatchet", reason="hatchet is not installed")
    frame = to_hatchet(trace).dataframe
    instructions = trace.instructions
    assert frame["cycles"].sum() == instructions["duration_cycles"].sum()
    assert frame["stall_cycles"].sum() == instructions["stall_cycles"].sum()
    assert frame["count"].sum() == instructions.height
    roots = frame[frame["type"] == "function"]
    assert roots["cycles (inc)"].sum() == instructions["duration_cycles"].sum()
    assert len(frame[frame["type"] == "instruction"]) == instructions["row"].n_unique()


def test_each_function_says_what_it_writes(trace: ThreadTrace) -> None:
    for write, module in ((run_to_hatchet, "hatchet"), (run_to_pipit, "pipit")):
        with pytest.raises(UsageError, match=f"ThreadTrace is not a run.*export.trace.{module}"):
            write(trace)  # type: ignore[arg-type]


def test_pipit(trace: ThreadTrace) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame = to_pipit(trace)
    assert len(frame) == 2 * (trace.waves.height + trace.instructions.height)
    assert set(frame["Process"]) == {0, 1}
    assert frame["Timestamp (ns)"].is_monotonic_increasing
    for _, events in frame.groupby("Thread"):
        names: list[str] = []
        for kind, name in zip(events["Event Type"], events["Name"], strict=True):
            if kind == "Enter":
                names.append(name)
            else:
                names.remove(name)  # of instructions that overlap, none is left that was not entered
        assert not names
    entered = frame[(frame["Event Type"] == "Enter") & (frame["Domain"] != "WAVE")]
    assert sorted(entered["Timestamp (ns)"]) == sorted(trace.instructions["time_cycles"])
