from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from synth import CounterCapture, KernelWork, typical_kernels, write_counter_csv, write_counters
from synth.counter_devices import DEVICES
from synth.kernel_work import counters_of
from tests.kit.together import together
from wavewright.errors import UsageError


@together("target", DEVICES)
def test_counters_agree_with_each_other(target: str) -> None:
    for work in typical_kernels(DEVICES[target]):
        made = counters_of(work, DEVICES[target])
        assert made["TCC_HIT"] + made["TCC_MISS"] == made["TCC_REQ"] == made["TCC_READ"] + made["TCC_WRITE"]
        assert made["TCC_HIT"] == pytest.approx(work.l2_hit_rate * made["TCC_REQ"], abs=1)
        assert made["TCP_TOTAL_READ"] + made["TCP_TOTAL_WRITE"] == made["TCP_TOTAL_ACCESSES"]
        assert made["SQ_INSTS_VALU"] + made["SQ_INSTS_VMEM"] < made["SQ_INSTS"]
        sizes = sum(made[f"TCC_EA0_RDREQ_{size}B"] for size in (32, 64, 128))
        assert sizes == made["TCC_EA0_RDREQ"]
        assert all(value >= 0 and value == round(value) for value in made.values())


@together("target", DEVICES)
def test_typical_kernels_are_at_their_limits(target: str) -> None:
    device = DEVICES[target]
    copy, gemm, _ = typical_kernels(device)
    moved = 64 * (copy.loads * copy.waves * 4 * (1 - copy.l2_hit_rate) + copy.stores * copy.waves * 4)
    assert moved / copy.duration_ns / device.memory_gb_per_second == pytest.approx(0.8, rel=0.02)
    flops = gemm.waves * gemm.matrix * gemm.matrix_flops
    peak = device.cu_count * device.matrix_flops_per_cycle * device.clock_mhz_max / 1000
    assert flops / gemm.duration_ns / peak == pytest.approx(0.7, rel=0.01)


def test_channels_sum_up_to_their_totals(tmp_path: Path) -> None:
    work = KernelWork("k", channel_imbalance=0.5)
    made = write_counters(tmp_path, CounterCapture("gfx90a", kernels=(work,)))
    wide = pl.read_csv(made.folder / "pmc_perf.csv")
    channels = wide.select(pl.sum_horizontal(f"TCC_REQ[{channel}]" for channel in range(32)).alias("sum"))
    assert channels["sum"].to_list() == wide["TCC_REQ_sum"].to_list()
    assert (wide["TCC_REQ[0]"] > 10 * wide["TCC_REQ[1]"]).all()
    assert "TCC_EA_RDREQ[31]" in wide.columns
    assert "TCC_EA0_RDREQ[31]" not in wide.columns


def test_totals_are_those_of_the_files(tmp_path: Path) -> None:
    made = write_counters(tmp_path)
    wide = pl.read_csv(made.folder / "pmc_perf.csv")
    assert wide.height == made.dispatch_count == 8
    for name, totals in made.totals.items():
        mine = wide.filter(pl.col("Kernel_Name") == name)
        assert mine["TCC_MISS_sum"].sum() == totals["TCC_MISS"]
        assert (mine["End_Timestamp"] - mine["Start_Timestamp"]).sum() == totals["duration_ns"]
    level = pl.read_csv(made.folder / "SQ_LEVEL_WAVES.csv")
    assert level["SQ_ACCUM_PREV_HIRES"].sum() == sum(totals["SQ_LEVEL_WAVES"] for totals in made.totals.values())


def test_dispatches_of_a_kernel_differ_by_no_more_than_the_jitter(tmp_path: Path) -> None:
    work = KernelWork("k", dispatch_count=50, duration_ns=100_000)
    made = write_counters(tmp_path, CounterCapture(kernels=(work,), jitter=0.1, with_channels=False))
    wide = pl.read_csv(made.folder / "pmc_perf.csv")
    durations = wide["End_Timestamp"] - wide["Start_Timestamp"]
    assert durations.n_unique() > 40
    assert (durations - 100_000).abs().max() <= 10_000
    assert wide["SQ_WAVES"].n_unique() == 1


def test_counters_can_be_set(tmp_path: Path) -> None:
    work = KernelWork("k", counters={"GRBM_GUI_ACTIVE": 0.0, "TCC_HIT": 5.0})
    made = write_counters(tmp_path, CounterCapture(kernels=(work,)))
    wide = pl.read_csv(made.folder / "pmc_perf.csv")
    assert wide.select("GRBM_GUI_ACTIVE", "TCC_HIT_sum").unique().rows() == [(0.0, 5.0)]


def test_passes_of_rocprofv3(tmp_path: Path) -> None:
    made = write_counter_csv(tmp_path, passes=[["SQ_WAVES", "TCC_HIT"], ["TCC_HIT", "TCC_MISS"]])
    first, second = (pl.read_csv(made.folder / f"pass_{n}/out_counter_collection.csv") for n in (1, 2))
    assert first["Counter_Name"].unique().sort().to_list() == ["SQ_WAVES", "TCC_HIT_sum"]
    assert first["Kernel_Name"].to_list() == second["Kernel_Name"].to_list()
    assert first["Process_Id"].unique().to_list() != second["Process_Id"].unique().to_list()
    hits = second.filter(pl.col("Counter_Name") == "TCC_HIT_sum")["Counter_Value"].sum()
    assert hits == sum(totals["TCC_HIT"] for totals in made.totals.values())


def test_a_gpu_without_a_model() -> None:
    with pytest.raises(UsageError, match="gfx1201"):
        _ = CounterCapture("gfx1201").device


def test_the_same_capture_is_made_again(tmp_path: Path) -> None:
    capture = CounterCapture("gfx950", seed=7)
    for name in ("a", "b"):
        write_counters(tmp_path / name, capture)
    write_counters(tmp_path / "c", replace(capture, seed=8))
    one, again, other = ((tmp_path / name / "pmc_perf.csv").read_bytes() for name in "abc")
    assert one == again != other
