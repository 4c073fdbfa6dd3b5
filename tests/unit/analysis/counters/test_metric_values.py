"""Metrics per kernel and per dispatch, and dispatches that are not like the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from synth.counter_capture import CounterCapture, write_counters
from synth.kernel_work import KernelWork
from wavewright.analysis.counters.choice import CounterChoice
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.analysis.counters.values import metric_values, outlier_rows
from wavewright.model.counters import CounterSet
from wavewright.readers.counters import open_counters

COPY = KernelWork("copy", dispatch_count=8, l2_hit_rate=0.3)
GEMM = KernelWork("gemm", dispatch_count=3, matrix=64, duration_ns=90_000, l2_hit_rate=0.8)


@pytest.fixture(scope="module")
def counters(tmp_path_factory: pytest.TempPathFactory) -> CounterSet:
    folder = tmp_path_factory.mktemp("capture")
    write_counters(folder, CounterCapture("gfx90a", kernels=(COPY, GEMM)))
    return open_counters(folder)


def assert_same(value: float | None, expected: float | None, what: str) -> None:
    if value is None or expected is None:
        assert value is expected, what
    else:
        assert value == pytest.approx(expected, rel=1e-12), what


@pytest.mark.first_case
@pytest.mark.parametrize("amd", [False, True])
@pytest.mark.parametrize("normalization", ["kernel", "wave", "cycle", "second"])
def test_kernels_are_what_the_panels_say(counters: CounterSet, amd: bool, normalization: str) -> None:
    panels = ["2", "17", "16"]
    answer = metric_values(counters, by="kernel", panels=panels, amd=amd, normalization=normalization)
    assert answer.values["kernel_name"].to_list() == ["gemm", "copy"]
    for place, rank in enumerate(("0", "1")):
        choice = CounterChoice(kernels=(rank,))
        one = counter_panels(counters, choice=choice, panels=panels, amd=amd, normalization=normalization)
        expected = dict(one.rows.select("metric_id", "average").iter_rows())
        units = dict(one.rows.select("metric_id", "unit").iter_rows())
        assert dict(answer.metrics.select("metric_id", "unit").iter_rows()) == units
        for number, value in expected.items():
            if number != "2.1.7":  # active CUs of the reference are one number per capture
                assert_same(answer.values[number][place], value, number)


def test_dispatches_are_what_the_panels_say_of_each(counters: CounterSet) -> None:
    answer = metric_values(counters, by="dispatch", panels=["2"])
    assert answer.values.height == 11
    for row in answer.values.sample(3, seed=1).iter_rows(named=True):
        one = counter_panels(counters, choice=CounterChoice(dispatches=(row["dispatch_id"],)), panels=["2"])
        for number, value in one.rows.select("metric_id", "average").iter_rows():
            assert_same(row[number], value, number)
        spent = counters.dispatches.filter(pl.col("dispatch") == row["dispatch"])
        assert row["duration_ns_mean"] == (spent["end_ns"] - spent["start_ns"])[0]


def test_channels_only_where_they_are_asked_for(counters: CounterSet) -> None:
    few = metric_values(counters, by="kernel", panels=["18"])
    assert few.metrics["metric_id"].to_list() == ["18.1.0"]
    all_of_them = metric_values(counters, by="kernel", panels=["18.2"], all_channels=True)
    assert all_of_them.metrics.height == 32
    assert all_of_them.values.columns[-1].endswith("[31]")
    rows = counter_panels(counters, choice=CounterChoice(kernels=("0",)), panels=["18.2"]).rows
    values = [all_of_them.values[name][0] for name in all_of_them.metrics["column"]]
    assert values == pytest.approx(rows["average"].to_list())


def test_names_for_plots(counters: CounterSet) -> None:
    named = metric_values(counters, by="dispatch", metrics=["17.1.2"]).named()
    assert named.columns[-1] == "17.1.2 Hit Rate (%)"


def test_reasons(counters: CounterSet) -> None:
    without = CounterSet(
        dict(counters.tables), {n: frame.select("dispatch") for n, frame in counters.measured.items()}, counters.system
    )
    answer = metric_values(without, by="dispatch", metrics=["17.1.2"])
    assert answer.values["17.1.2"].null_count() == answer.values.height
    assert "TCC_HIT" in answer.metrics["reason"][0]


def test_outliers(tmp_path: Path) -> None:
    slow = replace(COPY, name="copy", dispatch_count=9)
    write_counters(tmp_path, CounterCapture("gfx90a", kernels=(slow,), with_channels=False))
    table = tmp_path / "pmc_perf.csv"
    frame = pl.read_csv(table)
    third = pl.int_range(pl.len()) == 3
    later = pl.when(third).then(pl.col("End_Timestamp") + 60_000).otherwise(pl.col("End_Timestamp"))
    frame.with_columns(End_Timestamp=later).write_csv(table)
    answer = metric_values(open_counters(tmp_path), by="dispatch", panels=["2"])
    assert set(answer.outliers["dispatch_id"]) == {frame["Dispatch_ID"][3]}
    assert "duration" in answer.outliers["name"].to_list()
    assert answer.outliers["distance"][0] > 5
    few = metric_values(open_counters(tmp_path), by="dispatch", choice=CounterChoice(dispatches=(0, 1, 2, 3)))
    assert few.outliers.height == 0


def test_the_reference_reads_the_times_of_its_own_table(tmp_path: Path) -> None:
    write_counters(tmp_path, CounterCapture("gfx90a", kernels=(COPY, GEMM)))
    launches = pl.read_csv(tmp_path / "pmc_perf.csv")
    spent = pl.col("End_Timestamp") - pl.col("Start_Timestamp")
    halved = launches.select(launches.columns[:13]).with_columns(End_Timestamp=pl.col("Start_Timestamp") + spent // 2)
    halved.write_csv(tmp_path / "timestamps.csv")
    counters = open_counters(tmp_path)
    ours, theirs = (
        metric_values(counters, by="dispatch", metrics=["L2 Cache BW"], panels=["2"], amd=amd).values
        for amd in (False, True)
    )
    durations = launches.select(spent).to_series().to_list()
    assert theirs["duration_ns_mean"].to_list() == durations
    assert ours["duration_ns_mean"].to_list() == [duration // 2 for duration in durations]
    assert ours[:, -1].to_list() == pytest.approx([2 * value for value in theirs[:, -1]], rel=1e-3)


def test_outliers_are_single_dispatches_where_ids_repeat() -> None:
    durations = [10.0, 11.0, 9.0, 10.0, 10.0, 11.0, 9.0, 10.0, 90.0, 10.0]
    frame = pl.DataFrame({"dispatch": range(10), "dispatch_id": [*range(5), *range(5)], "duration_ns_mean": durations})
    frame = frame.with_columns(kernel=pl.lit(0), kernel_name=pl.lit("copy"))
    assert [(row["dispatch"], row["dispatch_id"]) for row in outlier_rows(frame, [])] == [(8, 3)]
