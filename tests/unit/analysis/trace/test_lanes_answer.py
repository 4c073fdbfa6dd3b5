"""Bank conflicts and segments of code whose addresses can be worked out by hand."""

from __future__ import annotations

import polars as pl
import pytest

from tests.kit.small_traces import small_trace
from wavewright.analysis.trace.code.attribution import LANE_SUMS
from wavewright.analysis.trace.costs.hotspots import hotspots
from wavewright.analysis.trace.lanes.answer import lane_sums, lanes
from wavewright.analysis.trace.lanes.pattern import lane_ranges, row_pattern
from wavewright.analysis.trace.listing import isa_listing
from wavewright.analysis.trace.listing.source_lines import source_listing
from wavewright.analysis.trace.selection import Selection, select
from wavewright.errors import UnsupportedError, UsageError

# Rows of 32 dwords: lane n reads column 0 of row n, so that all lanes meet in bank 0.
TEXTS = [
    "v_lshlrev_b32_e32 v1, 7, v0",
    "ds_read_b32 v2, v1",
    "v_lshlrev_b32_e32 v3, 2, v0",
    "ds_write_b32 v3, v2",
    "s_waitcnt lgkmcnt(0)",
    "global_load_dword v4, v3, s[0:1]",
    "s_endpgm",
]
PLACES = ["k.hip:10", "k.hip:10", "k.hip:11", "k.hip:11", "k.hip:12", "k.hip:13", "k.hip:14"]
STEPS = [
    (0, "VALU", 4, 0, 4),
    (1, "LDS", 8, 0, 4),
    (2, "VALU", 12, 0, 4),
    (3, "LDS", 16, 0, 4),
    (4, "IMMED", 20, 96, 100),
    (5, "VMEM", 124, 0, 4),
    (6, "MSG", 128, 0, 4),
]
READ, WRITE, LOAD = 1, 3, 5
HALF = 32  # lanes of a phase of 4-byte accesses on gfx942


@pytest.fixture
def trace():
    return small_trace(TEXTS, STEPS, places=PLACES)


def test_rows_come_by_extra_cycles(trace):
    answer = lanes(trace)
    assert answer.rows["row"].to_list() == [READ, WRITE, LOAD]
    read, write, load = answer.rows.to_dicts()
    assert (read["ideal_cycles_total"], read["extra_cycles_total"]) == (2, 2 * (HALF - 1))
    assert (write["ideal_cycles_total"], write["extra_cycles_total"]) == (2, 0)
    assert read["requested_bytes_total"] == 64 * 4 and read["active_lane_share"] == 1.0
    assert load["cost_known_count"] == 0 and load["reason"]
    assert (answer.wave_count, answer.path_count) == (1, 1)


def test_extra_cycles_explain_at_most_themselves(trace):
    read, write, _ = lanes(trace).rows.to_dicts()
    assert read["awaited_stall_cycles_total"] == 96
    assert read["explained_stall_share"] == pytest.approx(62 / 96)
    assert write["awaited_stall_cycles_total"] is None and write["explained_stall_share"] is None


def test_a_short_wait_is_explained_as_a_whole():
    steps = [(*step[:3], 10, 14) if step[0] == 4 else step for step in STEPS]
    read = lanes(small_trace(TEXTS, steps)).rows.row(0, named=True)
    assert (read["awaited_stall_cycles_total"], read["explained_stall_share"]) == (10, 1.0)


def test_lines_add_up_their_rows(trace):
    by_line = {row["line"]: row for row in lanes(trace).lines.to_dicts()}
    assert sorted(by_line) == [10, 11, 13]
    assert by_line[10]["extra_cycles_total"] == 62 and by_line[11]["extra_cycles_total"] == 0
    assert by_line[10]["segment_count_total"] is None
    assert by_line[13]["segment_count_total"] is None  # an access, but nothing is known of it


def test_only_some_rows(trace):
    answer = lanes(trace, rows=pl.Series([WRITE], dtype=pl.Int32))
    assert answer.rows["row"].to_list() == [WRITE] and answer.lines["line"].to_list() == [11]


def test_padding_removes_the_conflicts(trace):
    assert lanes(trace).fixes.is_empty()
    fixes = lanes(trace, fixes=True).fixes
    best = fixes.filter(pl.col("kind") == "padding").row(0, named=True)
    assert best["text"] == "pad rows of 32 dwords by 1 dword"
    assert best["removed_cycles_total"] == best["extra_cycles_total"] == 62
    assert best["added_share"] == 1 / 32


def test_a_fix_holds_wherever_the_array_lies(trace):
    """Addresses are kept up to multiples of 64 dwords: no layout may depend on more."""
    fixes = lanes(trace, fixes=True).fixes
    for text in fixes["text"].to_list():
        assert 64 % int(text.split("rows of ")[1].split()[0]) == 0


def test_the_lanes_of_one_row(trace):
    pattern = row_pattern(trace, READ)
    assert pattern.groups["count"].to_list() == [HALF, HALF]
    assert pattern.groups["bank"].to_list() == [0, 0]
    assert pattern.groups["colliding"].to_list() == ["0-31", "32-63"]
    assert pattern.groups["fixed_count"].to_list() == [1, 1]
    assert pattern.lanes["address_bytes"].to_list() == [128 * lane for lane in range(64)]
    assert pattern.lanes["is_colliding"].all() and pattern.fix
    fine = row_pattern(trace, WRITE)
    assert fine.groups["count"].to_list() == [1, 1] and not fine.lanes["is_colliding"].any() and not fine.fix


@pytest.mark.parametrize(
    ("row", "words"), [(LOAD, "nothing is certain"), (0, "not a memory instruction"), (99, "there is no row 99")]
)
def test_a_row_without_a_pattern_says_why(trace, row, words):
    with pytest.raises(UsageError, match=words):
        row_pattern(trace, row)


def test_a_part_of_a_wave_is_refused(trace):
    part = select(trace, Selection(start_cycles=10))
    for ask in (lanes, lane_sums, lambda trace: row_pattern(trace, READ)):
        with pytest.raises(UsageError, match="start of a wave"):
            ask(part)


def test_an_unknown_gpu_is_refused():
    trace = small_trace(TEXTS, STEPS)
    trace.source = type(trace.source)(path="small")
    with pytest.raises(UnsupportedError, match="which GPU"):
        lanes(trace)


def test_columns_are_there_only_if_asked_for(trace):
    for frame in (hotspots(trace).units, isa_listing(trace).rows, source_listing(trace).lines):
        assert frame.select(LANE_SUMS).null_count().row(0) == (frame.height, frame.height)
    sums = lane_sums(trace)
    units = hotspots(trace, lane_sums=sums).units
    assert dict(units.select("first_row", "extra_lds_cycles_total").iter_rows())[READ] == 62
    assert hotspots(trace, by="line", lane_sums=sums).units["extra_lds_cycles_total"].sum() == 62
    assert isa_listing(trace, lane_sums=sums).rows["extra_lds_cycles_total"].to_list() == [0, 62, 0, 0, 0, 0, 0]
    lines = source_listing(trace, lane_sums=sums).lines
    assert dict(lines.select("line", "extra_lds_cycles_total").iter_rows())[10] == 62
    with pytest.raises(UsageError, match="not to kernels"):
        hotspots(trace, by="kernel", lane_sums=sums)
    with pytest.raises(UsageError, match="all executions"):
        isa_listing(trace, iteration=0, lane_sums=sums)


def test_ranges_of_lanes():
    assert lane_ranges([]) == "" and lane_ranges([5]) == "5" and lane_ranges([3, 1, 2, 9]) == "1-3 9"
