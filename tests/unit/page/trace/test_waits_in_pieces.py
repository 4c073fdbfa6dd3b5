"""What the page tells of waits without the table of all of them, which is large."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import wavewright
from synth import Scenario, compiled, synthesize, write_capture
from wavewright.analysis.trace import parts
from wavewright.analysis.trace.listing import wait_arrows
from wavewright.model.document import Library
from wavewright.model.trace import ThreadTrace
from wavewright.page.trace.overview import overview_of_trace
from wavewright.page.trace.waves import wave_waits


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], ThreadTrace]:
    folder = Path(tmp_path_factory.mktemp("capture"))
    scenario = Scenario(kernels=(compiled("tiled_gemm", "gfx942"),), shader_engines=2, workgroups=3)
    write_capture(synthesize(scenario), folder)
    return lambda: wavewright.open(folder)


@pytest.mark.parametrize("most_rows", [1, 500, 1_000_000])
def test_arrows_are_those_of_the_table(
    opened: Callable[[], ThreadTrace], most_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "_PIECE_ROWS", most_rows)
    trace, other = opened(), opened()
    arrows = wait_arrows(trace)
    keys = [pl.col("row").alias("wait_row"), "producer_row", "counter"]
    of_table = other.waits.group_by(keys).agg(count=pl.len().cast(pl.Int64)).sort("wait_row", "producer_row", "counter")
    assert arrows.equals(of_table)
    assert arrows["count"].sum() == other.waits.height > 0
    assert "waits" not in trace.tables


def test_waits_of_a_wave_are_those_of_the_table(opened: Callable[[], ThreadTrace]) -> None:
    trace, other = opened(), opened()
    document = Library().add("capture", "", lambda: trace)
    wave, first = other.waves.select("wave", "first_instruction").row(-1)
    shown = wave_waits(document, wave=wave)
    of_table = other.waits.filter(pl.col("wave") == wave)
    assert shown["instruction"].to_list() == [place - first for place in of_table["instruction"]]
    assert shown["producer"].to_list() == [place - first for place in of_table["producer"]]
    assert shown.drop("instruction", "producer").equals(of_table.select("row", "producer_row", "counter"))
    assert "waits" not in trace.tables
    trace.table("waits")
    assert wave_waits(document, wave=wave).equals(shown)


def test_the_overview_tells_that_there_are_waits(opened: Callable[[], ThreadTrace]) -> None:
    trace = opened()
    document = Library().add("capture", "", lambda: trace)
    assert overview_of_trace(document)["holds"]["waits"] == 1
    assert "waits" not in trace.tables
    without = ThreadTrace({name: trace.table(name) for name in ("code", "waves", "shader_engines")}, trace.source)
    assert overview_of_trace(Library().add("none", "", lambda: without))["holds"]["waits"] == 0
