"""Omniprobe's accesses beside code rows: which rows they meet, and which averages are equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from synth.omniprobe import ProbedAccess, ProbedKernel, json_log
from tests.kit.small_traces import small_trace
from wavewright.analysis.trace.lanes.omniprobe import COMPARISON, LINES, omniprobe_by_line, omniprobe_comparison
from wavewright.readers.trace.omniprobe import read_omniprobe

CODE = [
    ("global_load_dwordx4 v[0:3], v4, s[0:1]", "/build/src/gemm.hip:10"),
    ("global_load_dwordx4 v[8:11], v5, s[0:1]", "/build/src/gemm.hip:10"),
    ("ds_write_b128 v6, v[0:3]", "/build/src/gemm.hip:11"),
    ("ds_read_b128 v[0:3], v7", "/build/src/gemm.hip:12"),
    ("ds_read_b128 v[0:3], v7 offset:16", "/build/src/gemm.hip:12"),
    ("global_store_dword v4, v0, s[2:3]", "/build/src/gemm.hip:12"),
    ("v_add_f32_e32 v0, v1, v2", "/build/src/gemm.hip:12"),
    ("ds_add_u32 v0, v1", "/build/src/gemm.hip:13"),
    ("s_load_dwordx2 s[0:1], s[4:5], 0x0", "/build/src/gemm.hip:14"),
    ("global_load_dword v0, v1, off", "/build/one/util.h:5"),
    ("global_load_dword v0, v1, off", "/build/two/util.h:5"),
]
ACCESSES = (
    ProbedAccess("/home/me/src/gemm.hip", 10, 7, "read", 100, 16, 16, needed=1600, used=2400),
    ProbedAccess("/home/me/src/gemm.hip", 11, 3, "write", 50, 16, bank_conflicts=400),
    ProbedAccess("/home/me/src/gemm.hip", 12, 9, "read", 60, 16, bank_conflicts=0),
    ProbedAccess("/home/me/src/gemm.hip", 12, 30, "read", 40, 16, bank_conflicts=200),
    ProbedAccess("/home/me/src/gemm.hip", 13, 1, "read_write", 10, 4, bank_conflicts=1),
    ProbedAccess("/home/me/src/gemm.hip", 99, 1, "read", 10, 4, needed=1, used=1),
    ProbedAccess("/else/util.h", 5, 1, "read", 10, 4, needed=1, used=1),
    ProbedAccess("/else/two/util.h", 5, 1, "read", 10, 4, needed=10, used=20),
    ProbedAccess(None, 12, 9, "read", 60, 16, bank_conflicts=7),
)


@pytest.fixture
def code() -> pl.DataFrame:
    texts, places = zip(*CODE, strict=True)
    return small_trace(list(texts), [(0, "VMEM", 0, 0, 4)], places=list(places)).code


@pytest.fixture
def probed(tmp_path: Path) -> pl.DataFrame:
    (tmp_path / "log.json").write_text(json_log([ProbedKernel("gemm", 1, ACCESSES)]))
    return read_omniprobe(tmp_path / "log.json").accesses


def evaluated(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame(columns, schema_overrides={name: pl.Int64 for name in columns if name != "row"})


def test_accesses_meet_rows_of_their_line_space_and_direction(code: pl.DataFrame, probed: pl.DataFrame) -> None:
    lines = omniprobe_by_line(probed, code)
    assert dict(lines.schema) == LINES.dtypes
    columns = lines.select("file", "line", "space", "row_count", "first_row").rows()
    gemm, util = "/build/src/gemm.hip", "/build/two/util.h"
    assert sorted(columns, key=str) == sorted(
        [
            (gemm, 10, "memory", 2, 0),
            (gemm, 11, "lds", 1, 2),
            (gemm, 12, "lds", 2, 3),
            (gemm, 12, "lds", 2, 3),
            (gemm, 13, "lds", 0, None),  # atomics are not instrumented
            (gemm, 99, "memory", 0, None),
            (None, 5, "memory", 0, None),  # one/util.h or two/util.h
            (util, 5, "memory", 1, 10),
            (None, 12, "lds", 0, None),  # Omniprobe did not know the file
        ],
        key=str,
    )
    assert set(lines["omniprobe_file"].to_list()) == {access.file for access in ACCESSES}


def test_averages_are_compared(code: pl.DataFrame, probed: pl.DataFrame) -> None:
    rows = evaluated(
        row=[0, 1, 2, 3, 4],
        execution_count=[4, 4, 2, 5, 5],
        extra_cycles_total=[None, None, 16, 10, 10],
        segment_count_total=[96, 96, None, None, None],
    )
    comparison = omniprobe_comparison(probed, code, rows)
    assert dict(comparison.schema) == COMPARISON.dtypes
    seen = comparison.select("line", "kind", "execution_count", "omniprobe_execution_count", "verdict").rows()
    assert seen == [(10, "read", 8, 100, "equal"), (11, "write", 2, 50, "equal"), (12, "read", 10, 100, "equal")]
    assert comparison["segments_per_execution"].to_list() == [24.0, None, None]
    assert comparison["omniprobe_lines_per_execution"].to_list() == [24.0, None, None]
    assert comparison["extra_cycles_per_execution"].to_list() == [None, 8.0, 2.0]
    assert comparison["omniprobe_conflicts_per_execution"].to_list() == [None, 8.0, 2.0]


def test_what_differs_and_what_is_unknown(code: pl.DataFrame, probed: pl.DataFrame) -> None:
    rows = evaluated(
        row=[2, 3, 4, 5, 9],
        execution_count=[2, 5, 5, 3, 0],
        extra_cycles_total=[0, 10, None, None, None],
        segment_count_total=[None, None, None, 3, 3],
    )
    comparison = omniprobe_comparison(probed, code, rows)
    assert comparison.select("line", "verdict").rows() == [(11, "different"), (12, "not comparable")]


def test_nothing_in_common(code: pl.DataFrame, probed: pl.DataFrame) -> None:
    rows = evaluated(row=[7], execution_count=[1], extra_cycles_total=[0], segment_count_total=[0])
    assert omniprobe_comparison(probed, code, rows).height == 0
    assert omniprobe_by_line(probed, code.clear())["row_count"].sum() == 0
    assert omniprobe_by_line(probed.clear(), code).height == 0
