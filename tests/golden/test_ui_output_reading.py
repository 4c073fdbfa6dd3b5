"""Official decoded directories: what is recomputed from the wave files equals what the other files state."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.conftest import SHARED
from wavewright.analysis.trace.costs.row_costs import row_totals
from wavewright.analysis.trace.trust.caveats import differing_row_count
from wavewright.analysis.trace.waves.states import state_curves
from wavewright.model.trace import ThreadTrace
from wavewright.readers.files.archive import Archive
from wavewright.readers.files.decoded_traces import decoded_in_archive
from wavewright.readers.files.folder import Directory, Folder
from wavewright.readers.trace.ui_output import read_ui_output

DATA = SHARED / "data"
PATHS = sorted([*DATA.glob("att-mi300x-bmm/*/ui_output_*"), *DATA.glob("uiout-mi350x-flydsl/*/*/ui_output_*")])
SETS = {"flydsl": "uiout-mi350x-flydsl", "bmm": "att-mi300x-bmm"}
TOTALS = ["hit_count", "latency_cycles_total", "stall_cycles_total", "idle_cycles_total"]
LARGE = ("softmax", "moe_reduce")
BENIGN = {"missing_sources", "no_waves"}
"""The public data set has no source copies, and two dispatches without waves on the traced CU."""

pytestmark = pytest.mark.skipif(not PATHS, reason="../shared/data is not here")


def folder_at(path: Path) -> Folder:
    return Directory(path) if path.is_dir() else decoded_in_archive(Archive.read(path))[0].folder


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            path,
            marks=[pytest.mark.slow] * (number % 3 > 0 or any(name in str(path) for name in LARGE)),
            id=str(path.relative_to(DATA)).removesuffix(".tar.xz"),
        )
        for number, path in enumerate(PATHS)
    ],
)
def directory(request: pytest.FixtureRequest) -> tuple[Folder, ThreadTrace]:
    folder = folder_at(request.param)
    return folder, read_ui_output(folder)


def read_json(folder: Folder, name: str) -> Any:
    return json.loads(folder.read(name))


def test_nothing_is_lost(directory: tuple[Folder, ThreadTrace]) -> None:
    assert set(directory[1].losses["kind"].to_list()) <= BENIGN


@pytest.mark.first_case
def test_totals_equal_those_in_code_json(directory: tuple[Folder, ThreadTrace]) -> None:
    folder, trace = directory
    listed = [row for row in read_json(folder, "code.json")["code"] or [] if not row[0].startswith("; ")]
    expected = [(at, *row[6:10]) for at, row in enumerate(listed) if row[6]]
    assert row_totals(trace).select("row", *TOTALS).rows() == expected
    assert trace.code["text"].to_list() == [row[0] for row in listed]
    assert differing_row_count(trace) == 0


def test_curves_equal_the_wstates_files(directory: tuple[Folder, ThreadTrace]) -> None:
    folder, trace = directory
    curves = state_curves(trace, per_se=False)
    for state in (1, 2, 3, 4):
        name = f"wstates{state}.json"
        curve = curves.filter(pl.col("state") == state)
        if name not in folder.names():
            assert curve.is_empty()
            continue
        stated = read_json(folder, name)
        assert (curve["time_cycles"].to_list(), curve["wave_count"].to_list()) == (stated["time"], stated["state"])


@pytest.mark.first_case
def test_waits_equal_those_in_the_wave_files(directory: tuple[Folder, ThreadTrace]) -> None:
    folder, trace = directory
    lines = [row[2] for row in read_json(folder, "code.json")["code"] or [] if not row[0].startswith("; ")]
    found: dict[int, list[Any]] = defaultdict(list)
    last = None
    for wave, instruction, row, _, producer_row, counter in trace.waits.iter_rows():
        if (instruction, counter) != last:
            found[wave].append([lines[row], []])
            last = (instruction, counter)
        found[wave][-1][1].append([lines[producer_row], 0])
    for wave, se, simd, slot, number in trace.waves.select("wave", "se", "simd", "slot", "slot_wave").iter_rows():
        stated = read_json(folder, f"se{se}_sm{simd}_sl{slot}_wv{number}.json")["wave"]["waitcnt"] or []
        assert found[wave] == stated


def test_waves_begin_and_end_with_occupancy_events_of_their_kernel(directory: tuple[Folder, ThreadTrace]) -> None:
    _, trace = directory
    assert trace.waves["kernel"].null_count() == 0
    ends = trace.occupancy.filter(~pl.col("start")).rename({"time_cycles": "end_cycles"})
    place = ["se", "cu", "simd", "slot", "end_cycles"]
    assert trace.waves.join(ends.select(place), on=place, how="anti").is_empty()
    keys = ["se", "end_cycles"]
    assert trace.waves.select(keys).rows() == sorted(trace.waves.select(keys).rows())


def test_counts_of_the_manifest(directory: tuple[Folder, ThreadTrace]) -> None:
    folder, trace = directory
    manifest = read_json(folder, "filenames.json")
    listed = [
        entry
        for simds in (manifest["wave_filenames"] or {}).values()
        for slots in simds.values()
        for waves in slots.values()
        for entry in waves.values()
    ]
    assert trace.waves.height == len(listed)
    assert trace.gfxip == manifest["gfxip"]
    occupancy = read_json(folder, "occupancy.json")
    assert trace.occupancy.height == sum(len(rows) for key, rows in occupancy.items() if key.isdigit())


INDEX = """
flydsl/moe_gemm/big/ui_output_agent_56573_dispatch_87                24  51176  996  51176 2225764 2024908 15484 320
flydsl/layernorm/big/ui_output_agent_22257_dispatch_23               16   6504  456   6504 76244 45972 4964 256
flydsl/flash_attn_func/big/ui_output_agent_38430_dispatch_44.tar.xz  32 315400 2069 315400 2855224 1677652 124108 512
flydsl/vec_add/big/ui_output_agent_14705_dispatch_25.tar.xz         632  13904   22  13904 3729624 2101364 45744 10000
bmm/c01/ui_output_agent_5600_dispatch_1                                 4  10008  281  10008 133640 86648 26432 72
"""
"""Waves, instructions, code rows, hit, latency, stall, idle, occupancy events (../shared/data/INDEX.md)."""


@pytest.mark.parametrize("line", INDEX.strip().splitlines(), ids=lambda line: line.split("/")[1])
def test_figures_of_the_index(line: str) -> None:
    path, *figures = line.split()
    trace = read_ui_output(folder_at(DATA / SETS[path.split("/")[0]] / path.partition("/")[2]))
    totals = row_totals(trace).select(pl.col(TOTALS).sum()).row(0)
    found = (trace.waves.height, trace.instructions.height, trace.code.height, *totals, trace.occupancy.height)
    assert found == tuple(map(int, figures))


def test_pc_sampling() -> None:
    trace = read_ui_output(Directory(DATA / "pcsampling-rcv"))
    assert trace.source.format == "PC sampling"
    assert trace.gfxip == 9
    assert trace.code.height == 1634
    assert trace.samples.select(pl.col("issued_count", "stalled_count").sum()).row(0) == (1306, 3384)
    assert trace.sample_reasons["count"].sum() == 3384
    assert trace.stored_totals.is_empty()
    assert trace.losses["kind"].to_list() == ["missing_sources"]
    assert trace.code["file"].null_count() == 0
