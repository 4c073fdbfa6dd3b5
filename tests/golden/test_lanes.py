"""Lane addresses of real captures against counters of the same kernels, and coverage on traces of others.

The counters are those of the public runs named in `../shared/spec/spec_beyond.md` 1.7: SQ_LDS_BANK_CONFLICT,
SQ_LDS_IDX_ACTIVE and TCP_TOTAL_CACHE_ACCESSES, divided by the waves.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import polars as pl
import pytest

import wavewright
from tests.golden.oracle import SHARED
from wavewright.analysis.trace.lanes import lane_accesses
from wavewright.analysis.trace.lanes.evaluated import LaneOptions

if TYPE_CHECKING:
    from wavewright.analysis.trace.lanes import LaneAccesses

CAPTURES = SHARED / "data" / "att-mi300x-bmm"
DECODED = SHARED / "data" / "uiout-mi350x-flydsl"
#: M, N, K, batches, then batch, row and column strides of the three matrices, row major.
SIZES = ("0x0=128", "0x4=512", "0x8=128", "0xc=128", "0x28=16384,128,1", "0x34=65536,512,1", "0x40=65536,512,1")
COLUMN_MAJOR = ("0x0=256", "0x4=256", "0x8=128", "0xc=128", "0x28=32768,1,256", "0x34=32768,1,128", "0x40=65536,1,256")

pytestmark = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no shared data")


def _lanes(capture: str, *arguments: str) -> LaneAccesses:
    trace = wavewright.open(CAPTURES / capture / "raw", dispatch=3)
    return lane_accesses(trace, LaneOptions(arguments=arguments))


def _per_wave(answer: LaneAccesses, column: str) -> float:
    return float(answer.rows[column].sum()) / answer.wave_count


def test_lds_conflicts_without_any_argument() -> None:
    answer = _lanes("c04")
    assert _per_wave(answer, "extra_cycles_total") == 896
    assert _per_wave(answer, "ideal_cycles_total") + _per_wave(answer, "extra_cycles_total") == 1280
    lds = answer.rows.filter(pl.col("space") == "lds")
    assert lds["cost_known_count"].to_list() == lds["execution_count"].to_list()
    assert answer.rows.filter(pl.col("space") == "memory")["known_count"].sum() == 0


def test_l1_accesses_with_the_sizes_given() -> None:
    answer = _lanes("c04", *SIZES)
    assert _per_wave(answer, "segment_count_total") == 1024
    assert answer.rows["cost_known_count"].to_list() == answer.rows["execution_count"].to_list()
    assert answer.checked_branch_count == answer.branch_count > 0


def test_the_counter_rejects_a_wrong_layout() -> None:
    assert _per_wave(_lanes("c04", *COLUMN_MAJOR), "segment_count_total") > 4000


def test_the_slow_version_touches_many_segments() -> None:
    answer = _lanes("c03", *SIZES)
    assert answer.rows["segment_count_total"].sum() == 123_648 == 4416 * 28
    strided = answer.rows.filter(pl.col("segment_count_total") == 64 * pl.col("execution_count"))
    assert strided["text"].str.starts_with("global_load_ushort").all()
    assert strided.height == 4


@pytest.mark.slow
def test_coverage_of_decoded_traces() -> None:
    """97 % of LDS and half of the memory operations are known, the rest has a reason, no branch contradicts."""
    counts = dict.fromkeys(("lds", "memory"), (0, 0))
    folders = [path for path in sorted(DECODED.glob("*/*/ui_output*")) if "expected" not in path.parts]
    assert len(folders) == 16
    for folder in folders:
        answer = lane_accesses(wavewright.open(folder), LaneOptions(target="gfx950"))
        assert not [note for note in answer.notes if "contradict" in note or "does not follow" in note]
        for space, executed, understood in answer.rows.select("space", "execution_count", "known_count").iter_rows():
            counts[space] = (counts[space][0] + executed, counts[space][1] + understood)
        unknown = answer.rows.filter(pl.col("cost_known_count") < pl.col("execution_count"))
        assert unknown["reason"].is_not_null().all()
        reasons = answer.reasons.filter(~pl.col("is_cost")).group_by("row").agg(pl.col("execution_count").sum())
        missing = answer.rows.join(reasons, on="row", how="left", suffix="_unknown").fill_null(0)
        assert (missing["known_count"] + missing["execution_count_unknown"] == missing["execution_count"]).all()
    assert counts["lds"][1] >= 0.97 * counts["lds"][0]
    assert counts["memory"][1] >= 0.5 * counts["memory"][0]


@pytest.mark.slow
def test_the_largest_trace_takes_seconds() -> None:
    (folder,) = (DECODED / "softmax" / "big").glob("ui_output*")
    trace = wavewright.open(folder)
    trace.instructions  # noqa: B018 reading is not what is measured
    begin = time.process_time()
    lane_accesses(trace, LaneOptions(target="gfx950"))
    assert time.process_time() - begin < 3
