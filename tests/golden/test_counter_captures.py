"""Real captures of hardware counters, and what is known about them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from wavewright.errors import UsageError
from wavewright.model.counters import CounterSet
from wavewright.readers.counters import open_counters

VCOPY = "data/pmc-rocprofcompute-vcopy"
INPUTS = "golden/compute/inputs"
LEVELS = ["SQ_IFETCH_LEVEL", "SQ_INST_LEVEL_LDS", "SQ_INST_LEVEL_SMEM", "SQ_INST_LEVEL_VMEM", "SQ_LEVEL_WAVES"]


def of_kernel(found: CounterSet, part: str) -> pl.DataFrame:
    mine = found.dispatches.filter(pl.col("kernel_name").str.contains(part, literal=True))
    return found.measured[0].join(mine.select("dispatch"), on="dispatch", how="semi")


def value(found: CounterSet, counter: str) -> float:
    """Of the first dispatch, in the first pass that measured it."""
    return next(frame[counter][0] for frame in found.measured.values() if counter in frame.columns)


@pytest.mark.parametrize(
    ("name", "target", "hits", "misses"),
    [
        ("MI200", "gfx90a", 72_935, 131_081),
        ("MI300X_A1", "gfx942", 66_160, 131_311),
        ("MI350", "gfx950", 66_864, 131_138),
        ("MI300X_A1_rocpd", "gfx942", 68_496, 131_200),
    ],
)
def test_vector_copies(name: str, target: str, hits: int, misses: int, shared: Path) -> None:
    found = open_counters(shared / VCOPY / name)
    assert found.dispatches.height == 3
    assert found.dispatches["kernel_name"].unique().to_list() == ["vecCopy(double*, double*, double*, int, int)"]
    assert found.system.target == target
    assert (value(found, "TCC_HIT"), value(found, "TCC_MISS")) == (hits, misses)
    assert value(found, "SQ_WAVES") == 16_384
    assert set(LEVELS) <= set(found.passes["name"])
    for number, frame in found.measured.items():
        assert frame["dispatch"].to_list() == [0, 1, 2]
        assert frame.columns[1:] == found.counters.filter(pl.col("pass") == number)["column"].to_list()
    assert "counter_silent" not in found.losses["kind"]


def test_the_fabric_of_an_mi300x(shared: Path) -> None:
    found = open_counters(shared / VCOPY / "MI300X_A1")
    assert (value(found, "TCC_EA0_RDREQ"), value(found, "TCC_EA0_WRREQ")) == (65_775, 131_072)
    channels = [f"TCC_HIT[{channel}]" for channel in range(128)]
    sums = found.measured[0].select(pl.sum_horizontal(channels) == pl.col("TCC_HIT"))
    assert sums.to_series().all()
    assert found.dispatches["end_ns"].null_count() == 3  # a spreadsheet rounded the timestamps
    assert found.losses["kind"].to_list() == ["counter_times"]


def test_channels_of_an_mi200_are_of_another_pass(shared: Path) -> None:
    frame = open_counters(shared / VCOPY / "MI200").measured[0]
    sums = frame.select(pl.sum_horizontal([f"TCC_HIT[{channel}]" for channel in range(32)]) == pl.col("TCC_HIT"))
    assert not sums.to_series().all()


def test_an_mi350_lacks_channels(shared: Path) -> None:
    found = open_counters(shared / VCOPY / "MI350")
    hits = found.counters.filter((pl.col("counter") == "TCC_HIT") & pl.col("channel").is_not_null())
    assert hits["channel"].n_unique() == 52
    assert set(found.losses["kind"]) == {"counter_partner", "other_forms"}
    assert (found.system.clock_mhz_max, found.system.memory_gb_per_second) == (2200, None)
    assert found.system.said_by["clock_mhz_max"].startswith("facts of")


def test_the_long_form_of_an_mi300x(shared: Path) -> None:
    found = open_counters(shared / VCOPY / "MI300X_A1_rocpd")
    assert found.passes.height == 12
    assert sum(frame.width - 1 for frame in found.measured.values()) == 2_009
    assert (found.dispatches["end_ns"] - found.dispatches["start_ns"]).to_list() == [8613, 6730, 6730]


def test_many_dispatches_of_an_mi300x(shared: Path) -> None:
    found = open_counters(shared / "data/pmc-mi300x-bmm")
    assert (found.dispatches.height, found.measured[0].width) == (301, 2017)
    channels = [f"TCC_HIT[{channel}]" for channel in range(128)]
    assert found.measured[0].select(pl.sum_horizontal(channels) == pl.col("TCC_HIT")).to_series().all()
    gemm, fill = of_kernel(found, "batched"), of_kernel(found, "fillBuffer")
    assert (gemm.height, fill.height) == (150, 151)
    sums = gemm.select("TCC_HIT", "TCC_MISS", "TCC_EA0_RDREQ", "SQ_WAVES", "SQ_INSTS_MFMA").sum().row(0)
    assert sums == (251_669_556, 81_254_441, 61_679_312, 1_228_800, 19_660_800)
    assert fill.select("TCC_HIT", "TCC_MISS").sum().row(0) == (20_474_392, 19_811_768)
    assert found.ceilings.filter(pl.col("device") == 0)["name"].n_unique() == 19
    assert found.losses.height == 0


def test_a_clock_that_did_not_run(shared: Path) -> None:
    found = open_counters(shared / "data/gfx1201-counters-pcsampling/gl2c_724")
    read = found.dispatches.filter(pl.col("kernel_name").str.contains("read_f4"))["dispatch"].item()
    values = found.values.filter(pl.col("dispatch") == read).select("counter", "value").unique().rows()
    assert values == [("SQ_WAVES", 524_288.0)]
    assert found.losses["kind"].to_list() == ["counter_silent"]
    assert found.losses["count"].item() == 11


def test_a_clock_that_ran(shared: Path) -> None:
    found = open_counters(shared / "data/gfx1201-counters-pcsampling/gl2c_714_profstd")
    read = found.dispatches.filter(pl.col("kernel_name").str.contains("read_f4"))["dispatch"].item()
    values = dict(found.values.filter(pl.col("dispatch") == read).select("counter", "value").iter_rows())
    assert (values["SQ_WAVES"], values["SQ_INSTS_VALU"]) == (524_288, 5_242_880)
    assert (values["GL2C_EA_RDREQ"], values["GL2C_MISS"]) == (1_048_578, 1_048_578)
    assert not {"GL2C_EA_RDREQ_32B", "GL2C_EA_RDREQ_64B", "GL2C_EA_RDREQ_128B", "FETCH_SIZE"} & set(values)
    assert (found.system.target, found.system.cu_count) == ("gfx1201", 64)


@pytest.mark.parametrize(
    ("folder", "kernel", "fetch", "write", "time"),
    [
        ("laplacian_k1", "laplacian_kernel", 1_984_890.8, 1_039_049.9, 2_646_378_558),
        ("laplacian_k2", "laplacian_kernel", 1_820_108.3, 1_038_108.7, 2_564_273_759),
        ("seismic_a", "compute_fd_z_kernel", 3_784_920, None, 373_785_124),
    ],
)
def test_legacy_rocprof(folder: str, kernel: str, fetch: float, write: float | None, time: int, shared: Path) -> None:
    for place in (f"{folder}/data_movement.csv", folder):
        found = open_counters(shared / "data/rocprofv1-mi200-stencils" / place)
        mine = of_kernel(found, kernel)
        assert mine["FETCH_SIZE"].mean() == pytest.approx(fetch, abs=0.5)
        assert write is None or mine["WRITE_SIZE"].mean() == pytest.approx(write, abs=0.05)
        assert (found.system.target, found.system.cu_count, found.system.clock_mhz_max) == ("gfx90a", 104, 1700)
    timed = found.dispatches.filter(pl.col("kernel_name") == kernel)
    assert (timed["end_ns"] - timed["start_ns"]).sum() == time


def test_legacy_rocprof_without_its_results_has_no_times(shared: Path) -> None:
    found = open_counters(shared / "data/rocprofv1-mi200-stencils/laplacian_k1/data_movement.csv")
    assert found.losses["kind"].to_list() == ["no_times"]


def test_legacy_wavefronts(shared: Path) -> None:
    found = open_counters(shared / "data/rocprofv1-mi300a-hiptrace/output_vec_add_gpu.csv")
    assert found.measured[0]["Wavefronts"].to_list() == [15_625_000]


def test_two_files_of_one_run(shared: Path) -> None:
    found = open_counters(shared / "data/gfx1151-rocprofv3-llama")
    assert [frame.shape for frame in found.measured.values()] == [(34, 2), (34, 11)]
    assert sum(frame.height * (frame.width - 1) for frame in found.measured.values()) == 374
    assert found.dispatches.height == 34


def test_the_analysis_database(shared: Path) -> None:
    found = open_counters(shared / "data/rocprofcompute-analysisdb")
    lengths = found.dispatches["end_ns"] - found.dispatches["start_ns"]
    assert lengths.to_list() == [227_562, 5_760, 3_040]
    assert found.stored_metrics["kernel_name"].is_not_null().sum() == 20_745
    assert found.stored_metrics["metric_id"].n_unique() <= 1_942
    assert (found.system.target, found.system.cu_count) == ("gfx950", 256)


def test_several_captures_are_listed(shared: Path) -> None:
    with pytest.raises(UsageError, match="4 captures") as caught:
        open_counters(shared / VCOPY)
    assert "MI300X_A1_rocpd" in caught.value.advice


@pytest.mark.first_case
@pytest.mark.parametrize(("name", "columns"), [("gfx908", 624), ("gfx90a", 661), ("gfx942", 2003), ("gfx950", 2859)])
def test_made_up_counters(name: str, columns: int, shared: Path) -> None:
    found = open_counters(shared / INPUTS / "synthetic" / name)
    assert (found.dispatches.height, found.dispatches["gpu"].n_unique()) == (12, 2)
    assert found.measured[0].width - 1 == columns
    assert "counter_silent" not in found.losses["kind"]


@pytest.mark.parametrize("name", ["MI100", "MI200", "MI300A_A1", "MI300X_A1"])
def test_whole_captures_have_no_losses(name: str, shared: Path) -> None:
    found = open_counters(shared / INPUTS / "path" / name)
    assert found.losses.height == 0
    assert found.dispatches["end_ns"].null_count() == 0
    assert [found.passes["name"][number] for number in range(6)] == ["pmc_perf", *LEVELS]
    row = (shared / INPUTS / "path" / name / "sysinfo.csv").read_text().splitlines()
    assert list(found.system.described) == row[0].split(",")


def test_contents_count_level_metrics_only_with_their_accumulator(shared: Path) -> None:
    from wavewright.analysis.counters.contents import counter_contents

    path = shared / "data/pmc-mi300x-bmm"
    if not path.exists():
        pytest.skip("data/pmc-mi300x-bmm is not in ../shared")
    panels = {row["word"]: row for row in counter_contents(open_counters(path)).panels.to_dicts()}
    assert panels["sol"]["metric_count"] - panels["sol"]["measured_count"] == 2
    assert panels["sol"]["missing_counters"] == "SQ_LEVEL_WAVES, SQ_IFETCH_LEVEL"
    assert panels["l2"]["metric_count"] == panels["l2"]["measured_count"]
