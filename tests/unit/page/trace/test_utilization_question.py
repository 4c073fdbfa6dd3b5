"""The question about the use of pipes, and the place of a wave's instructions."""

from __future__ import annotations

import json

import polars as pl
import pytest

from synth import Scenario, synthesize, write_capture
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.model.document import Document
from wavewright.page.payloads import ask
from wavewright.page.trace.curves import curves_of_trace
from wavewright.page.trace.waves import waves
from wavewright.readers.opening import open as open_path


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    folder = tmp_path_factory.mktemp("capture")
    write_capture(synthesize(Scenario(shader_engines=2, workgroups=3, seed=3)), folder)
    return Document(0, "capture", str(folder), lambda: open_path(folder))


def test_shares_are_those_of_the_analysis(document):
    expected = utilization(document.trace)
    found = json.loads(ask(document, "utilization", {}).content)
    assert found["pipes"]["rows"] == expected.pipes.to_dicts()
    assert found["bubble_share"] == expected.bubble_share
    assert "bubble" in found["definition"]


def busy_cycles(document: Document, level: int) -> pl.DataFrame:
    """For how long every curve of the pipes is 1, from the tiles of a level."""
    told = json.loads(ask(document, "pipe_curves", {}).content)
    width, length = 1 << level, int(told["end"] - told["begin"])
    tiles = range(-(-length // (told["tile_cells"] * width)))
    found = pl.concat([curves_of_trace(document, name="pipes", level=level, tile=tile) for tile in tiles])
    bin_cycles = pl.min_horizontal(pl.lit(width), length - pl.col("bin").cast(pl.Int64) * width)
    sums = found.group_by("series").agg(cycles=(pl.col("value") * bin_cycles).sum()).sort("series")
    return pl.DataFrame([one["keys"] for one in told["series"]]).with_columns(cycles=sums["cycles"].round(6))


@pytest.mark.parametrize("level", [0, 3, -1])
def test_curves_of_pipes_issue_as_the_analysis_says(document, level):
    answer = utilization(document.trace)
    levels = json.loads(ask(document, "pipe_curves", {}).content)["level_count"]
    found = busy_cycles(document, level % levels)
    for se, pipe, cycles in answer.by_engine.select("se", "pipe", "issue_cycles_total").iter_rows():
        assert found.filter(se=se, pipe=pipe)["cycles"].sum() == cycles
    for row in answer.bubbles.iter_rows(named=True):
        assert found.filter(se=row["se"], pipe="no issue")["cycles"].sum() == row["bubble_cycles_total"]
        resident = found.filter(se=row["se"], pipe="resident")
        assert resident["cycles"].sum() == row["resident_cycles_total"]
        assert (resident["end_cycles"] - resident["start_cycles"]).sum() == row["span_cycles_total"]


def test_every_instruction_lies_in_its_wave(document):
    listed = waves(document).filter(pl.col("instruction_count") > 0)
    owners = document.trace.instructions["wave"]
    for number, first, count in listed.select("wave", "first_instruction", "instruction_count").iter_rows():
        assert set(owners.slice(int(first), count)) == {number}
