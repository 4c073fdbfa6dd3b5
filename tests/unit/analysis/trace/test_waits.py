from __future__ import annotations

import polars as pl
import pytest

from tests.kit.small_traces import small_trace
from wavewright.analysis.trace.waits import waits
from wavewright.model.trace import ThreadTrace, TraceSource

LOAD, READ, WAIT = "global_load_dword v0, v[0:1], off", "ds_read_b32 v0, v1", "s_waitcnt vmcnt(0)"
PLACES = ["/src/a.py:7", "/src/a.py:8"]
LOOP = [
    (0, "VMEM", 0, 4, 8),  # issued at 4
    (1, "IMMED", 100, 300, 300),  # held until 400: the load took 396
    (0, "VMEM", 500, 0, 4),
    (1, "IMMED", 520, 104, 104),  # held until 624: 124
    (0, "VMEM", 700, 0, 4),
    (1, "IMMED", 1200, 4, 4),  # done long ago
]


def test_one_producer() -> None:
    answer = waits(small_trace([LOAD, WAIT], LOOP, places=PLACES))
    (wait,) = answer.waits.to_dicts()
    assert (wait["row"], wait["class"], wait["text"], wait["file"], wait["line"]) == (
        1,
        "wait vector load",
        WAIT,
        "/src/a.py",
        8,
    )
    assert (wait["execution_count"], wait["stalled_count"], wait["stall_cycles_total"]) == (3, 2, 408)
    assert (wait["stall_cycles_max"], wait["producer_count"], wait["stall_share"]) == (300, 1, 1.0)
    (edge,) = answer.producers.to_dicts()
    assert (edge["producer_text"], edge["producer_kind"], edge["counter"]) == (LOAD, "vector load", "vmcnt")
    assert (edge["count"], edge["last_count"], edge["done_count"], edge["candidate_count"]) == (3, 2, 1, 0)
    assert edge["execution_share"] == 1.0
    # A wait that need not wait takes 4 cycles on gfx9; what is longer is what the load came too late by.
    assert (edge["last_stall_cycles_mean"], edge["last_stall_cycles_max"]) == ((296 + 100) / 2, 296)
    assert (edge["distance_cycles_min"], edge["distance_cycles_max"]) == (20, 500)
    assert edge["distance_cycles_mean"] == pytest.approx((96 + 20 + 500) / 3)
    assert (edge["distance_instructions_min"], edge["distance_instructions_max"]) == (1, 1)
    assert (edge["latency_cycles_min"], edge["latency_cycles_max"]) == (124, 500)
    assert edge["slack_cycles_mean"] == 500 - 124  # the lower median of the tight latencies 124 and 396


def test_producers_stand_under_their_wait_the_last_one_first() -> None:
    steps = [
        (0, "VMEM", 0, 0, 4),
        (2, "VMEM", 4, 0, 4),
        (1, "IMMED", 10, 90, 90),
        (3, "LDS", 200, 0, 4),
        (4, "IMMED", 210, 300, 300),
    ]
    answer = waits(small_trace([LOAD, WAIT, LOAD, READ, "s_waitcnt lgkmcnt(0)"], steps))
    assert answer.waits["row"].to_list() == [4, 1]
    assert answer.producers.select("row", "producer_row").rows() == [(4, 3), (1, 2), (1, 0)]
    assert answer.stall_cycles_total == 390
    only = waits(small_trace([LOAD, WAIT, LOAD, READ, "s_waitcnt lgkmcnt(0)"], steps), rows=pl.Series([1]))
    assert only.waits["row"].to_list() == [1]
    assert only.producers["row"].unique().to_list() == [1]


def test_candidates_have_no_distances() -> None:
    steps = [(0, "SMEM", 0, 0, 4), (1, "LDS", 4, 0, 4), (2, "IMMED", 10, 90, 90)]
    answer = waits(small_trace(["s_load_dword s0, s[2:3], 0x0", READ, "s_waitcnt lgkmcnt(1)"], steps))
    assert answer.waits["class"].to_list() == ["wait unresolved"]
    assert answer.producers.select("producer_row", "count", "candidate_count").rows() == [(0, 0, 1), (1, 0, 1)]
    assert answer.producers["distance_cycles_min"].to_list() == [None, None]
    assert answer.producers["latency_cycles_mean"].to_list() == [None, None]


def test_a_wait_for_nothing_has_no_producer() -> None:
    answer = waits(small_trace([WAIT], [(0, "IMMED", 0, 4, 4)]))
    assert answer.waits["producer_count"].to_list() == [0]
    assert answer.producers.height == 0


def test_columns_are_declared() -> None:
    for trace in (ThreadTrace({}, TraceSource(path="nothing")), small_trace([LOAD, WAIT], LOOP)):
        answer = waits(trace)
        for field, spec in answer.tables.items():
            frame = getattr(answer, field)
            assert frame.columns == [column.name for column in spec.columns]
