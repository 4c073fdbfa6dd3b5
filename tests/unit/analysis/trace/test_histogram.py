"""Cycles along the code: stretches of rows, categories, windows of time."""

from __future__ import annotations

import polars as pl
import pytest

from tests.kit.small_traces import small_trace
from tests.kit.together import together
from wavewright.analysis.trace.costs.histogram import row_histogram
from wavewright.errors import UsageError

TEXTS = ["s_load_dwordx2 s[0:1], s[2:3], 0x0", "s_waitcnt lgkmcnt(0)",
         "v_mfma_f32_32x32x8_f16 a[0:15], v0, v1, a[0:15]",
         "v_add_f32 v0, v1, v2", "s_endpgm"]  # fmt: skip
STEPS = [
    (0, "SMEM", 0, 0, 4),
    (1, "IMMED", 4, 96, 90),  # its stall is longer than its duration
    (2, "VALU", 100, 4, 16),
    (3, "VALU", 116, 0, 4),
    (3, "VALU", 200, 0, 8, 1),
    (-1, "VALU", 300, 0, 50, 1),
]


def test_rows_go_to_stretches_of_equal_length() -> None:
    got = row_histogram(small_trace(TEXTS, STEPS), bins=3)
    assert (got.rows_per_bin, got.bin_count, got.first_row, got.last_row) == (2, 3, 0, 4)
    assert got.bins.rows() == [
        (0, 0, 1, "SMEM", 4, 1),
        (0, 0, 1, "IMMED", 96, 1),
        (1, 2, 3, "VALU", 12, 2),
        (1, 2, 3, "MATRIX", 16, 1),
    ]
    assert (got.cycles_total, got.unknown_cycles_total) == (128, 50)


def test_rows_and_engines_are_chosen() -> None:
    trace = small_trace(TEXTS, STEPS)
    assert row_histogram(trace, first_row=3, last_row=3).bins["cycles_total"].to_list() == [12]
    trace.tables["waves"] = trace.waves.with_columns(se=pl.col("wave").cast(pl.UInt16))
    trace.answers.clear()
    assert row_histogram(trace, first_row=3, se=1).bins["cycles_total"].to_list() == [8]
    assert row_histogram(trace, se=7).bins.is_empty()


@pytest.mark.parametrize(("first", "last"), [(0, 9_999), (9_999, 9_999), (3, 1 << 30)])
def test_rows_outside_of_the_code_are_cut_to_it(first: int, last: int) -> None:
    got = row_histogram(small_trace(TEXTS, STEPS), first_row=first, last_row=last)
    assert 0 <= got.first_row <= got.last_row <= 4


@together("first, last", [(-5, 2), (0, 1 << 40), (3, -1), (3, 2)])
def test_rows_that_make_no_sense_are_refused(first: int, last: int) -> None:
    with pytest.raises(UsageError, match="row"):
        row_histogram(small_trace(TEXTS, STEPS), first_row=first, last_row=last)


@together("bins", [0, -1, 101, 1 << 60])
def test_a_number_of_bins_that_makes_no_sense(bins: int) -> None:
    with pytest.raises(UsageError, match="bins"):
        row_histogram(small_trace(TEXTS, STEPS), bins=bins)
