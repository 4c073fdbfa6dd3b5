"""Who arrives last at a barrier: on workgroups written by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from tests.unit.analysis.small_kernels import trace_of
from wavewright.analysis.trace.barriers import barriers
from wavewright.analysis.trace.costs.row_costs import row_costs
from wavewright.model.trace import ThreadTrace

TEXTS = ["v_mov_b32_e32 v0, 0", "s_barrier", "s_endpgm"]
SPLIT = ["v_mov_b32_e32 v0, 0", "s_barrier_signal -1", "s_barrier_wait 0xffff", "s_endpgm"]


def wave(arrivals: list[tuple[int, int]], *, row: int = 1, category: int = 9, **place: int) -> dict[str, Any]:
    """A wave that arrives and leaves at these times."""
    tokens = [(arrive, leave - arrive, leave - arrive, category, row) for arrive, leave in arrivals]
    return {"begin": 0, "end": 1000, "instructions": tokens, **place}


def two_workgroups() -> ThreadTrace:
    """Workgroup A meets at 100 and 300, B at 104 and 500: they leave the first barrier together by chance."""
    return trace_of(
        TEXTS,
        [
            wave([(40, 100), (290, 300)], simd=0),
            wave([(92, 100), (240, 304)], simd=1),
            wave([(60, 104), (490, 500)], simd=0, slot=1),
            wave([(96, 108), (400, 504)], simd=1, slot=1),
        ],
    )


def test_workgroups_are_waves_that_always_leave_together() -> None:
    found = barriers(two_workgroups())
    assert (found.workgroup_count, found.waves_per_workgroup, found.alone_wave_count) == (2, 2.0, 0)
    (row,) = found.rows.to_dicts()
    assert row["meeting_count"] == 4
    assert row["execution_count"] == 8
    assert row["lost_cycles_total"] == 52 + 50 + 36 + 90
    assert row["late_cycles_total"] == row["lost_cycles_total"]  # of two waves, one waits for the other
    assert row["spread_cycles_max"] == 90


def test_who_is_last() -> None:
    found = barriers(two_workgroups())
    per_simd = found.last_waves.group_by("simd").agg(pl.col("last_count", "late_cycles_total").sum()).sort("simd")
    assert per_simd.rows() == [(0, 2, 140), (1, 2, 88)]
    assert found.last_waves.height == 4  # each wave was last once
    assert found.rows["last_simd_share"].to_list() == [0.5]
    assert found.lost_share == pytest.approx(228 / 4000)


def test_late_is_what_the_last_wave_alone_costs() -> None:
    trace = trace_of(TEXTS, [wave([(at, 100)], simd=simd) for simd, at in enumerate((10, 20, 90))])
    (row,) = barriers(trace).rows.to_dicts()
    assert (row["lost_cycles_total"], row["late_cycles_total"], row["last_simd"]) == (80 + 70, 70, 2)


def test_waves_of_other_shader_engines_do_not_meet() -> None:
    trace = trace_of(TEXTS, [wave([(10, 50)], se=0), wave([(20, 50)], se=1)])
    found = barriers(trace)
    assert (found.workgroup_count, found.alone_wave_count, found.lost_cycles_total) == (0, 2, 0)
    assert found.stall_cycles_total == 70


def test_raw_gfx9_traces_record_arrival_and_wait() -> None:
    def passing(arrive: int, leave: int, simd: int) -> dict[str, Any]:
        tokens = [(arrive, 0, 4, 11, 1), (arrive + 4, leave - arrive - 4, leave - arrive - 4, 9, 1)]
        return {"begin": 0, "end": 200, "instructions": tokens, "simd": simd}

    (row,) = barriers(trace_of(TEXTS, [passing(10, 100, 0), passing(90, 100, 1)])).rows.to_dicts()
    assert (row["execution_count"], row["meeting_count"], row["lost_cycles_total"]) == (2, 1, 80)


def test_an_arrival_that_stalls_is_a_part_of_the_stall() -> None:
    """The first record of a raw gfx9 barrier can stall, too: 24 cycles of the wave that arrives first."""
    first = {"begin": 0, "end": 200, "instructions": [(10, 24, 28, 11, 1), (38, 62, 62, 9, 1)], "simd": 0}
    last = {"begin": 0, "end": 200, "instructions": [(90, 0, 4, 11, 1), (94, 6, 6, 9, 1)], "simd": 1}
    trace = trace_of(TEXTS, [first, last])
    (row,) = barriers(trace).rows.to_dicts()
    of_rows = row_costs(trace).filter(pl.col("row") == 1)
    assert row["stall_cycles_total"] == of_rows["stall_cycles_total"].item() == 24 + 62 + 6


def test_split_barriers_arrive_at_the_signal() -> None:
    def passing(signal: int, wait: int, leave: int, simd: int) -> dict[str, Any]:
        tokens = [(signal, 0, 1, 9, 1), (wait, leave - wait, leave - wait, 9, 2)]
        return {"begin": 0, "end": 200, "instructions": tokens, "simd": simd}

    trace = trace_of(SPLIT, [passing(10, 50, 91, 0), passing(90, 91, 92, 1)], family="gfx12")
    (row,) = barriers(trace).rows.to_dicts()
    assert (row["row"], row["execution_count"], row["lost_cycles_total"]) == (2, 2, 80)


def test_causes_are_rows_where_the_last_wave_loses_time() -> None:
    def passing(load: int, simd: int) -> dict[str, Any]:
        """Row 0 takes `load` cycles before the barrier, then again 10 behind it."""
        tokens = [(0, 0, load, 6, 0), (load, 100 - load, 100 - load, 9, 1), (100, 0, 10, 6, 0), (110, 0, 4, 2, 2)]
        return {"begin": 0, "end": 120, "instructions": tokens, "simd": simd}

    found = barriers(trace_of(TEXTS, [passing(load, simd) for simd, load in enumerate((10, 20, 90))]))
    (cause,) = found.causes.to_dicts()
    assert (cause["row"], cause["cause_row"], cause["text"]) == (1, 0, TEXTS[0])
    assert (cause["last_cycles_mean"], cause["other_cycles_mean"]) == (90, 15)


def test_only_some_rows() -> None:
    found = barriers(two_workgroups(), rows=pl.Series("row", [2], dtype=pl.Int32))
    assert found.rows.height == 0
    assert found.workgroup_count == 2
