"""Large captures are asked about one shader engine after the other: the same answers, without all instructions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from synth import Scenario, compiled, synthesize, write_capture
from tests.cli.in_process import call
from tests.kit.sampling import every_third
from wavewright.analysis.trace.about.overview import overview
from wavewright.analysis.trace.costs.hotspots import hotspots
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.analysis.trace.stalls import stalls
from wavewright.analysis.trace.waves.states import states
from wavewright.errors import WavewrightError
from wavewright.model.trace import ThreadTrace
from wavewright.readers.files.capture import find_capture
from wavewright.readers.opening import open_trace
from wavewright.readers.trace import att
from wavewright.readers.trace import buffers as _buffers

BY = ("instruction", "kernel", "loop")
ASKED = [
    ("info",),
    *(("hotspots", "--by", unit) for unit in BY),
    ("hotspots", "--amd"),
    ("hotspots", "--se", "1"),
    ("hotspots", "--time", "0:100000"),
    ("stalls",),
    ("stalls", "--classic"),
    ("states",),
    ("states", "--bins", "7", "--simd", "0"),
    ("states", "--counters"),
]


@pytest.fixture(scope="module", params=["gfx9", "gfx12", "real gfx1200"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture of several shader engines; the synthetic ones run two kernels."""
    if request.param == "real gfx1200":
        shared: Path = request.getfixturevalue("shared")
        return shared / "golden" / "gfx1200" / "profile_gemm_run_0"
    path = tmp_path_factory.mktemp("capture") / request.param
    engines = Scenario(
        family=request.param, shader_engines=3, dispatches=2, workgroups=2, realtime_pairs=2, other_waves=4
    )
    if request.param == "gfx9":
        kernels = tuple(compiled(name, "gfx942") for name in ("tiled_gemm", "reduction"))
        engines = replace(engines, kernels=kernels)
    write_capture(synthesize(engines), path)
    return path


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every capture counts as large, and no two of its shader engines fit together."""
    monkeypatch.setattr(_buffers, "GROUP_BYTES", 1)


@pytest.mark.first_case
@pytest.mark.parametrize("asked", every_third(ASKED), ids=" ".join)
def test_the_answer_is_the_same_engine_by_engine(
    folder: Path, asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = call(*asked, folder, "--json")
    monkeypatch.setattr(_buffers, "GROUP_BYTES", 1)
    by_engine = call(*asked, folder, "--json")
    assert by_engine == whole
    assert whole.status == 0, whole.stderr


@pytest.mark.some_cases(3)
@pytest.mark.usefixtures("one_by_one")
@pytest.mark.parametrize(
    "ask",
    [
        *(lambda trace, unit=unit: hotspots(trace, by=unit) for unit in BY),
        stalls,
        states,
        utilization,
        overview,
    ],
    ids=[*(f"hotspots by {unit}" for unit in BY), "stalls", "states", "utilization", "overview"],
)
def test_an_answer_that_is_a_sum_never_has_all_instructions(folder: Path, ask: Callable[[ThreadTrace], Any]) -> None:
    trace = open_trace(folder, in_parts=True)
    ask(trace)
    assert trace.parts is not None
    assert not {"instructions", "states"} & set(trace.tables)


@pytest.mark.usefixtures("one_by_one")
def test_the_parts_make_up_the_trace(folder: Path) -> None:
    whole = open_trace(folder)
    counted = open_trace(folder, in_parts=True)
    assert counted.executed == replace(whole, counted=None).executed
    first = 0
    for part in counted.each_part():
        for table in ("instructions", "states"):
            assert part.table(table)["wave"].is_in(part.waves["wave"].implode()).all()
        assert part.instructions.equals(whole.instructions.slice(first, part.instructions.height))
        first += part.instructions.height
    assert first == whole.instructions.height
    for table in ("waves", "instructions", "states", "occupancy", "code", "kernels", "losses"):
        assert counted.table(table).equals(whole.table(table)), table


@pytest.mark.usefixtures("one_by_one")
def test_a_file_that_changes_meanwhile_is_named(tmp_path: Path) -> None:
    kernel = compiled("saxpy", "gfx942")
    write_capture(synthesize(Scenario(kernels=(kernel,), shader_engines=2)), tmp_path)
    trace = open_trace(tmp_path, in_parts=True)
    last = sorted(tmp_path.glob("*.att"))[-1]
    last.write_bytes(last.read_bytes()[:64])
    with pytest.raises(WavewrightError, match=r"where there were [1-9].* before; something writes") as error:
        stalls(trace)
    assert last.name in error.value.where


def test_kernels_that_are_entered_late_are_found(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code without a load address is placed by the entries at the beginning, and again when there are others."""
    capture = find_capture([shared / "golden" / "gfx1200" / "profile_gemm_run_0"])
    first = att.decode_window(capture, capture.windows[0])
    assert "guessed_load_address" in first.losses["kind"]
    monkeypatch.setattr(att, "SCANNED_BYTES", 16)
    again = att.decode_window(capture, capture.windows[0])
    for table in ("instructions", "waves", "occupancy", "kernels", "losses"):
        assert again.table(table).equals(first.table(table)), table
