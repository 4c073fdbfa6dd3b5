"""RPD files that are written: calls, GPU work and links, read back by our reader, and views that add up."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import polars as pl
import pytest

from tests.kit.run_equality import differences
from tests.kit.small_runs import CLOCKS, small_run, small_source
from wavewright.errors import WavewrightError
from wavewright.export.run.rpd import write_rpd
from wavewright.export.run.rpd.sql_schema import VIEWS
from wavewright.model.run import MemorySource, Run
from wavewright.readers.run.inputs import open_run


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return write_rpd(small_run(), tmp_path / "trace.rpd").path


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as connection:
        return connection.execute(sql).fetchall()


def test_events_come_back(written: Path) -> None:
    whole, back = small_run(), open_run(written)
    for table, columns in {
        "dispatches": ["process", "name", "start_ns", "end_ns", "grid_x", "workgroup_x", "lds_bytes"],
        "copies": ["process", "name", "start_ns", "end_ns", "size_bytes"],
        "samples": ["process", "name", "domain", "time_ns"],
        "counters": ["process", "value"],
        "frames": ["process", "depth", "name"],
        "monitors": ["name", "start_ns", "end_ns", "value"],
    }.items():
        first, second = whole.read(table, columns), back.read(table, columns)
        assert first.sort(columns).equals(second.sort(columns)), table
    assert back.processes["pid"].to_list() == [40, 41]
    assert back.nodes.height == 2


def test_work_is_linked_to_the_call_that_launched_it(written: Path) -> None:
    launches = rows(
        written,
        """SELECT a.start, o.start, a.apiName FROM rocpd_api_ops l JOIN api a ON a.id = l.api_id
        JOIN op o ON o.id = l.op_id WHERE o.opType = 'KernelExecution' ORDER BY o.start""",
    )
    expected = [(zero + 100 * n + 10, zero + 100 * n + 30, "hipLaunchKernel") for zero in CLOCKS for n in range(10)]
    assert launches == expected


def test_views_add_up(written: Path) -> None:
    for name in VIEWS:
        rows(written, f"SELECT * FROM {name}")  # noqa: S608 - our own names
    assert rows(written, "SELECT Name, TotalCalls FROM top ORDER BY Name")[0] == ("MEMORY_COPY_HOST_TO_DEVICE", 20)
    assert rows(written, "SELECT gpuId, GpuTime FROM busy") == [(0, 350), (1, 350), (1000, 350), (1001, 350)]
    assert rows(written, "SELECT DISTINCT node, gpuId FROM nop ORDER BY 1, 2") == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert rows(written, "SELECT COUNT(*) FROM kernel") == [(20,)]
    launches = rows(written, "SELECT Name, TotalCalls, Percentage FROM ktop")
    assert sum(count for _, count, _ in launches) == 20  # type: ignore[misc]
    assert sum(share for *_, share in launches) == pytest.approx(100)  # type: ignore[misc]
    assert rows(written, "PRAGMA foreign_key_check") == []


def test_markers_and_arguments(written: Path) -> None:
    markers = rows(written, "SELECT args FROM api WHERE apiName = 'UserMarker' AND start < 2000 ORDER BY start, id")
    assert [text for (text,) in markers if str(text).startswith("step 2")] == ["step 2"]
    calls = rows(written, "SELECT DISTINCT args FROM api WHERE apiName = 'hipLaunchKernel'")
    assert calls == [("stream=a;b\n",)]


def test_what_has_no_place_is_said(tmp_path: Path) -> None:
    lost = write_rpd(small_run(), tmp_path / "trace.rpd").losses
    assert [(loss.kind, loss.count, loss.detail) for loss in lost] == [("not_in_format", 4, "allocations")]


@pytest.mark.slow
def test_rpd_keeps_everything_of_rpd(tmp_path: Path) -> None:
    first = write_rpd(small_run(), tmp_path / "first.rpd").path
    with sqlite3.connect(first) as connection:
        connection.execute('CREATE TABLE "ext_it\'s" (parent_id, "a b")')
        connection.execute("INSERT INTO \"ext_it's\" VALUES (7, 'x')")
        connection.execute("INSERT INTO rocpd_metadata (tag, value) VALUES ('Autograd::Table', 'ext')")
    second = write_rpd(open_run(first), tmp_path / "second.rpd").path
    assert differences(open_run(first), open_run(second)) == []
    for table in ("rocpd_api", "rocpd_op", "rocpd_api_ops", "rocpd_kernelapi", "rocpd_copyapi", '"ext_it\'s"'):
        assert rows(first, f"SELECT COUNT(*) FROM {table}") == rows(second, f"SELECT COUNT(*) FROM {table}")  # noqa: S608
    for view in ("op", "api", "kernel", "copyop"):
        ids = f"SELECT * FROM {view} ORDER BY id"  # noqa: S608
        assert rows(first, ids) == rows(second, ids)
    assert rows(second, "SELECT value FROM rocpd_metadata WHERE tag = 'Autograd::Table'") == [("ext",)]


@pytest.mark.first_case
@pytest.mark.parametrize("name", ["x'); DROP TABLE rocpd_op;--", "nul\0inside", "line\nbreak", "=1+1", "🦊"])
def test_hostile_names_survive(tmp_path: Path, name: str) -> None:
    source = small_source()
    source.tables["dispatches"] = source.tables["dispatches"].with_columns(
        pl.lit(name).cast(pl.Categorical).alias("name")
    )
    back = open_run(write_rpd(Run([source]), tmp_path / "trace.rpd").path)
    assert back.dispatches["name"].unique().to_list() == [name]


def test_what_stops_the_reading_leaves_nothing(tmp_path: Path) -> None:
    class Broken(MemorySource):
        def chunks(self, table, columns):  # type: ignore[no-untyped-def]
            if table == "dispatches":
                what = "the disk is gone"
                raise WavewrightError(what)
            return super().chunks(table, columns)

    with pytest.raises(WavewrightError, match="the disk is gone"):
        write_rpd(Run([Broken("x", "y", tables=small_source().tables)]), tmp_path / "trace.rpd")
    assert list(tmp_path.iterdir()) == []
