"""Comparisons of counter captures: matched by identity, never by position; what was not measured is not 0."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from synth.counter_capture import CounterCapture, write_counter_csv, write_counters
from synth.kernel_work import KernelWork
from wavewright.analysis.counters.choice import CounterChoice
from wavewright.analysis.counters.compare import CounterComparison, counter_compare
from wavewright.errors import UsageError
from wavewright.model.counters import CounterSet
from wavewright.readers.counters import open_counters

COPY = KernelWork("copy", dispatch_count=5, l2_hit_rate=0.3)


def made(folder: Path, *kernels: KernelWork, target: str = "gfx942", seed: int = 1) -> CounterSet:
    write_counters(folder, CounterCapture(target, kernels=kernels or (COPY,), seed=seed, with_channels=False))
    return open_counters(folder)


def row(answer: CounterComparison, name: str, table: str = "2.1", side: int = 1) -> dict[str, Any]:
    is_it = (pl.col("name") == name) & (pl.col("table_id") == table) & (pl.col("side") == side)
    found = answer.metrics.filter(is_it)
    assert found.height == 1
    return found.row(0, named=True)


def test_the_same_capture_has_no_changes(tmp_path: Path) -> None:
    counters = made(tmp_path / "a")
    answer = counter_compare([counters, counters])
    assert answer.changes(1).height == 0
    assert set(answer.metrics["status"]) <= {"same", "blank"}
    assert answer.kernels["status"].to_list() == ["same"]
    assert "within noise" in answer.verdict(1)


def test_a_slower_kernel_and_a_better_cache(tmp_path: Path) -> None:
    before = made(tmp_path / "a")
    after = made(tmp_path / "b", replace(COPY, duration_ns=30_000, l2_hit_rate=0.6), seed=2)
    answer = counter_compare([before, after])
    kernel = answer.kernels.row(0, named=True)
    assert kernel["status"] == "slower"
    assert kernel["change"] == pytest.approx(0.5, abs=0.05)
    hits = row(answer, "L2 Cache Hit Rate")
    assert (hits["status"], hits["unit"]) == ("higher", "%")
    assert hits["delta"] == pytest.approx(hits["value"] - hits["base"])
    assert hits["base"] == pytest.approx(30, abs=2)
    verdict = answer.verdict(1)
    assert verdict.startswith("B against A: kernel time 2")
    assert "L2 Cache Hit Rate" in verdict
    assert answer.regressions(1, 0.4).height == 1
    assert answer.regressions(1, 0.6).height == 0
    faster = counter_compare([after, before])
    assert faster.kernels["status"].to_list() == ["faster"]
    assert faster.regressions(1, 0.0).height == 0


@pytest.mark.slow
def test_metrics_are_matched_by_name_on_other_architectures(tmp_path: Path) -> None:
    """The index of a metric differs between targets: 2.1.19 is a bandwidth of L1 here and a hit rate there."""
    old, new = made(tmp_path / "a", target="gfx90a"), made(tmp_path / "b", target="gfx942")
    answer = counter_compare([old, new])
    ids = {}
    for counters in (old, new):
        same = counter_compare([counters, counters])
        ids[counters.system.target] = dict(
            same.metrics.filter(pl.col("table_id") == "2.1").select("name", "metric_id").rows()
        )
    moved = [name for name, number in ids["gfx90a"].items() if ids["gfx942"].get(name, number) != number]
    assert moved
    for name in moved:
        one, other = row(counter_compare([old, old]), name), row(counter_compare([new, new]), name)
        assert (row(answer, name)["base"], row(answer, name)["value"]) == (one["base"], other["value"])
    assert any("gfx90a" in note and "gfx942" in note for note in answer.notes)
    only = row(answer, "MFMA FLOPs (F8)")
    assert (only["status"], only["delta"], only["base_reason"]) == ("not in base", None, "this GPU has no such metric")


def test_what_was_not_measured_is_not_zero(tmp_path: Path) -> None:
    write_counter_csv(tmp_path / "a", CounterCapture(kernels=(COPY,)), passes=[["SQ_WAVES", "TCC_HIT", "TCC_MISS"]])
    write_counter_csv(tmp_path / "b", CounterCapture(kernels=(COPY,)), passes=[["SQ_WAVES"]])
    answer = counter_compare([open_counters(tmp_path / "a"), open_counters(tmp_path / "b")], metrics=["2.1.21"])
    hits = row(answer, "L2 Cache Hit Rate")
    assert hits["status"] == "not in side"
    assert hits["base"] == pytest.approx(30, abs=2)
    assert (hits["value"], hits["delta"], hits["change"]) == (None, None, None)
    assert "TCC_HIT" in hits["reason"]
    assert answer.changes(1).height == 0


def test_a_base_of_zero_has_no_percentage(tmp_path: Path) -> None:
    before = made(tmp_path / "a", replace(COPY, lds=0))
    after = made(tmp_path / "b", replace(COPY, lds=8))
    lds = row(counter_compare([before, after]), "LDS", table="10.1")
    assert (lds["base"], lds["change"], lds["status"]) == (0.0, None, "higher")
    assert lds["delta"] == lds["value"] > 0


def test_noise_is_the_spread_over_dispatches(tmp_path: Path) -> None:
    one, many = (
        made(tmp_path / name, replace(COPY, dispatch_count=count), seed=seed)
        for name, count, seed in (("a", 1, 1), ("b", 12, 2))
    )
    lonely = counter_compare([one, one])
    assert lonely.kernels["noise"].to_list() == [None]
    assert row(lonely, "IPC")["noise"] is None
    assert row(lonely, "IPC")["status"] == "same"  # not a bit of difference
    shared = counter_compare([one, many])
    assert shared.kernels["noise"][0] > counter_compare([many, many]).kernels["noise"][0] > 0
    assert counter_compare([many, many]).kernels["noise"][0] >= 0.01


def test_kernels_that_only_one_side_has(tmp_path: Path) -> None:
    gemm = KernelWork("gemm", dispatch_count=3, matrix=64, duration_ns=50_000)
    before, after = made(tmp_path / "a", COPY, gemm), made(tmp_path / "b", COPY, replace(gemm, name="gemm_v2"))
    answer = counter_compare([before, after])
    status = dict(answer.kernels.select("kernel_name", "status").iter_rows())
    assert status == {"copy": "same", "gemm": "gone", "gemm_v2": "new"}
    assert answer.metrics["kernel_name"].unique().to_list() == ["copy"]
    assert "1 kernel of A is not in B" in answer.notes
    assert "1 kernel of B is not in A" in answer.notes


def test_renamed_kernels_are_compared_all_the_same(tmp_path: Path) -> None:
    before, after = made(tmp_path / "a"), made(tmp_path / "b", replace(COPY, name="copy_v2", l2_hit_rate=0.9))
    answer = counter_compare([before, after])
    assert row(answer, "L2 Cache Hit Rate")["status"] == "higher"
    assert any("different names" in note for note in answer.notes)


def test_choices_and_panels(tmp_path: Path) -> None:
    gemm = KernelWork("gemm", dispatch_count=3, matrix=64, duration_ns=50_000)
    counters = made(tmp_path / "a", COPY, gemm)
    answer = counter_compare([counters, counters], choices=[CounterChoice(kernels=("gemm",))] * 2, panels=["l2"])
    assert answer.kernels["kernel_name"].to_list() == ["gemm"]
    assert {table.split(".")[0] for table in answer.metrics["table_id"]} == {"17"}
    both = counter_compare([counters, counters])
    assert both.metrics["kernel_name"].unique(maintain_order=True).to_list() == ["gemm", "copy"]
    assert not both.metrics["channel"].drop_nulls().len()


def test_three_captures(tmp_path: Path) -> None:
    captures = [made(tmp_path / str(n), replace(COPY, duration_ns=n * 10_000), seed=n) for n in (1, 2, 3)]
    answer = counter_compare(captures)
    assert answer.sides["label"].to_list() == ["A", "B", "C"]
    assert answer.sides["change"].to_list()[1:] == pytest.approx([1, 2], rel=0.05)
    assert answer.verdict(2).startswith("C against A")


def test_one_capture_is_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to compare"):
        counter_compare([made(tmp_path / "a")])


def test_kernels_without_times(tmp_path: Path) -> None:
    counters = made(tmp_path / "a")
    when = counters.dispatches.with_columns(end_ns=pl.lit(None, pl.Float64))
    lost = replace(counters, tables=counters.tables | {"dispatches": when})
    for captures in ([counters, lost], [lost, counters], [lost, lost]):
        answer = counter_compare(captures)
        assert answer.kernels.row(0, named=True)["status"] == "unknown"
        assert answer.kernels["change"].to_list() == answer.kernels["delta_ns"].to_list() == [None]
        assert "kernel times cannot be compared" in answer.verdict(1)
        assert answer.regressions(1, 0.0).height == 0


def test_kernels_without_times_have_no_effect(tmp_path: Path) -> None:
    timed = made(tmp_path / "a", COPY)
    blank = pl.lit(None, pl.Float64)
    renamed = timed.dispatches.with_columns(kernel_name=pl.lit("other"), start_ns=blank, end_ns=blank)
    answer = counter_compare([timed, CounterSet({**timed.tables, "dispatches": renamed}, timed.measured, timed.system)])
    rows = {row["kernel_name"]: row for row in answer.kernels.iter_rows(named=True)}
    assert (rows["copy"]["status"], rows["other"]["status"]) == ("gone", "new")
    assert rows["copy"]["delta_ns"] < 0
    assert rows["other"]["delta_ns"] is None


@pytest.mark.slow
def test_noise_is_that_of_the_dispatches_with_times(tmp_path: Path) -> None:
    whole = made(tmp_path / "a", replace(COPY, dispatch_count=8))
    few = pl.when(pl.col("dispatch") < 3).then("end_ns")
    partly = CounterSet(
        {**whole.tables, "dispatches": whole.dispatches.with_columns(end_ns=few)}, whole.measured, whole.system
    )
    noise = [counter_compare([one, one]).kernels["noise"][0] for one in (whole, partly)]
    assert noise[1] > noise[0]
