"""Traffic of real captures: sets of lines as `../shared/spec/spec_l2map.md` has them (2, 6, 10), and the self-check."""

from __future__ import annotations

import json
import time
from typing import Any

import polars as pl
import pytest

import wavewright
from tests.cli.in_process import call
from tests.golden.oracle import SHARED
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.analysis.trace.diagnose.size_fit import fitted_traffic
from wavewright.analysis.trace.fabric import FabricTraffic, TrafficOptions, fabric_traffic
from wavewright.analysis.trace.lanes.evaluated import LaneOptions
from wavewright.model.counters import CounterSet
from wavewright.readers.counters import open_counters

CAPTURES = SHARED / "data" / "att-mi300x-bmm"
DECODED = SHARED / "data" / "uiout-mi350x-flydsl"
#: M, N, K, batches, then batch, row and column strides of the three matrices, row major.
SIZES = {
    "0x0": "128", "0x4": "512", "0x8": "128", "0xc": "128",
    "0x28": "16384,128,1", "0x34": "65536,512,1", "0x40": "65536,512,1",
}  # fmt: skip
MB = 1e6

pytestmark = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no shared data")


def _traffic(capture: str, grid: tuple[int, int, int], **changed: str) -> FabricTraffic:
    trace = wavewright.open(CAPTURES / capture / "raw", dispatch=3)
    sizes = SIZES | {f"0x{name[1:]}": value for name, value in changed.items()}
    arguments = tuple(f"{offset}={value}" for offset, value in sizes.items())
    return fabric_traffic(trace, TrafficOptions(LaneOptions(arguments, (256, 1, 1), grid)))


@pytest.mark.slow
def test_the_gemm_of_2048_workgroups() -> None:
    answer = _traffic("c03", (2048, 2, 128))
    assert (answer.problem, answer.known_share) == ("", 1)
    lines = {row["mapping"]: row["lines_count"] for row in answer.mappings.iter_rows(named=True)}
    published = {
        "today": 393_216, "chunks of 2 per XCD": 393_216, "axes y, x, z": 393_216, "chunks of 4 per XCD": 327_680,
        "chunks of 8 per XCD": 294_912, "axes y, z, x": 294_912, "axes z, x, y": 163_840, "axes z, y, x": 163_840,
        "chunks of 16 per XCD": 163_840, "contiguous range per XCD": 163_840,
    }  # fmt: skip
    assert {name: lines[name] for name in published} == published
    assert answer.unavoidable_bytes == 128 * 163_840
    assert answer.write_bytes == 128 * 131_072
    assert answer.write_request_count == 262_144  # as counted
    assert answer.best_mapping == "contiguous range per XCD"
    assert answer.fits_infinity_cache


@pytest.mark.slow
def test_the_gemm_of_512_workgroups_in_two_seconds() -> None:
    _traffic("c04", (1024, 1, 128))  # what is read and imported once
    begin = time.process_time()
    answer = _traffic("c04", (1024, 1, 128))
    assert time.process_time() - begin < 2
    found = dict(answer.mappings.select("mapping", pl.col("read_bytes") / MB).iter_rows())
    assert [round(found[name], 1) for name in ("today", "chunks of 2 per XCD", "chunks of 4 per XCD")] == [
        33.6, 25.2, 21.0,
    ]  # fmt: skip
    assert answer.arrays["xcd_mean"].to_list() == [4, 1, None]


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("capture", "grid", "count", "low", "high"),
    [  # lines per workgroup: of the traced CU and, where 26 of 38 CUs have two workgroups and 12 one, 980 of all
        ("c03", (2048, 2, 128), 7, 392.3, 395.1),
        ("c02", (1024, 1, 128), 1, 512, 512),
        ("c04", (1024, 1, 128), 2, 980, 1185.5),
    ],
)
def test_requests_in_the_traced_order(
    capture: str, grid: tuple[int, int, int], count: int, low: float, high: float
) -> None:
    """Low ends (and 1,088 = the folded sets of c04) as in section 3 of the spec; M1 says 1,053 of c04."""
    answer = _traffic(capture, grid)
    assert answer.traced_count == count
    assert answer.traced_read_requests is not None
    assert answer.traced_hit_rate is not None
    assert answer.hit_rate is not None
    total = answer.counts[0] * answer.counts[1] * answer.counts[2]
    assert [each / total for each in answer.traced_read_requests] == pytest.approx([low, high], abs=0.1)
    misses = answer.mappings["lines_count"][0] + answer.write_bytes // 128
    assert answer.traced_hit_rate[1] == pytest.approx(1 - misses / (high * total + 262_144), abs=1e-4)
    assert answer.hit_rate[0] <= answer.traced_hit_rate[0] <= answer.traced_hit_rate[1] <= answer.hit_rate[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("capture", "batches"),
    [("c02", 128), ("c05", 128), ("c06", 128), ("c07", 128), ("c08", 128), ("c12", 64), ("c13", 32)],
)
def test_other_builds_are_known_throughout(capture: str, batches: int) -> None:
    answer = _traffic(capture, (1024, 1, batches))
    assert (answer.problem, answer.known_share) == ("", 1)
    assert answer.overlapping_bytes == 0


#: What was changed in the sizes of the GEMM: nine can be seen, the batch stride of what is only read cannot.
WRONG = {
    "M and N square": {"a0": "256", "a4": "256", "a28": "32768,128,1", "a34": "32768,256,1", "a40": "65536,256,1"},
    "batch stride of C halved": {"a40": "32768,512,1"},
    "batch stride of C left out": {"a40": "0,512,1"},
    "batch stride of C doubled": {"a40": "131072,512,1"},
    "N halved": {"a4": "256"},
    "N doubled": {"a4": "1024"},
    "N a tile too long": {"a4": "640"},
    "K halved": {"a8": "64"},
    "K doubled": {"a8": "256"},
    "batch stride of A halved": {"a28": "8192,128,1"},
}


def _is_found(name: str) -> bool:
    answer = _traffic("c04", (1024, 1, 128), **WRONG[name])
    return bool(answer.problem) or any("gaps" in note for note in answer.notes)


def test_square_sizes_are_refused() -> None:
    answer = _traffic("c04", (1024, 1, 128), **WRONG["M and N square"])
    assert "store to the same bytes" in answer.problem
    assert answer.overlapping_bytes == 128 * (131_072 - 66_048)
    assert not answer.mappings.height
    assert not answer.read_bytes


@pytest.mark.slow
def test_nine_of_ten_wrong_sizes_are_found() -> None:
    found = [name for name in WRONG if _is_found(name)]
    assert len(found) == 9
    assert "batch stride of A halved" not in found


def _fitted(capture: str, grid: tuple[int, int, int], counters: CounterSet | None, **choices: str) -> FabricTraffic:
    trace = wavewright.open(CAPTURES / capture / "raw", dispatch=3)
    sizes = SIZES | {f"0x{name[1:]}": value for name, value in choices.items()}
    arguments = tuple(f"{offset}={value}" for offset, value in sizes.items())
    options = TrafficOptions(LaneOptions(arguments, (256, 1, 1), grid), only_today=True)
    return fitted_traffic(trace, options, counters=counters)


@pytest.mark.slow
def test_the_grid_chooses_among_sizes() -> None:
    answer = _fitted("c04", (1024, 1, 128), None, a4="256|512")
    assert not answer.problem
    assert answer.unavoidable_bytes == 20_971_520
    assert answer.fits["verdict"].to_list()[1] == "fits"
    assert "store to the same bytes" in answer.fits["verdict"][0]
    assert answer.notes[-1] == "fitted: 0x4=512, the only one of 2 sets of arguments that the grid does not contradict"


@pytest.mark.slow
def test_counters_choose_where_the_grid_cannot() -> None:
    """A stride of what is only read: no store tells it, and the reads of the counters do."""
    choices = {"a4": "256|512", "a28": "16384,128,1|8192,128,1"}
    grid = (2048, 2, 128)
    undecided = _fitted("c03", grid, None, **choices)
    assert undecided.problem.startswith("2 of 4 sets of arguments fit: --counters")
    assert not undecided.mappings.height
    answer = _fitted("c03", grid, open_counters(SHARED / "data" / "pmc-mi300x-bmm", target="gfx942"), **choices)
    assert answer.fits.filter(verdict="fits")["arguments"].to_list() == ["0x4=512 0x28=16384,128,1"]
    assert answer.fits["verdict"][3].endswith("411,195 counted")
    assert answer.read_bytes == 393_216 * 128


def test_what_nobody_knows_has_its_reason() -> None:
    trace = wavewright.open(CAPTURES / "c01" / "raw", dispatch=2)
    answer = fabric_traffic(trace, TrafficOptions(LaneOptions((), (256, 1, 1), (1024, 1, 128))))
    assert answer.problem.startswith("depends on argument 1")
    assert not answer.read_bytes
    folder = next(path for path in sorted(DECODED.glob("*/*/ui_output*")) if "expected" not in path.parts)
    for options in (LaneOptions(target="gfx950"), LaneOptions((), (256, 1, 1), (25_600, 1, 1), target="gfx950")):
        answer = fabric_traffic(wavewright.open(folder), TrafficOptions(options))
        assert answer.problem
        assert not answer.mappings.height


@pytest.mark.slow
def test_diagnose_has_the_same_bytes() -> None:
    """A tile that workgroups share is read from HBM once, if it fits in the Infinity Cache."""
    trace = wavewright.open(CAPTURES / "c04" / "raw", dispatch=3)
    arguments = tuple(f"{offset}={value}" for offset, value in SIZES.items())
    lanes = LaneOptions(arguments, (256, 1, 1), (1024, 1, 128))
    moved = diagnose(trace, lanes=lanes).traffic
    assert moved is not None
    assert (moved.evidence, moved.bytes_total) == ("distinct bytes", (37_748_736, 37_748_736))
    unknown = diagnose(wavewright.open(CAPTURES / "c04" / "raw", dispatch=3)).traffic
    assert unknown is not None
    assert unknown.evidence == "requests"


def _rows_of(*arguments: str) -> list[dict[str, Any]]:
    done = call(*arguments, "--json")
    assert done.status == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)["rows"]["rows"]
    return rows


@pytest.mark.slow
def test_lanes_has_the_same_bytes_by_row() -> None:
    arguments = [word for offset, value in SIZES.items() for word in ("--arg", f"{offset}={value}")]
    sizes = ["--workgroup", "256", "--grid", "1024,1,128"]
    path = [str(CAPTURES / "c04" / "raw"), "--dispatch", "3"]
    rows = {}
    for verb in ("lanes", "traffic"):
        table = _rows_of(verb, *path, *arguments, *sizes)
        rows[verb] = {
            row["row"]: (row["fabric_bytes"], row["distinct_bytes"])
            for row in table
            if row.get("fabric_bytes") is not None
        }
    assert rows["lanes"] == rows["traffic"]
    assert len(rows["lanes"]) == 82
    assert rows["lanes"][2808] == (16_777_216, 4_194_304)  # lines of A, which four XCDs read
    assert {row["fabric_bytes"] for row in _rows_of("lanes", *path)} == {None}


def test_a_grid_that_no_memory_holds() -> None:
    trace = wavewright.open(CAPTURES / "c04" / "raw", dispatch=3)
    lanes = LaneOptions(tuple(f"{offset}={value}" for offset, value in SIZES.items()), (256, 1, 1), (2**31, 65_535, 2))
    assert fabric_traffic(trace, TrafficOptions(lanes)).problem.startswith("only grids of up to 4,000,000 workgroups")


@pytest.mark.slow
def test_a_part_of_a_gpu_and_another_product() -> None:
    trace = wavewright.open(CAPTURES / "c04" / "raw", dispatch=3)
    lanes = LaneOptions(tuple(f"{offset}={value}" for offset, value in SIZES.items()), (256, 1, 1), (1024, 1, 128))
    reads = {}
    for product, partition in (("", ""), ("", "CPX"), ("MI300A", ""), ("MI300A", "TPX")):
        answer = fabric_traffic(trace, TrafficOptions(lanes, product, partition))
        reads[product, partition] = (answer.xcd_count, round(answer.read_bytes / MB, 1))
    assert reads == {
        ("", ""): (8, 33.6),
        ("", "CPX"): (1, 21.0),
        ("MI300A", ""): (6, 33.6),
        ("MI300A", "TPX"): (2, 25.2),
    }
