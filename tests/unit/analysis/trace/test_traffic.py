"""Requested bytes and neighbouring accesses, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

import wavewright
from tests.cli.in_process import call
from tests.kit.made_traces import made
from tests.kit.together import together
from tests.kit.ui_directories import frame
from wavewright.analysis.trace.costs.hotspots import hotspots
from wavewright.analysis.trace.memory_latency import memory_latency
from wavewright.analysis.trace.memory_latency.beyond_trace import counter_command
from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.operands import with_operands
from wavewright.model.trace import ThreadTrace


def trace_of(texts: list[str], *, waves: int = 2, gfxip: int = 9, wave_size: int | None = None) -> ThreadTrace:
    """Waves of 1,000 cycles on one CU that run every text once, one after the other; wave n starts at 500 n."""
    count = len(texts)
    code = frame("code", {"row": range(count), "code_object": [1] * count, "address": range(256, 256 + 4 * count, 4),
                          "text": texts, "function": ["k"] * count})  # fmt: skip
    target = "gfx942" if gfxip == 9 else None
    code = with_operands(classify_frame(code, target), target)
    engines = frame("shader_engines", {"se": [0], "gfxip": [gfxip]})
    kernels = frame("kernels", {"kernel": [0], "name": ["k"], "demangled": ["k"], "wave_size": [wave_size]})
    lives: list[dict[str, Any]] = [
        {
            "begin": 500 * wave,
            "end": 500 * wave + 1000,
            "instructions": [(500 * wave + 10 * row, 0, 4, 1, row) for row in range(count)],
        }
        for wave in range(waves)
    ]
    return made(lives, code=code, shader_engines=engines, kernels=kernels)


TEXTS = [
    "s_load_dwordx4 s[0:3], s[4:5], 0x0",
    "global_load_ushort v1, v0, s[0:1]",
    "global_load_ushort v2, v0, s[2:3]",
    "ds_write_b128 v0, v[4:7]",
    "image_sample v[0:3], v[4:5], s[0:7], s[8:11] dmask:0xf",
    "s_endpgm",
]


def test_bytes_by_memory_and_width() -> None:
    answer = memory_latency(trace_of(TEXTS))
    rows = {(row["space"], row["direction"], row["bytes_per_lane"]): row for row in answer.traffic.to_dicts()}
    assert list(rows) == [
        ("lds", "store", 16),
        ("memory", "load", 2),
        ("scalar", "load", 16),
        ("memory", "load", None),
    ]
    loads = rows["memory", "load", 2]
    assert (loads["row_count"], loads["execution_count"], loads["requested_bytes_total"]) == (2, 4, 4 * 2 * 64)
    assert (loads["requested_bytes_per_wave"], loads["requested_bytes_per_cycle"]) == (256, 512 / 1500)
    assert rows["scalar", "load", 16]["requested_bytes_total"] == 2 * 16
    assert rows["memory", "load", None]["requested_bytes_total"] is None
    assert (answer.lane_count, answer.cu_cycles, answer.traced_unit) == (64, 1500, "CU")


def test_lanes_of_rdna_are_those_of_the_kernel() -> None:
    waves_of_32, unknown = (memory_latency(trace_of(TEXTS, gfxip=11, wave_size=size)) for size in (32, None))
    assert waves_of_32.traffic["requested_bytes_total"].to_list()[:2] == [2 * 16 * 32, 4 * 2 * 32]
    assert (waves_of_32.traced_unit, unknown.lane_count) == ("SIMD", None)
    vector = unknown.traffic.filter(pl.col("space") != "scalar")
    assert vector["requested_bytes_total"].null_count() == vector.height


def test_bytes_of_hotspots() -> None:
    units = hotspots(trace_of(TEXTS), sort="hits").units
    assert units["bytes_per_lane"].to_list() == [16, 2, 2, 16, None, None]
    assert units["requested_bytes_total"].to_list() == [32, 256, 256, 2048, 0, 0]
    (kernel,) = hotspots(trace_of(TEXTS), by="function").units.to_dicts()
    assert (kernel["bytes_per_lane"], kernel["requested_bytes_total"]) == (None, 32 + 512 + 2048)


def neighbours_of(texts: list[str]) -> list[tuple[int, int, int]]:
    table = memory_latency(trace_of(texts, waves=1)).neighbours
    return table.select("first_row", "access_count", "wide_count").rows()


def halves(offsets: list[int], *, first: int = 8) -> list[str]:
    return [f"global_load_ushort v{first + at}, v[0:1], off offset:{offset}" for at, offset in enumerate(offsets)]


def test_consecutive_offsets() -> None:
    assert neighbours_of(halves(list(range(0, 64, 2)))) == [(0, 32, 4)]
    assert neighbours_of(["global_load_ushort v8, v[0:1], off", *halves([6, 2, 4], first=9)]) == [(0, 4, 1)]
    assert neighbours_of(halves([0, 2, 4])) == [(0, 3, 2)]  # 4 + 2 bytes


def test_offsets_with_holes_stay_as_they_are() -> None:
    assert neighbours_of(halves([0, 512, 1024, 1536])) == []
    assert neighbours_of([text.replace("_ushort", "_dwordx4") for text in halves([0, 16, 32])]) == []


@together(
    "between",
    [
        "v_add_u32_e32 v1, 4, v1",  # another address
        "v_lshl_add_u64 v[0:1], v[0:1], 0, s[2:3]",
        "s_barrier",
        "s_mov_b64 exec, s[0:1]",  # other lanes
        "s_and_saveexec_b64 s[0:1], vcc",
        "global_store_dword v[2:3], v4, off",  # perhaps the same bytes
        "s_cbranch_scc1 1",  # another basic block
    ],
)
def test_nothing_is_joined_across(between: str) -> None:
    assert neighbours_of([*halves([0]), between, *halves([2])]) == []


def test_what_does_not_disturb() -> None:
    between = ["v_add_u32_e32 v2, 4, v1", "s_waitcnt lgkmcnt(0)", "s_load_dword s9, s[0:1], 0x0"]
    assert neighbours_of([*halves([0]), *between, *halves([2])]) == [(0, 2, 1)]
    stores = [f"global_store_dword v[0:1], v{at}, off offset:{4 * at}" for at in range(4)]
    assert neighbours_of(stores) == [(0, 4, 1)]
    both = ["global_load_short_d16 v5, v[0:1], off", "global_load_short_d16_hi v5, v[0:1], off offset:2"]
    assert neighbours_of(both) == [(0, 2, 1)]
    lds = ["ds_read_b32 v5, v0", "ds_read_b32 v6, v0 offset:4", "ds_read2_b32 v[7:8], v0 offset0:2 offset1:3"]
    assert neighbours_of(lds) == [(0, 2, 1)]


def test_a_load_into_its_own_address_ends_it() -> None:
    assert neighbours_of(["global_load_dword v1, v[0:1], off", "global_load_dword v5, v[0:1], off offset:4"]) == []


@together("target", ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_the_command_for_counters_runs(target: str) -> None:
    counters = counter_command(target)
    assert counters is not None and "LDS bank conflicts" in counters.questions
    done = call(*counters.command.split()[1:])
    assert done.status == 0, done.stderr
    planned = len(counters.questions)
    assert f"{planned} of {planned} metrics can be computed" in done.stderr and '"pmc": [' in done.stdout


def test_bytes_of_a_real_kernel(shared: Path) -> None:
    """By hand: 8 waves run 8 two-byte loads once and 8 in the 7 trips of the loop, and 64 two-byte stores once."""
    trace = wavewright.decode(shared / "data" / "att-mi300x-bmm" / "c08" / "raw")
    rows = memory_latency(trace).traffic.filter((pl.col("space") == "memory") & (pl.col("bytes_per_lane") == 2))
    assert rows.select("direction", "row_count", "execution_count", "requested_bytes_total").rows() == [
        ("load", 16, 8 * (8 + 8 * 7), 512 * 128),
        ("store", 64, 8 * 64, 512 * 128),
    ]
