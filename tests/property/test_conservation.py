"""What holds for every trace, whatever it says: nothing is counted twice and nothing is left out."""

from __future__ import annotations

import tempfile

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wavewright
from synth import synthesize, write_capture
from tests.kit.sampling import examples
from tests.property.roundtrip import decode
from tests.property.scenarios import TARGETS, scenarios
from wavewright.analysis.trace.costs.row_costs import row_totals

FAMILIES = tuple(TARGETS)
quick = settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def decoded(data: st.DataObject, family: str) -> dict[str, pl.DataFrame]:
    return decode(synthesize(data.draw(scenarios(family, whole=True))).traces[0])[1]


@pytest.mark.first_case
@pytest.mark.parametrize("family", FAMILIES)
@quick
@given(data=st.data())
def test_state_durations_cover_the_wave(family: str, data: st.DataObject) -> None:
    tables = decoded(data, family)
    life = (
        tables["waves"]
        .with_row_index("wave")
        .select(pl.col("wave").cast(pl.UInt32), cycles=pl.col("end_cycles") - pl.col("start_cycles"))
    )
    covered = tables["states"].group_by("wave").agg(covered=pl.col("duration_cycles").sum().cast(pl.Int64))
    both = life.join(covered, on="wave", how="left")
    assert both["cycles"].to_list() == both["covered"].to_list()


@pytest.mark.parametrize("family", FAMILIES)
@quick
@given(data=st.data())
def test_waves_own_their_instructions_and_states(family: str, data: st.DataObject) -> None:
    tables = decoded(data, family)
    waves = tables["waves"]
    for first, count, table in (
        ("first_instruction", "instruction_count", "instructions"),
        ("first_state", "state_count", "states"),
    ):
        assert waves[count].sum() == tables[table].height
        assert waves[first].to_list() == [0, *waves[count].cum_sum().to_list()[:-1]]
        owners = [number for number, amount in enumerate(waves[count].to_list()) for _ in range(amount)]
        assert tables[table]["wave"].to_list() == owners


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("family", FAMILIES)
@quick
@given(data=st.data())
def test_instructions_lie_inside_their_wave_and_stall_inside_themselves(family: str, data: st.DataObject) -> None:
    tables = decoded(data, family)
    waves = tables["waves"].with_row_index("wave").cast({"wave": pl.UInt32})
    rows = tables["instructions"].join(waves.select("wave", "start_cycles", "end_cycles"), on="wave")
    assert (rows["time_cycles"] >= rows["start_cycles"]).all()
    assert (rows["time_cycles"] + rows["duration_cycles"] <= rows["end_cycles"]).all()
    assert (rows["stall_cycles"] >= 0).all()
    assert (rows["stall_cycles"] <= rows["duration_cycles"]).all()


@pytest.mark.first_case
@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_row_totals_are_the_sums_of_the_truth(family: str, data: st.DataObject) -> None:
    """From a capture folder on disk to the totals per code row, against sums over the ground truth."""
    capture = synthesize(data.draw(scenarios(family, whole=True)))
    truth = capture.traces[0].truth
    with tempfile.TemporaryDirectory() as folder:
        files = write_capture(capture, folder)
        listings = [file for file in files if file.name.endswith(".isa.tsv")]
        located = [f"{f}@{o.load_address}:{o.id}" for f, o in zip(listings, capture.code_objects, strict=True)]
        trace = wavewright.decode([files[-1]], code_objects=located)
    totals = row_totals(trace).join(trace.code, on="row")
    barriers = trace.code.filter(pl.col("text").str.starts_with("s_barrier"))
    places = set(barriers.select("code_object", "address").iter_rows()) if family == "gfx9" else set()
    expected: dict[tuple[int, int], list[int]] = {}
    for *_, stall, duration, _, code_object, address in truth.rows["instructions"]:
        total = expected.setdefault((code_object, address), [0, 0, 0])
        for at, amount in enumerate((1, duration, stall)):
            total[at] += amount
    for place in places & expected.keys():  # arrival and release are two records of one execution
        expected[place][0] //= 2
    found = {
        (row["code_object"], row["address"]): [
            row["hit_count"], row["latency_cycles_total"], row["stall_cycles_total"]
        ]
        for row in totals.iter_rows(named=True)
    }  # fmt: skip
    assert found == expected


@pytest.mark.parametrize("family", FAMILIES)
@quick
@given(data=st.data())
def test_every_traced_wave_is_in_the_occupancy(family: str, data: st.DataObject) -> None:
    tables = decoded(data, family)
    key = ["cu", "simd", "slot"]
    occupancy = tables["occupancy"]
    end_is_later = 4 if family == "gfx9" else 0  # a gfx9 wave's record ends one issue step behind its occupancy
    for start, time in ((1, "start_cycles"), (0, "end_cycles")):
        seen = occupancy.filter(pl.col("start") == start).select(*key, pl.col("time_cycles"))
        shift = end_is_later if start == 0 else 0
        waves = tables["waves"].select(*key, time_cycles=pl.col(time) - shift)
        assert waves.join(seen, on=[*key, "time_cycles"], how="anti").height == 0
