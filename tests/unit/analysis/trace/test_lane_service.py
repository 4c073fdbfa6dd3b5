"""How lanes are served: phases and banks, groups and segments, worked out by hand, and as the core counts them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from synth import Scenario, compiled, synthesize, write_capture
from tests.kit.small_traces import small_trace
from tests.kit.together import together
from wavewright import _core
from wavewright.analysis.trace.lanes import LaneOptions, lane_accesses, lane_patterns
from wavewright.analysis.trace.lanes.service import LaneService, lane_service
from wavewright.errors import UnsupportedError, UsageError
from wavewright.facts.lanes import lds_access, lds_rule
from wavewright.model.trace import ThreadTrace
from wavewright.readers.opening import open_trace

MASK = "v_and_b32_e32 v0, 0x3ff, v0"


@pytest.fixture(scope="module")
def gemm(tmp_path_factory) -> ThreadTrace:
    """A matrix multiplication whose waves all run 9 tiles."""
    folder = tmp_path_factory.mktemp("gemm")
    scenario = Scenario(
        kernels=(compiled("tiled_gemm", "gfx942"),), workgroups=2, waves_per_workgroup=4, waves_per_simd=4, loop_trips=8
    )
    write_capture(synthesize(scenario), folder)
    return open_trace(folder)


def one_wave(*texts: str) -> ThreadTrace:
    steps = [(row, "VALU", 8 * row, 0, 4) for row in range(len(texts))]
    return small_trace(list(texts), steps)


def served(*texts: str) -> LaneService:
    """How the last text is served in a workgroup of one wave."""
    return lane_service(one_wave(*texts), len(texts) - 1, LaneOptions(workgroup_size=(64, 1, 1)))


def test_a_column_of_one_bank_takes_a_cycle_for_each_lane():
    answer = served(MASK, "v_lshlrev_b32_e32 v1, 7, v0", "ds_read_b32 v2, v1")  # a stride of 32 dwords
    assert answer.patterns.row(0, named=True) == {
        "pattern": 0, "place": 0, "share": 1.0, "active_lane_count": 64, "ideal_cycles": 2, "extra_cycles": 62,
        "segment_count": None, "least_segment_count": None,
    }  # fmt: skip
    assert answer.phases["cycles"].to_list() == [32, 32]
    cells = answer.bank_cells
    assert cells.select("phase", "first_bank", "dword_count").rows() == [(0, 0, 32), (1, 0, 32)]
    assert cells["lanes"].to_list() == [list(range(32)), list(range(32, 64))]
    assert (answer.banks, answer.problem) == (32, "")


def test_lanes_that_want_the_same_dword_share_it():
    answer = served(MASK, "v_lshrrev_b32_e32 v1, 5, v0", "v_lshlrev_b32_e32 v1, 2, v1", "ds_read_b32 v2, v1")
    assert answer.patterns["extra_cycles"].to_list() == [0]
    assert answer.bank_cells.select("phase", "first_bank", "dword_count").rows() == [(0, 0, 1), (1, 1, 1)]


def test_banks_that_the_same_lanes_want_are_one_column():
    answer = served(MASK, "v_lshlrev_b32_e32 v1, 4, v0", "ds_read_b128 v[4:7], v1")
    assert answer.banks_per_column == 4
    assert set(answer.bank_cells["first_bank"]) == set(range(0, 32, 4))
    assert answer.patterns.select("ideal_cycles", "extra_cycles").rows() == [(8, 0)]


def test_costs_are_those_of_the_core_in_every_pattern(gemm):
    rows = lane_accesses(gemm).rows.filter(pl.col("cost_known_count") > 0)
    assert rows.height > 15
    for row in rows.iter_rows(named=True):
        answer = lane_service(gemm, row["row"])
        patterns = lane_patterns(gemm).filter(pl.col("row") == row["row"])
        access = lds_access(row["text"].split()[0])
        rule = lds_rule("gfx942", access.operation, access.width_bytes)
        dwords = np.array(patterns["address"].to_list(), np.int64).reshape(-1) // 4
        costs = _core.lds_costs(
            pl.Series(dwords.astype(np.uint32)), patterns["active"], rule.width_dwords, rule.banks, rule.phases
        )
        assert answer.patterns.select("ideal_cycles", "extra_cycles").rows() == pl.DataFrame(costs).rows()
        mean = (answer.patterns["extra_cycles"] * answer.patterns["share"]).sum()
        assert mean * row["cost_known_count"] == row["extra_cycles_total"]


def test_segments_of_loads_with_gaps():
    base = ("s_mov_b32 s0, 0x1000", "s_mov_b32 s1, 0")
    answer = served(MASK, *base, "v_lshlrev_b32_e32 v1, 5, v0", "global_load_dwordx2 v[2:3], v1, s[0:1]")
    assert (answer.group_lanes, answer.segment_bytes, answer.problem) == (16, 64, "")
    assert answer.patterns.select("segment_count", "least_segment_count").rows() == [(32, 8)]
    assert answer.groups.select("segment_count", "least_segment_count").rows() == [(8, 2)] * 4
    first = answer.segment_cells.filter(pl.col("group") == 0)
    assert first["offset_bytes"].to_list() == list(range(0, 512, 64))
    assert first["lanes"].to_list() == [[lane, lane + 1] for lane in range(0, 16, 2)]
    assert first["used_bytes"].to_list() == [16] * 8


@pytest.mark.slow
def test_segments_are_those_of_the_sums(gemm):
    options = LaneOptions(arguments=("0x18=144",), workgroup_size=(256, 1, 1))  # 9 tiles, as the loop ran
    known = lane_accesses(gemm, options).rows.filter(pl.col("space") == "memory", pl.col("cost_known_count") > 0)
    assert known.height
    for row in known.iter_rows(named=True):
        patterns = lane_service(gemm, row["row"], options).patterns
        for column in ("segment_count", "least_segment_count"):
            mean = (patterns[column] * patterns["share"]).sum()
            assert mean * row["cost_known_count"] == row[f"{column}_total"]


@together(
    "texts, problem",
    [
        (["v_lshlrev_b32_e32 v1, 4, v0", "ds_read_b96 v[4:6], v1"], "no rule is known for LDS reads of b96 on gfx942"),
        (["v_lshlrev_b32_e32 v1, 1, v0", "ds_read_b32 v2, v1"], "unaligned"),
        (
            ["ds_read_b32 v1, v0", "ds_read_b32 v2, v1"],
            "depends on data that row 1 (ds_read_b32 v1, v0) loads from LDS",
        ),
        (["v_lshlrev_b32_e32 v1, 5, v0", "global_load_dword v2, v1, s[0:1]"], "the alignment is not known"),
    ],
)
def test_what_is_not_known_is_not_drawn(texts, problem):
    answer = served(MASK, *texts)
    assert answer.problem.startswith(problem)
    assert not any(getattr(answer, name).height for name in LaneService.tables)


def test_rows_without_an_access_are_refused():
    trace = one_wave(MASK, "ds_read_b32 v2, v0")
    for row in (0, 2):
        with pytest.raises(UsageError, match=f"at row {row}"):
            lane_service(trace, row)
    trace.source = replace(trace.source, target=None)
    with pytest.raises(UnsupportedError):
        lane_service(trace, 1)
