"""Summaries of real recordings against what the files say themselves, and against published figures."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tests.conftest import SHARED
from tests.kit.opened import open_run
from wavewright.analysis.run.contents.rocpd_summary import rocpd_summary
from wavewright.analysis.run.contents.summary import Summary, partial_summary, summary
from wavewright.analysis.run.kernels.top import top

DATABASES = sorted((SHARED / "data").glob("att-mi300x-bmm/*/**/*_results.db"))
CSV_RUNS = sorted((SHARED / "data" / "rocprofv3-mi350x-flydsl").glob("*"))

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared is not here")


def domain(answer: Summary, name: str) -> pl.DataFrame:
    return answer.things.filter(pl.col("domain") == name)


def test_top_of_matmul(shared: Path) -> None:
    answer = top(open_run(shared / "data" / "rpd" / "matmul_result.rpd"))
    first, second, third = answer.things.head(3).iter_rows(named=True)
    assert (first["name"], first["calls"], first["total_ns"] // 1000) == ("CopyHostToDevice", 2, 157178)
    assert int(first["mean_ns"] // 1000) == 78589
    assert 100 * first["share"] == pytest.approx(85.4609201610961, abs=1e-12)
    assert second["name"].startswith("Cijk_Ailk_Bljk_SB_MT128x64x16")
    assert (second["calls"], int(second["mean_ns"] // 1000)) == (1, 26211)
    assert 100 * second["share"] == pytest.approx(14.251975347107845, abs=1e-12)
    assert (third["name"], third["calls"], third["total_ns"] // 1000) == ("CopyDeviceToHost", 53, 334)


def test_top_of_mytrace(shared: Path) -> None:
    answer = top(open_run(shared / "data" / "rpd" / "mytrace.rpd.gz"))
    first = answer.things.row(0, named=True)
    assert (first["calls"], first["total_ns"] // 1000) == (64, 111476)
    assert 100 * first["share"] == pytest.approx(26.757131, abs=1e-6)
    assert answer.things.height == 36
    assert answer.total_ns == 416_625_081


@pytest.mark.some_cases(3)
@pytest.mark.parametrize("path", DATABASES, ids=lambda path: path.name)
def test_kernels_and_calls_equal_the_views_of_the_file(path: Path) -> None:
    answer = summary(open_run(path))
    with sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True) as database:
        kernels = database.execute("SELECT name, total_calls, total_duration, average, percentage FROM top_kernels")
        for name, calls, total_us, average_us, percentage in kernels.fetchall():
            row = domain(answer, "KERNEL").row(by_predicate=pl.col("name") == name, named=True)
            assert (row["calls"], row["total_ns"]) == (calls, round(total_us * 1000))
            assert row["total_ns"] // calls == round(average_us * 1000)
            assert 100 * row["share"] == pytest.approx(percentage, rel=1e-12)
        calls_of = "SELECT name, count(*), sum(duration), min(duration), max(duration) FROM regions GROUP BY name"
        expected = sorted(database.execute(calls_of).fetchall())
    found = domain(answer, "HIP").select("name", "calls", "total_ns", "min_ns", "max_ns").rows()
    assert sorted(found) == expected


@pytest.mark.parametrize("path", DATABASES[:2], ids=lambda path: path.name)
def test_tables_of_rocpd_summary(path: Path) -> None:
    """Two passes over the file's own views, as AMD's tool does it."""
    tables = rocpd_summary([partial_summary(open_run(path))])
    assert set(tables) == {"kernels_summary", "HIP_summary"}
    with sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True) as database:
        for view, table in (("kernels", "kernels_summary"), ("regions", "HIP_summary")):
            events = pl.DataFrame(
                database.execute(f"SELECT name, duration FROM {view}").fetchall(),  # noqa: S608 - two words of ours
                schema={"name": pl.String, "duration": pl.Int64},
                orient="row",
            )
            duration = pl.col("duration")
            expected = events.group_by("name").agg(
                pl.len().cast(pl.Int64).alias("Calls"),
                duration.sum().alias("DURATION (nsec)"),
                duration.mean().alias("AVERAGE (nsec)"),
                (100 * duration.sum() / events["duration"].sum()).alias("PERCENT (INC)"),
                duration.min().alias("MIN (nsec)"),
                duration.max().alias("MAX (nsec)"),
                duration.std().alias("STD_DEV"),
            )
            ordered = expected.rename({"name": "Name"}).sort(-pl.col("DURATION (nsec)"), "Name")
            assert_frame_equal(tables[table], ordered, rel_tol=1e-12)


def test_two_processes_of_one_node_add_up(shared: Path) -> None:
    base = shared / "data" / "att-mi300x-bmm"
    paths = [next((base / name).rglob("*_results.db")) for name in ("c08", "c09")]
    both = summary(open_run(*paths))
    kernels = both.domains.filter(pl.col("domain") == "KERNEL")
    assert kernels.select("calls", "total_ns").row(0) == (602, 3_797_011 + 4_122_560)
    by_process = summary(open_run(*paths), by="process").domains.filter(pl.col("domain") == "KERNEL")
    assert set(by_process["total_ns"]) == {3_797_011, 4_122_560}
    assert by_process["calls"].to_list() == [301, 301]


@pytest.mark.first_case
@pytest.mark.parametrize("path", CSV_RUNS, ids=lambda path: path.name)
def test_kernels_equal_the_statistics_of_rocprofv3(path: Path) -> None:
    (stored,) = path.glob("*_kernel_stats.csv")
    (trace,) = path.glob("*_kernel_trace.csv*")
    found = domain(summary(open_run(trace)), "KERNEL")
    expected = pl.read_csv(stored, infer_schema_length=None)
    assert set(found["name"]) == set(expected["Name"])
    both = expected.join(found, left_on="Name", right_on="name")
    assert both["Calls"].to_list() == both["calls"].to_list()
    assert both["TotalDurationNs"].to_list() == both["total_ns"].to_list()
    assert both["MinNs"].to_list() == both["min_ns"].to_list()
    assert both["MaxNs"].to_list() == both["max_ns"].to_list()
    for theirs, ours in (("AverageNs", "mean_ns"), ("StdDev", "stddev_ns")):
        values = both[ours].fill_null(0.0).to_list()  # one call has no deviation; rocprofv3 writes 0
        assert values == pytest.approx(both[theirs].cast(pl.Float64).to_list(), abs=1e-5)
    assert [100 * share for share in both["share"]] == pytest.approx(both["Percentage"].to_list(), abs=0.0051)
