from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from synth.counter_capture import CounterCapture, write_counter_csv, write_counters
from synth.kernel_work import KernelWork
from tests.kit.together import together
from wavewright.analysis.counters.choice import CounterChoice
from wavewright.analysis.counters.roofline import Roofline, roofline
from wavewright.analysis.counters.roofline.ceilings import ceiling_rows
from wavewright.analysis.counters.roofline.geometry import picture_of
from wavewright.analysis.counters.roofline.work import formulas_for
from wavewright.errors import UsageError
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.panels import panels_of
from wavewright.model.answer import to_builtins
from wavewright.model.counters import COUNTER_SET, CounterSet, System
from wavewright.model.schema import frame_of
from wavewright.readers.counters import open_counters

CDNA = ("gfx908", "gfx90a", "gfx942", "gfx950")


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> CounterSet:
    folder = tmp_path_factory.mktemp("roofline")
    write_counters(folder, CounterCapture("gfx942"))
    return open_counters(folder)


def benchmarks(*rows: tuple[int, str, float]) -> CounterSet:
    system = System(
        target="gfx942",
        product="MI300X",
        cu_count=304,
        clock_mhz_max=2100,
        l2_channel_count=128,
        memory_clock_mhz_max=1300,
        memory_channel_count=128,
    )
    made = [{"device": device, "name": name, "value": value} for device, name, value in rows]
    return CounterSet({"ceilings": frame_of(COUNTER_SET["ceilings"], made)}, system=system)


def used(counters: CounterSet, choice: str) -> dict[str, tuple[float | None, str]]:
    return {row["name"]: (row["used"], row["used_from"]) for row in ceiling_rows(counters, choice=choice)}


def test_theoretical_ceilings_are_rates_times_units_times_clock() -> None:
    found = used(benchmarks(), "best")
    gcycles = 304 * 2.1
    assert found["MFMA FP16"] == (pytest.approx(2048 * gcycles), "theoretical")
    assert found["VALU FP64"] == (pytest.approx(128 * gcycles), "theoretical")
    assert found["L1"] == (pytest.approx(128 * gcycles), "theoretical")
    assert found["L2"] == (pytest.approx(128 * 128 * 2.1), "theoretical")
    assert found["HBM"] == (pytest.approx(5324.8), "theoretical")
    assert "MFMA FP4/6" not in found
    assert "MALL" not in found


def test_the_roof_of_memory_is_the_peak_that_the_panels_have() -> None:
    said = System(target="gfx942", memory_clock_mhz_max=1300, memory_channel_count=16, memory_gb_per_second=5300.0)
    assert used(CounterSet(system=said), "best")["HBM"] == (5300.0, "theoretical")
    partition = System(target="gfx942", product="MI300X", cu_count=38, clock_mhz_max=2100)
    assert used(CounterSet(system=partition), "best")["HBM"] == (None, ""), "the peak of all dies is not that of one"


def test_which_ceiling_is_used() -> None:
    made = benchmarks((0, "HBMBw", 4000.0), (0, "MALLBw", 6000.0), (0, "MFMAF16Flops", 0.0), (1, "HBMBw", 3000.0))
    assert used(made, "best")["HBM"] == (4000.0, "empirical")
    assert used(made, "best")["MALL"] == (6000.0, "empirical")
    assert used(made, "theoretical")["HBM"][1] == "theoretical"
    assert used(made, "best")["MFMA FP16"][1] == "theoretical", "a benchmark of zero is none"
    assert used(made, "empirical")["MFMA FP16"] == (None, "")
    reasons = {row["name"]: row["reason"] for row in ceiling_rows(made, choice="empirical")}
    assert reasons["MFMA FP16"] == "no benchmark measured it"
    with pytest.raises(UsageError, match="no ceilings called 'fast'"):
        ceiling_rows(made, choice="fast")


def test_the_faster_of_two_benchmarks_is_the_roof() -> None:
    system = System(target="gfx950", product="MI350X", cu_count=256, clock_mhz_max=2200)
    rows = [{"device": 0, "name": name, "value": value} for name, value in (("MFMAF6Flops", 5.0), ("MFMAF4Flops", 7.0))]
    made = CounterSet({"ceilings": frame_of(COUNTER_SET["ceilings"], rows)}, system=system)
    assert used(made, "best")["MFMA FP4/6"] == (7.0, "empirical")


@pytest.mark.parametrize(
    ("lacking", "reason"), [("clock_mhz_max", "clock"), ("cu_count", "CUs"), ("target", "--target")]
)
def test_missing_facts_are_named(lacking: str, reason: str) -> None:
    facts = {"target": "gfx942", "cu_count": 304, "clock_mhz_max": 2100} | {lacking: None}
    row = next(
        row for row in ceiling_rows(CounterSet(system=System(**facts)), choice="best") if row["name"] == "VALU FP32"
    )
    assert row["used"] is None
    assert reason in row["reason"]


def test_made_kernels_are_where_they_were_put(capture: CounterSet) -> None:
    answer = roofline(capture, ceilings="theoretical")
    rows = {row["kernel_name"].split("(")[0]: row for row in answer.kernels.iter_rows(named=True)}
    assert rows["tile_gemm"]["bound"] == "MFMA FP16"
    assert rows["tile_gemm"]["share"] == pytest.approx(0.7, rel=0.03)
    assert rows["stream_copy"]["bound"] == "HBM"
    assert rows["stream_copy"]["share"] == pytest.approx(0.8, rel=0.03)
    assert rows["gather_rows"]["share"] == pytest.approx(0.3, rel=0.03)
    assert answer.kernels["duration_share"].sum() == pytest.approx(1)
    shares = answer.kernels["duration_share"].to_list()
    assert shares == sorted(shares, reverse=True)


def test_dispatches_and_choices(capture: CounterSet) -> None:
    every = roofline(capture, by="dispatch")
    assert every.total_count == every.kernels.height == 8
    assert every.kernels["dispatch"].n_unique() == 8
    ids = dict(capture.dispatches.select("dispatch", "dispatch_id").iter_rows())
    assert all(ids[row["dispatch"]] == row["dispatch_id"] for row in every.points.iter_rows(named=True))
    one = roofline(capture, by="dispatch", choice=CounterChoice(kernels=("copy",)), top=2)
    assert (one.total_count, one.kernels.height) == (3, 2)
    assert one.points.height == 2 * 2 * 4
    mean = roofline(capture, choice=CounterChoice(kernels=("copy",)))
    assert mean.kernels.height == 1
    with pytest.raises(UsageError, match="no kernel 'nothing'"):
        roofline(capture, choice=CounterChoice(kernels=("nothing",)))
    with pytest.raises(UsageError, match="no points by 'wave'"):
        roofline(capture, by="wave")


def test_lines_of_the_reference_are_half_as_long(capture: CounterSet) -> None:
    ours, theirs = (roofline(capture, amd=amd).points for amd in (False, True))
    l1 = (pl.col("level") == "L1") & (pl.col("bytes") > 0)
    ratio = ours.filter(l1)["bytes"] / theirs.filter(l1)["bytes"]
    assert ratio.to_list() == [2.0] * ratio.len()
    hbm = pl.col("level") == "HBM"
    assert ours.filter(hbm)["bytes"].to_list() == theirs.filter(hbm)["bytes"].to_list()


@pytest.mark.parametrize("target", CDNA)
def test_every_target_has_levels(target: str, tmp_path: Path) -> None:
    write_counters(tmp_path, CounterCapture(target, with_channels=False))
    answer = roofline(open_counters(tmp_path))
    moved = answer.points.filter(pl.col("level") == "HBM")
    assert moved["bytes"].null_count() == 0
    if target == "gfx908":
        assert set(answer.points["reason"]) == {"no counters of gfx908 tell operations"}
        assert answer.kernels["flops"].null_count() == answer.kernels.height
    else:
        assert max(answer.kernels["flops"].to_list()) > 0
    json.dumps(to_builtins(answer), allow_nan=False)


def test_partial_captures_say_which_counters_are_missing(tmp_path: Path) -> None:
    write_counter_csv(tmp_path, CounterCapture("gfx942"))
    answer = roofline(open_counters(tmp_path))
    assert answer.kernels.height == 3
    reasons = set(answer.points.filter(pl.col("level") == "L1")["reason"])
    assert any("TCP_TOTAL_CACHE_ACCESSES" in reason for reason in reasons)
    assert answer.points["intensity"].null_count() == answer.points.height


def test_types_that_were_not_counted_are_none_where_no_instruction_is_left(tmp_path: Path) -> None:
    write_counters(tmp_path, CounterCapture("gfx942", with_channels=False))
    wide = pl.read_csv(tmp_path / "pmc_perf.csv")
    wide.drop("SQ_INSTS_VALU_MFMA_MOPS_F8").write_csv(tmp_path / "pmc_perf.csv")
    whole = roofline(open_counters(tmp_path))
    assert set(whole.kernels["flops_missing"]) == {""}
    lacking = [name for name in wide.columns if name.startswith("SQ_INSTS_VALU_MFMA") or name == "SQ_INSTS_MFMA"]
    wide.drop(lacking).write_csv(tmp_path / "pmc_perf.csv")
    answer = roofline(open_counters(tmp_path))
    assert "MFMA FP16" in answer.kernels["flops_missing"][0]
    assert any("MFMA FP16" in caveat and "lower bounds" in caveat for caveat in answer.caveats)


def test_nothing_at_all() -> None:
    answer = roofline(CounterSet({}))
    assert answer.kernels.is_empty()
    assert any("no roofs" in caveat for caveat in answer.caveats)
    picture = picture_of(answer)
    assert not picture.roofs
    assert not picture.marks


def test_unknown_targets_are_said() -> None:
    dispatches = frame_of(
        COUNTER_SET["dispatches"],
        [{"dispatch": 0, "dispatch_id": 1, "kernel_name": "k", "start_ns": 0.0, "end_ns": 10.0}],
    )
    answer = roofline(CounterSet({"dispatches": dispatches}, system=System(target="gfx803")))
    assert set(answer.points["reason"]) == {"no formulas for the counters of gfx803 are known"}
    assert answer.kernels["verdict"].to_list() == ["no work counted"]


def test_gpus_that_do_not_count_operations() -> None:
    dispatches = [{"dispatch": 0, "dispatch_id": 1, "kernel_name": "k", "start_ns": 0.0, "end_ns": 10.0}]
    measured = pl.DataFrame({"dispatch": [0], "GL2C_EA_RDREQ": [20.0], "GL2C_EA_WRREQ": [5.0]}).cast(
        {"dispatch": pl.UInt32}
    )
    passes = [{"pass": 0, "run": 0, "name": "p", "file": "p.csv", "form": "long", "is_joined": False}]
    columns = [{"pass": 0, "counter": name, "column": name, "spelled": name} for name in measured.columns[1:]]
    tables = {
        "dispatches": frame_of(COUNTER_SET["dispatches"], dispatches),
        "passes": frame_of(COUNTER_SET["passes"], passes),
        "counters": frame_of(COUNTER_SET["counters"], columns),
    }
    system = System(target="gfx1201", product="RX 9070 XT", memory_gb_per_second=640.0)
    answer = roofline(CounterSet(tables, {0: measured}, system=system))
    rows = {row["level"]: row for row in answer.points.filter(pl.col("work") == "flop").iter_rows(named=True)}
    assert rows["HBM"]["bytes"] == 256 * 25
    assert rows["HBM"]["reason"] == "no counters of gfx1201 tell operations"
    assert rows["HBM"]["share"] == pytest.approx(256 * 25 / 10 / 640)
    assert rows["L2"]["reason"] == "no counters of gfx1201 tell its bytes"
    assert answer.kernels["bound"].to_list() == ["HBM"]


def test_stored_rates_of_a_database() -> None:
    names = {"VALU FLOPs (F32)": 100.0, "MFMA FLOPs (F16)": 300.0, "HBM Bandwidth": 200.0, "L2 Cache Bandwidth": None}
    stored = [
        {"kernel_name": "k", "metric_id": f"4.1.{at}", "name": name, "statistic": "Value", "value": value}
        for at, (name, value) in enumerate(names.items())
    ]
    stored.append(
        {"kernel_name": "k", "metric_id": "17.1.5", "name": "HBM Bandwidth", "statistic": "Avg", "value": 9.0}
    )
    tables = {
        "stored_metrics": frame_of(COUNTER_SET["stored_metrics"], stored),
        "dispatches": frame_of(
            COUNTER_SET["dispatches"],
            [{"dispatch": 0, "dispatch_id": 0, "kernel_name": "k", "start_ns": 0.0, "end_ns": 50.0}],
        ),
    }
    counters = CounterSet(tables, system=System(target="gfx942", product="MI300X", cu_count=304, clock_mhz_max=2100))
    answer = roofline(counters)
    points = {row["level"]: row for row in answer.points.filter(pl.col("work") == "flop").iter_rows(named=True)}
    assert points["HBM"]["intensity"] == 2.0
    assert points["HBM"]["gops_per_second"] == 400.0
    assert points["HBM"]["bytes"] == 10_000.0
    assert points["L2"]["reason"] == "the database has no value for it"
    assert any("stored" in caveat for caveat in answer.caveats)
    with pytest.raises(UsageError, match="not of dispatches"):
        roofline(counters, by="dispatch")


def test_roofs_meet_at_their_ridges(capture: CounterSet) -> None:
    answer: Roofline = roofline(capture)
    picture = picture_of(answer, precisions=("fp16", "fp32"))
    ceilings = {row["name"]: row["used"] for row in answer.ceilings.iter_rows(named=True)}
    roofs = {roof.name: roof for roof in picture.roofs}
    assert {"HBM", "L2", "L1", "LDS", "VALU FP16", "VALU FP32", "MFMA FP16", "MFMA FP32"} == set(roofs)
    highest = ceilings["MFMA FP16"]
    for name in ("HBM", "L2", "L1", "LDS"):
        x, y = roofs[name].points[1]
        assert y == pytest.approx(highest)
        assert x == pytest.approx(highest / ceilings[name])
    x, y = roofs["VALU FP32"].points[0]
    assert x == pytest.approx(ceilings["VALU FP32"] / max(ceilings[name] for name in ("HBM", "L2", "L1", "LDS")))
    for roof in picture.roofs:
        for x, y in roof.points:
            assert picture.x_range[0] <= x * (1 + 1e-9)
            assert x <= picture.x_range[1] * (1 + 1e-9)
            assert picture.y_range[0] <= y * (1 + 1e-9)
            assert y <= picture.y_range[1]


def test_marks_and_levels_of_the_picture(capture: CounterSet) -> None:
    answer = roofline(capture)
    assert picture_of(answer).unit == "GFLOP/s"
    assert {mark.level for mark in picture_of(answer, levels=("HBM",)).marks} == {"HBM"}
    assert picture_of(answer, limit=1).marks == picture_of(answer).marks[:4], "the longest has four levels"
    integers = picture_of(answer, precisions=("i32",))
    assert integers.unit == "GIOP/s"
    assert {mark.work for mark in integers.marks} == {"iop"}
    both = picture_of(answer, precisions=("i32", "fp16"))
    assert both.unit == "GOP/s"
    json.dumps(to_builtins(both), allow_nan=False)


def test_counters_that_disagree_give_no_bytes(tmp_path: Path) -> None:
    odd = KernelWork("odd", fma_f32=5, counters={"SQ_LDS_IDX_ACTIVE": 10.0, "SQ_LDS_BANK_CONFLICT": 500.0})
    write_counters(tmp_path, CounterCapture("gfx942", kernels=(odd,), with_channels=False))
    for amd, reason in ((False, "no bytes at LDS"), (True, "the counters disagree")):
        points = roofline(open_counters(tmp_path), amd=amd).points
        rows = {row["level"]: row for row in points.filter(pl.col("work") == "flop").iter_rows(named=True)}
        assert not rows["LDS"]["bytes"]
        assert rows["LDS"]["reason"].startswith(reason)
        assert rows["LDS"]["share"] is None
        assert rows["HBM"]["intensity"] > 0


def test_stopped_clocks_give_intensities_without_rates(tmp_path: Path) -> None:
    write_counters(tmp_path, CounterCapture("gfx90a", with_channels=False))
    for file in tmp_path.glob("*.csv"):
        table = pl.read_csv(file)
        if "End_Timestamp" in table.columns:
            table.with_columns(End_Timestamp=pl.col("Start_Timestamp")).write_csv(file)
    answer = roofline(open_counters(tmp_path))
    gemm = answer.points.filter(pl.col("kernel_name").str.contains("gemm"), pl.col("work") == "flop")
    assert gemm["intensity"].null_count() == 0
    assert gemm["gops_per_second"].null_count() == gemm.height
    assert set(gemm["reason"]) == {"no sound timestamps"}
    assert not picture_of(answer).marks
    json.dumps(to_builtins(answer), allow_nan=False)


def test_bytes_are_those_of_the_synthesizer(tmp_path: Path) -> None:
    made = write_counters(tmp_path, CounterCapture("gfx942", with_channels=False))
    answer = roofline(open_counters(tmp_path))
    for name, totals in made.totals.items():
        own = answer.points.filter(pl.col("kernel_name") == name, pl.col("work") == "flop")
        count = answer.kernels.filter(pl.col("kernel_name") == name)["dispatch_count"][0]
        moved = dict(own.select("level", "bytes").iter_rows())
        small, reads = totals["TCC_EA0_RDREQ_32B"], totals["TCC_EA0_RDREQ"]
        large, full, writes = totals["TCC_BUBBLE"], totals["TCC_EA0_WRREQ_64B"], totals["TCC_EA0_WRREQ"]
        total = 128 * large + 32 * small + 64 * (reads - large - small) + 64 * full + 32 * (writes - full)
        assert moved["HBM"] == pytest.approx(total / count)
        others = totals["TCP_TCC_WRITE_REQ"] + totals.get("TCP_TCC_ATOMIC_WITH_RET_REQ", 0)
        others += totals.get("TCP_TCC_ATOMIC_WITHOUT_RET_REQ", 0)
        assert moved["L2"] == pytest.approx((128 * totals["TCP_TCC_READ_REQ"] + 64 * others) / count)


@together("target", CDNA)
def test_the_panel_that_is_advised_has_all_counters(target: str) -> None:
    (panel,) = (panel for panel in panels_of(target) if panel.word == "sol")
    formulas = [metric.formula for table in panel.tables for metric in table.metrics if metric.formula]
    planned = {name for formula in formulas for name in parse(formula).counters}
    needed = {name for formula in formulas_for(target).values() for name in parse(formula).counters}
    assert needed <= planned


def test_roofs_of_a_radeon_are_those_of_its_data_sheet(shared: Path) -> None:
    """RX 9070 XT: 48.7 TFLOP/s of FP32 and 195 of FP16 by matrices; the driver says a clock of 2,460 MHz."""
    answer = roofline(open_counters(shared / "data/gfx1201-counters-pcsampling/gl2c_714_profstd"))
    used = dict(answer.ceilings.select("name", "used").iter_rows())
    assert round(used["VALU FP32"] / 1000, 1) == 48.7
    assert round(used["WMMA FP16"] / 1000) == 195
    assert round(used["WMMA INT8"] / 1000) == 389
    assert used["HBM"] == 640
    assert used["VALU FP64"] < used["VALU FP32"] / 16
    assert any("2,970 MHz" in caveat for caveat in answer.caveats)
    assert any("VOPD" in caveat for caveat in answer.caveats)
