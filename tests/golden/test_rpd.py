"""Real RPD files: every number that RPD's own views and tools give."""

from __future__ import annotations

import gzip
import sqlite3
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.kit.opened import open_run
from wavewright.analysis.run.contents.summary import summary

if TYPE_CHECKING:
    from pathlib import Path

    from wavewright.model.run import Run


@pytest.fixture(scope="module")
def matmul(shared: Path) -> Run:
    return open_run(shared / "data/rpd/matmul_result.rpd")


@pytest.fixture(scope="module")
def mytrace(shared: Path) -> Run:
    return open_run(shared / "data/rpd/mytrace.rpd.gz")


def _work(run: Run) -> pl.DataFrame:
    """All GPU work: what RPD calls ops."""
    agent = {"dispatches": "agent", "copies": "gpu"}
    parts = [
        run.table(table)
        .with_columns(gpu=pl.coalesce("dst_agent", "src_agent") if table == "copies" else pl.lit(None, pl.UInt32))
        .select(pl.col("name").cast(pl.String), pl.col(agent[table]).alias("agent"), "start_ns", "end_ns")
        for table in ("dispatches", "copies")
    ]
    return pl.concat(parts).with_columns(duration=pl.col("end_ns") - pl.col("start_ns"))


def _top(run: Run) -> list[tuple[str, int, int, int, float]]:
    work = _work(run)
    total = work["duration"].sum()
    named = (
        work.group_by("name").agg(pl.len().alias("calls"), pl.col("duration").sum()).sort("duration", descending=True)
    )
    return [
        (
            row["name"],
            row["calls"],
            row["duration"] // 1000,
            row["duration"] // row["calls"] // 1000,
            row["duration"] * 100 / total,
        )
        for row in named.to_dicts()
    ]


def test_top_of_matmul(matmul: Run) -> None:
    first, second = _top(matmul)[:2]
    assert first[:4] == ("CopyHostToDevice", 2, 157178, 78589)
    assert first[4] == pytest.approx(85.4609201610961, abs=1e-9)
    assert second[0].startswith("Cijk_")
    assert second[1:4] == (1, 26211, 26211)
    assert second[4] == pytest.approx(14.251975347107845, abs=1e-9)


def test_busy_of_matmul(matmul: Run) -> None:
    work = _work(matmul)
    gpu = matmul.agents.filter(pl.col("agent").is_in(work["agent"].unique().implode()))["agent_id"].to_list()
    wall = work["end_ns"].max() - work["start_ns"].min()
    assert gpu == [2]
    assert (work["duration"].sum(), wall) == (183918056, 2964070817)
    assert round(work["duration"].sum() / wall, 6) == 0.062049


def test_rows_of_matmul(matmul: Run) -> None:
    counts = {name: matmul.table(name).height for name in ("regions", "samples", "dispatches", "copies", "monitors")}
    assert counts == {"regions": 125, "samples": 0, "dispatches": 30, "copies": 55, "monitors": 15}
    assert matmul.losses.is_empty()
    kernel = matmul.dispatches.filter(pl.col("name").cast(pl.String).str.starts_with("Cijk_")).to_dicts()[0]
    assert (kernel["grid_x"], kernel["grid_y"], kernel["workgroup_x"]) == (1792, 782, 256), "this call counts lanes"
    concatenation = matmul.dispatches.filter(pl.col("dispatch_id") == 4).to_dicts()[0]
    assert (concatenation["grid_x"], concatenation["grid_y"]) == (128, 2), "this call counts workgroups"
    assert matmul.copies["size_bytes"].head(3).to_list() == [2_000_000_000, 32_000_000, 4]
    assert set(matmul.monitors["name"].cast(pl.String)) == {"sclk"}


def test_top_and_busy_of_mytrace(mytrace: Run) -> None:
    top, work = _top(mytrace), _work(mytrace)
    assert work.height == 10_124
    assert len(top) == 36
    assert top[0][1:4] == (64, 111_476, 1741)
    assert top[0][4] == pytest.approx(26.757130831496916, abs=1e-9)
    assert work["duration"].sum() == 416_625_081
    assert work["end_ns"].max() - work["start_ns"].min() == 452_967_953


def test_rows_of_mytrace(mytrace: Run) -> None:
    assert mytrace.regions.height + mytrace.samples.height == 14_736
    domains = dict(mytrace.regions.group_by(pl.col("domain").cast(pl.String)).len().iter_rows())
    assert domains["MARKER"] == 11_884
    assert mytrace.dispatches["workgroup_x"].is_not_null().sum() == 1228
    assert mytrace.copies["size_bytes"].is_not_null().sum() == 536
    assert mytrace.monitors.height == 81
    assert mytrace.table("ext_autogradapi").height == 11_816
    assert mytrace.table("ext_callstack").height == 86_387
    assert mytrace.losses.is_empty()


def test_every_op_knows_its_launch(mytrace: Run) -> None:
    launches = mytrace.regions.select("correlation", pl.col("name").cast(pl.String).alias("launch"))
    for table, expected in {
        "dispatches": {"hipExtModuleLaunchKernel": 256, "hipLaunchKernel": 972, "hipGraphLaunch": 7720},
        "copies": {"hipGraphLaunch": 640, "hipMemcpyAsync": 514, "hipMemcpyWithStream": 22},
    }.items():
        joined = mytrace.table(table).join(launches, on="correlation")
        assert dict(joined.group_by("launch").len().iter_rows()) == expected
    graphs = mytrace.dispatches.filter(pl.col("graph_exec").is_not_null())
    assert (graphs.height, graphs["graph_exec"].n_unique()) == (7720, 1)
    assert mytrace.dispatches["stream"].null_count() == 0


def test_stretches_that_raptor_finds(mytrace: Run) -> None:
    """Times of the whole trace, from which raptor's windows follow."""
    begin = min(
        mytrace.regions["start_ns"].min(), mytrace.dispatches["start_ns"].min(), mytrace.copies["start_ns"].min()
    )
    end = max(mytrace.regions["end_ns"].max(), mytrace.dispatches["end_ns"].max(), mytrace.copies["end_ns"].max())
    span = end - begin
    assert (span - 8_000_000, span - 5_000_000) == (490_594_451, 493_594_451)
    assert (int(span * 0.5), int(span * 0.7)) == (249_297_225, 349_016_115)
    costliest = mytrace.dispatches.filter(pl.col("name").cast(pl.String) == _top(mytrace)[0][0])
    assert costliest["start_ns"].min() - begin == 10_496_683, "raptor takes the costliest kernel that matches Cijk_"


def test_rates_of_copies_are_over_those_with_a_size(mytrace: Run, shared: Path, tmp_path: Path) -> None:
    database = tmp_path / "mytrace.rpd"
    database.write_bytes(gzip.decompress((shared / "data" / "rpd" / "mytrace.rpd.gz").read_bytes()))
    asked = """
        select o.opType, count(*), count(c.size), sum(c.size),
               sum(c.size) * 1e9 / sum(case when c.size is not null then o.end - o.start end)
        from op o left join rocpd_api_ops a on a.op_id = o.id left join rocpd_copyapi c on c.api_ptr_id = a.api_id
        where o.opType like 'Copy%' group by 1
    """
    with sqlite3.connect(database) as connection:
        expected = {name: row for name, *row in connection.execute(asked)}
    assert expected["CopyDeviceToDevice"][:2] == [804, 164]  # bytes over the time of all 804 would be half the rate
    copies = summary(mytrace).things.filter(pl.col("domain") == "COPY")
    for name, *found, rate in copies.select(
        "name", "calls", "sized_calls", "bytes_total", "bytes_per_second"
    ).iter_rows():
        assert found == expected[name][:3]
        assert rate == pytest.approx(expected[name][3])
