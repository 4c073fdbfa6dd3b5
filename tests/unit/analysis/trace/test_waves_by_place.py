"""Waves by compute unit and SIMD: sums over tables made by hand, and over a made capture."""

from __future__ import annotations

import polars as pl
import pytest

from synth import Scenario, synthesize, write_capture
from tests.kit.made_traces import made
from tests.kit.ui_directories import frame
from wavewright.analysis.trace.selection import Selection, select
from wavewright.analysis.trace.waves.by_place import engines_per_die, waves_by_place
from wavewright.model.trace import ThreadTrace
from wavewright.readers.opening import open_trace


@pytest.fixture(scope="module")
def capture(tmp_path_factory) -> ThreadTrace:
    folder = tmp_path_factory.mktemp("capture")
    scenario = Scenario(shader_engines=2, workgroups=6, waves_per_workgroup=4, other_waves=60, seed=5)
    write_capture(synthesize(scenario), folder)
    return open_trace(folder)


def occupancy(events: list[tuple[int, int, int, int, bool]]) -> pl.DataFrame:
    """Events: cycle, cu, simd, slot, start."""
    names = ("time_cycles", "cu", "simd", "slot", "start")
    columns = dict(zip(names, ([event[at] for event in events] for at in range(5)), strict=True))
    return frame("occupancy", columns, se=0)


def test_resident_waves_are_counted_and_averaged():
    events = [(10, 2, 0, 0, True), (20, 3, 1, 0, True), (30, 3, 1, 0, False), (50, 2, 0, 0, False),
              (50, 2, 1, 4, True), (110, 2, 1, 4, False)]  # fmt: skip
    trace = made([], occupancy=occupancy(events))
    answer = waves_by_place(trace)
    assert (answer.start_cycles, answer.end_cycles) == (10, 110)
    columns = ("cu", "simd", "wave_count", "duration_cycles_mean", "resident_waves_mean", "traced_wave_count")
    assert answer.places.select(columns).rows() == [(2, None, 2, 50.0, 1.0, 0), (3, None, 1, 10.0, 0.1, 0)]
    by_simd = waves_by_place(trace, by="simd").places.select(columns[:4]).rows()
    assert by_simd == [(2, 0, 1, 40.0), (2, 1, 1, 60.0), (3, 1, 1, 10.0)]
    part = waves_by_place(trace, start_cycles=40, end_cycles=60).places
    assert part.select("cu", "wave_count", "duration_cycles_mean", "resident_waves_mean").rows() == [(2, 2, 50.0, 1.0)]
    assert part["stall_share"].to_list() == [None]


def test_an_empty_trace_has_no_places():
    assert waves_by_place(made([])).places.height == 0


@pytest.mark.parametrize("by", ["cu", "simd"])
def test_traced_waves_add_up_to_the_tables(capture, by):
    places = waves_by_place(capture, by=by).places
    assert places["traced_wave_count"].sum() == capture.waves.height
    assert places["instruction_count"].sum() == capture.instructions.height
    assert places["stall_cycles_total"].sum() == capture.instructions["stall_cycles"].sum()
    assert places["cycles_total"].sum() == (capture.waves["end_cycles"] - capture.waves["start_cycles"]).sum()
    where = ["se", "cu", *(["simd"] if by == "simd" else [])]
    starts = capture.occupancy.filter("start").group_by(where).len()
    joined = places.join(starts, on=where, how="left")
    assert joined.filter(pl.col("wave_count") < pl.col("len")).height == 0
    assert places["wave_count"].sum() >= starts["len"].sum()
    for first, se, cu in places.drop_nulls("first_wave").select("first_wave", "se", "cu").iter_rows():
        there = capture.waves.filter(se=se, cu=cu)
        assert first in there["wave"].to_list()
        if by == "cu":
            assert there["start_cycles"].min() == there.filter(wave=first)["start_cycles"].item()


def test_a_part_of_the_time_has_fewer_instructions(capture):
    middle = int(capture.waves["start_cycles"].min() + capture.waves["end_cycles"].max()) // 2
    part = select(capture, Selection(end_cycles=middle))
    places = waves_by_place(part, end_cycles=middle).places
    assert 0 < places["instruction_count"].sum() == part.instructions.height < capture.instructions.height


def test_dies_follow_from_the_number_of_the_engine():
    waves = [{"se": se, "begin": 10, "end": 20} for se in (0, 3, 4, 31)]
    trace = made(waves)
    assert waves_by_place(trace).places["xcc"].to_list() == [None] * 4
    trace.source = type(trace.source)(path="made", target="gfx942")
    assert waves_by_place(trace).places["xcc"].to_list() == [0, 0, 1, 7]
    assert engines_per_die("gfx90a") is None
