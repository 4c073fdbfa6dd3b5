"""Floors of real captures: numbers that counters of the same kernels gave, and no floor above the time that passed."""

from __future__ import annotations

from functools import cache

import polars as pl
import pytest

import wavewright
from tests.conftest import SHARED
from tests.kit.sampling import every_third
from wavewright import ThreadTrace
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.analysis.trace.floors import floors
from wavewright.analysis.trace.floors.executions import PIPE_OF_CATEGORY, rate_of
from wavewright.analysis.trace.lanes import lane_accesses
from wavewright.analysis.trace.lanes.answer import lanes
from wavewright.analysis.trace.lanes.evaluated import LaneOptions
from wavewright.analysis.trace.pipes import matrix_rows
from wavewright.facts import gpus
from wavewright.model.schema import CATEGORIES
from wavewright.words.trace.lane_access.floors import floor_sentences

MI300X = SHARED / "data" / "att-mi300x-bmm"
MI350X = SHARED / "data" / "uiout-mi350x-flydsl"
pytestmark = pytest.mark.skipif(not MI300X.is_dir(), reason="../shared/data is not here")

SIZES = ("0x0=128", "0x4=512", "0x8=128", "0xc=128", "0x28=16384,128,1", "0x40=65536,512,1")
ROW_MAJOR, COLUMN_MAJOR = "0x34=65536,512,1", "0x34=65536,1,128"
#: Counters of c04's kernel, per wave.
COUNTED = {"SQ_LDS_BANK_CONFLICT": 896, "SQ_LDS_IDX_ACTIVE": 1280, "TCP_TOTAL_CACHE_ACCESSES": 1024}


@cache
def raw(capture: str, dispatch: int) -> ThreadTrace:
    return wavewright.decode(MI300X / capture / "raw", dispatch=dispatch)


def decoded(capture: str, dispatch: int) -> ThreadTrace:
    (folder,) = (MI300X / capture).glob(f"ui_output_agent_*_dispatch_{dispatch}")
    trace = wavewright.open(folder)
    assert isinstance(trace, ThreadTrace)
    return trace


def test_the_l1_cache_is_the_floor_of_c03() -> None:
    options = LaneOptions(arguments=(*SIZES, ROW_MAJOR))
    answer = floors(raw("c03", 3), options)
    assert answer.largest is not None
    assert answer.best is not None
    assert answer.span_cycles_total == 150_540
    assert (answer.largest.pipe, answer.largest.cycles, answer.largest.is_whole) == ("L1", 28 * 4416, True)
    assert round(answer.largest.share, 2) == 0.82
    assert answer.speedup_max == pytest.approx(1.2175, abs=1e-4)
    (first, second) = floor_sentences(answer)
    assert first.startswith("this code cannot be faster than 123,648 cycles (L1: 82 % of the span, a hypothesis)")
    assert first.endswith("no reordering gains more than 1.22 times")
    # eight loads of 16 rounds and 16 stores, 4 segments each if coalesced
    assert answer.best.cycles == 28 * 4 * (8 * 16 + 16)
    assert "9.33 times" in second
    assert answer.changes.filter(pipe="L1")["saved_cycles_total"].to_list() == [28 * 16 * 60] * 4
    assert answer.pipes.filter(pipe="L1")["confidence"].to_list() == ["hypothesis"]


def test_raw_and_decoded_spans_are_equal() -> None:
    assert floors(decoded("c03", 3)).span_cycles_total == floors(raw("c03", 3)).span_cycles_total


def test_without_arguments_the_l1_cache_has_no_floor() -> None:
    answer = floors(raw("c03", 3))
    l1 = answer.pipes.filter(pipe="L1").row(0, named=True)
    assert (l1["counted_count"], l1["floor_cycles_total"]) == (0, None)


def test_the_access_pattern_of_c03_is_the_cause() -> None:
    answer = diagnose(raw("c03", 3), lanes=LaneOptions(arguments=(*SIZES, ROW_MAJOR)))
    first = answer.findings[0]
    (cause,) = first.lane_causes
    assert (cause.verdict, cause.pipe, cause.rows) == ("cause", "L1", (2719, 2720, 2721, 2722))
    assert "64 cycles of the L1 cache per execution, 4 if coalesced" in first.reason
    assert first.remedies[0].rows == cause.rows
    assert first.gain_share_max <= 1 - 16_128 / 150_540 + 1e-9
    silent = diagnose(raw("c03", 3)).findings[0]
    assert silent.lane_causes == ()


def test_conflicts_of_c02_are_a_part_of_its_wait_for_lds() -> None:
    """896 of 1,280 LDS cycles of each of 4 waves are lost, as `lanes` says; its LDS stalls are 10,504 cycles."""
    (finding,) = [finding for finding in diagnose(raw("c02", 3)).findings if finding.name == "wait LDS"]
    (cause,) = finding.lane_causes
    assert (cause.verdict, cause.saved_cycles_total) == ("part", 4 * 896)
    assert cause.explained_share == pytest.approx(4 * 896 / 10_504, abs=0.001)
    assert "loses 24 LDS cycles per execution" in finding.reason
    assert "3,584 of the 5,120 cycles of LDS (70 %)" in finding.reason
    rows = lanes(raw("c02", 3)).rows.filter(space="lds")
    extra, ideal = int(rows["extra_cycles_total"].sum()), int(rows["ideal_cycles_total"].sum())
    assert (extra, extra + ideal) == (3_584, 5_120)


def _predicted(layout: str) -> dict[str, float]:
    """Counters per wave, from the lane addresses of c04 with one layout of its matrices."""
    answer = lane_accesses(raw("c04", 3), LaneOptions(arguments=(*SIZES, layout)))
    lds, memory = (answer.rows.filter(space=space) for space in ("lds", "memory"))
    extra, ideal = (int(lds[f"{name}_cycles_total"].sum()) for name in ("extra", "ideal"))
    totals = (extra, extra + ideal, int(memory["segment_count_total"].sum()))
    return {name: total / answer.wave_count for name, total in zip(COUNTED, totals, strict=True)}


def test_counters_of_c04_tell_the_layout_in_memory() -> None:
    assert _predicted(ROW_MAJOR) == COUNTED
    assert _predicted(COLUMN_MAJOR) == COUNTED | {"TCP_TOTAL_CACHE_ACCESSES": 4864}


@pytest.mark.first_case
@pytest.mark.parametrize("capture", every_third(f"c{number:02}" for number in range(1, 14)))
def test_no_span_contradicts_a_floor(capture: str) -> None:
    for dispatch in (1, 2 if capture == "c01" else 3):
        answer = floors(raw(capture, dispatch))
        assert not [note for note in answer.notes if "rate is wrong" in note]
        for row in answer.pipes.drop_nulls("floor_cycles_total").iter_rows(named=True):
            assert row["counted_count"] <= row["execution_count"]
            assert 0 <= row["span_share"] <= 1


@pytest.mark.parametrize("capture", ["c03", "c04", "c08"])
def test_no_simd_issues_faster_than_the_rates_say(capture: str) -> None:
    """64 issues in a row take at least as long as the rates say; vector instructions of two waves go at once."""
    trace = raw(capture, 3)
    code = trace.code.select("row", is_matrix=matrix_rows(trace.code))
    pipes = {number: PIPE_OF_CATEGORY[name] for number, name in CATEGORIES.items() if name in PIPE_OF_CATEGORY}
    issues = (
        trace.instructions.join(trace.waves.select("wave", "se", "cu", "simd"), on="wave")
        .join(code, on="row", how="left")
        .filter(~pl.col("is_matrix") & pl.col("category").is_in(list(pipes)))
        .with_columns(
            pipe=pl.col("category").replace_strict(pipes, return_dtype=pl.String),
            time=pl.col("time_cycles") + pl.col("stall_cycles"),
        )
        .sort("time")
    )
    simd = ["se", "cu", "simd", "pipe"]
    took = issues.with_columns(took=(pl.col("time") - pl.col("time").shift(63)).over(simd)).drop_nulls("took")
    shortest = dict(took.group_by("pipe").agg(pl.col("took").min()).iter_rows())
    assert shortest
    for pipe, cycles in shortest.items():
        assert cycles >= 4 * (64 // rate_of(pipe, 9, ("gfx942",)).per_step - 1)
    if capture == "c03":
        assert shortest["VALU"] < 4 * 63  # so that a rate of one would be wrong


@pytest.mark.skipif(not MI350X.is_dir(), reason="../shared/data is not here")
def test_vector_instructions_wait_for_each_other_although_some_issue_together() -> None:
    """The port model, from the records alone: two at once at best, and stalls of one issue stand behind one of them."""
    (path,) = (MI350X / "rmsnorm" / "big").glob("ui_output_agent_*")
    trace = wavewright.open(path)
    assert isinstance(trace, ThreadTrace)
    vector = next(number for number, name in CATEGORIES.items() if name == "VALU")
    places = trace.waves.select("wave", unit=pl.struct("se", "cu", "simd"))
    executed = trace.instructions.filter(category=vector).join(places, on="wave")
    executed = executed.with_columns(issue=pl.col("time_cycles") + pl.col("stall_cycles"))
    together = executed.group_by("unit", "issue").agg(count=pl.len())
    assert together["count"].max() == gpus.of("gfx950").valu_issues_max == 2
    assert 0.05 < (together["count"] == 2).mean() < 0.2  # type: ignore[operator]
    stalled = executed.filter(stall_cycles=4).select("unit", issue="time_cycles")
    ahead = stalled.join(together, on=["unit", "issue"], how="left")["count"].fill_null(0)
    assert (ahead > 0).mean() > 0.7  # type: ignore[operator]
    assert (ahead > 1).mean() < 0.3  # type: ignore[operator]
