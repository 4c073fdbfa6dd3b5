"""What databases store, under its own names: as `sqlite3` gives it but for secrets, and nothing else."""
# ruff: noqa: S608 - all statements are ours

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from synth import Workload, write_rocpd
from tests.cli.in_process import call
from tests.kit.made_rpd import write_rpd_file
from tests.kit.together import together
from wavewright.analysis.run.query import query, run_query
from wavewright.analysis.run.query.catalog import catalog
from wavewright.analysis.run.query.file_tables import OF_RPD
from wavewright.analysis.run.query.result import QueryLimits
from wavewright.errors import UsageError
from wavewright.readers.run.inputs import open_run

#: The 21 tables of ROCpd's documentation, but for rocpd_timestamp, which no recorded file has.
OF_ROCPD = [
    *("arg", "event", "info_agent", "info_code_object", "info_kernel_symbol", "info_node", "info_pmc"),
    *("info_process", "info_queue", "info_stream", "info_thread", "kernel_dispatch", "memory_allocate"),
    *("memory_copy", "metadata", "pmc_event", "region", "sample", "string", "track"),
]
VIEWS = """
CREATE VIEW top AS SELECT string AS Name, count(*) AS TotalCalls FROM rocpd_op JOIN rocpd_string
  ON rocpd_string.id = opType_id GROUP BY 1 ORDER BY 2 DESC, 1;
CREATE VIEW busy (gpu, GpuTime) AS SELECT gpuId, sum(end - start) FROM rocpd_op GROUP BY gpuId;
"""


def direct(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        return connection.execute(sql).fetchall()


def rpd_file(path: Path, more: str = VIEWS) -> Path:
    path.unlink(missing_ok=True)
    write_rpd_file(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(more)
    return path


def plain(rows: Iterable[tuple[Any, ...]]) -> list[str]:
    return [repr([float(f"{v:.12g}") if isinstance(v, float) else v for v in row]) for row in rows]


def test_every_table_and_view_of_a_real_rpd_file(shared: Path) -> None:
    path = shared / "data" / "rpd" / "matmul_result.rpd"
    run = open_run(path)
    listed = direct(path, "SELECT name, type, sql FROM sqlite_master WHERE type = 'table' OR type = 'view'")
    assert run.sql("SELECT name, type, sql FROM sqlite_master WHERE type='table' or type='view';").rows() == listed
    for name, *_ in listed:
        found = run.sql(f'SELECT * FROM "{name}"')
        assert plain(found.rows()) == plain(direct(path, f'SELECT * FROM "{name}"')), name
    assert run.sql("SELECT * from top").head(3)["Percentage"].round(2).to_list() == [85.46, 14.25, 0.18]
    joined = "FROM rocpd_{0}api JOIN rocpd_api ON rocpd_{0}api.api_ptr_id = rocpd_api.id"
    for kind, count in (("kernel", 29), ("copy", 55)):
        assert run.sql(f"SELECT COUNT(*) {joined.format(kind)}").item() == count


@pytest.mark.slow
def test_every_table_of_real_rocpd_files(shared: Path) -> None:
    paths = [next((shared / f"data/att-mi300x-bmm/{name}/raw").glob("*.db")) for name in ("c08", "c09")]
    one, both = open_run(paths[0]), open_run(*paths)
    for table in OF_ROCPD:
        found = one.sql(f"SELECT * FROM rocpd_{table}")
        expected = direct(paths[0], f"SELECT * FROM rocpd_{table}")
        hidden = [n for n, column in enumerate(found.columns) if column in ("environment", "command")]
        assert [[v for n, v in enumerate(row) if n not in hidden] for row in found.rows()] == [
            [v for n, v in enumerate(row) if n not in hidden] for row in expected
        ], table
        union = both.sql(f"SELECT * FROM rocpd_{table}")
        counts = [direct(path, f"SELECT COUNT(*) FROM rocpd_{table}")[0][0] for path in paths]
        assert union.height == sum(counts), table
        assert union.columns == [*found.columns, "file"]
        assert [union.filter(pl.col("file") == path.name).height for path in paths] == counts
    views = direct(paths[0], "SELECT name FROM sqlite_master WHERE type = 'view' AND name NOT LIKE 'rocpd%'")
    for (view,) in views:
        assert plain(one.sql(f"SELECT * FROM stored_{view}").rows()) == plain(
            direct(paths[0], f"SELECT * FROM {view}")
        ), view


def test_sql_of_the_skill_says_the_right_column(shared: Path) -> None:
    run = open_run(next((shared / "data/att-mi300x-bmm/c08/raw").glob("*.db")))
    printed = (
        "SELECT ks.KernelName, COUNT(*) calls, ROUND(AVG(kd.end-kd.start)/1000.0,1) avg_us "
        "FROM rocpd_kernel_dispatch kd JOIN rocpd_info_kernel_symbol ks ON kd.kernel_symbol_id=ks.id "
        "GROUP BY ks.KernelName ORDER BY avg_us DESC LIMIT 20;"
    )
    for wrong, right in (("ks.KernelName", "kernel_name"), ("kd.kernel_symbol_id", "kernel_id")):
        with pytest.raises(UsageError, match=f"no such column: {wrong}; did you mean {right}"):
            run.sql(printed)
        printed = printed.replace(wrong, f"{wrong[:3]}{right}")
    assert run.sql(printed)["calls"].to_list() == [2, 299] or run.sql(printed)["calls"].sum() == 301
    with pytest.raises(UsageError, match="no such table: rocpd_info_kernel; did you mean rocpd_info_kernel_symbol"):
        run.sql(
            "SELECT ki.arch_vgpr_count FROM rocpd_kernel_dispatch kd JOIN rocpd_info_kernel ki ON kd.kernel_id=ki.id"
        )


def test_names_of_rpd_are_those_of_rpd_where_all_files_are(tmp_path: Path) -> None:
    first, second = rpd_file(tmp_path / "a.rpd"), rpd_file(tmp_path / "b.rpd")
    other = tmp_path / "run.db"
    write_rocpd(other, Workload(dispatches=20))
    run = open_run(first)
    assert run.sql("SELECT * FROM top").rows() == direct(first, "SELECT * FROM top")
    assert run.sql("SELECT * FROM busy").columns == ["gpu", "GpuTime"]
    assert (
        run.sql("SELECT * FROM api").height == run.sql("SELECT * FROM stable_api").height
    )  # this file has no view api
    [note] = run_query(run, "SELECT * FROM top").notes
    assert "stable_top" in note
    assert run.sql("SELECT * FROM stable_top").columns[:2] == ["name", "total_calls"]
    union = open_run(first, second).sql("SELECT * FROM top")
    assert union.columns == ["Name", "TotalCalls", "file"]
    assert union["file"].unique().sort().to_list() == ["a.rpd", "b.rpd"]
    mixed = open_run(first, other)
    assert mixed.sql("SELECT * FROM top").columns[:2] == ["name", "total_calls"]
    assert mixed.sql("SELECT file FROM rocpd_op")["file"].unique().to_list() == ["a.rpd"]
    names = catalog(run).relations.filter(pl.col("kind") == "stored")["name"].to_list()
    assert {"rocpd_op", "top", "busy", "ext_graph"} <= set(names)
    assert {"stable_top", "api"} <= set(catalog(run).relations.filter(pl.col("kind") == "view")["name"])
    assert set(OF_RPD) <= set(catalog(None).relations["name"])


def test_our_views_beside_stored_tables(tmp_path: Path) -> None:
    run = open_run(rpd_file(tmp_path / "a.rpd"))
    sql = "SELECT COUNT(*) FROM rocpd_op o, run.dispatches d, kernels k WHERE o.id = 1"
    assert run.sql(sql).item() == run.dispatches.height**2


def secret_file(path: Path) -> Path:
    return rpd_file(
        path,
        VIEWS
        + """
        INSERT INTO rocpd_metadata VALUES (9, 'command', 'train.py --api-key hunter2');
        INSERT INTO rocpd_metadata VALUES (10, 'bytes', CAST(X'FF20746F6B656E3D68756E74657232' AS TEXT));
        CREATE TABLE process (id integer, environment text);
        INSERT INTO process VALUES (1, '{"X": "hunter2"}');
        CREATE VIEW told AS SELECT value FROM rocpd_metadata;
        CREATE VIEW main_told AS SELECT value FROM main.rocpd_metadata;
        """,
    )


@together(
    "sql",
    [
        "SELECT value AS x FROM rocpd_metadata",
        "SELECT substr(value, 20) AS x FROM rocpd_metadata",
        "SELECT hex(value) AS x FROM rocpd_metadata",
        "SELECT value AS x FROM told",
        "SELECT value AS x FROM main_told",
        "SELECT value AS x FROM main.rocpd_metadata",
        "SELECT value AS x FROM main.told",
        'SELECT value AS x FROM "columns of rocpd_metadata"',
        "SELECT environment AS x FROM process",
        "SELECT stored_rocpd_metadata.value AS x FROM stored_rocpd_metadata",
    ],
)
def test_secrets_stay_hidden(sql: str, tmp_path: Path) -> None:
    path = secret_file(tmp_path / "a.rpd")
    for run in (open_run(path), open_run(path, rpd_file(tmp_path / "b.rpd"))):
        try:
            found = "".join(map(str, query(run, sql)["x"]))
        except UsageError:
            continue
        assert "hunter" not in found
        assert b"hunter".hex().upper() not in found


def test_secrets_are_shown_to_who_asks(tmp_path: Path) -> None:
    run = open_run(secret_file(tmp_path / "a.rpd"), show_secrets=True)
    assert "hunter2" in "".join(run.sql("SELECT value FROM rocpd_metadata")["value"])


@together(
    "sql",
    [
        "ATTACH '/tmp/x.db' AS x",
        "PRAGMA writable_schema = ON",
        "DELETE FROM rocpd_op",
        "CREATE TABLE x AS SELECT * FROM rocpd_op",
        "SELECT load_extension('/tmp/x.so') FROM rocpd_op",
        "SELECT readfile('/etc/passwd') FROM rocpd_op",
        "SELECT * FROM rocpd_op, pragma_database_list",
        "SELECT 1 FROM rocpd_op; DROP TABLE rocpd_op",
        "SELECT * FROM evil_function",
        "SELECT * FROM evil_file",
    ],
)
def test_hostile_sql_and_views_are_refused(sql: str, tmp_path: Path) -> None:
    evil = (
        "CREATE VIEW evil_function AS SELECT load_extension('/tmp/x.so');"
        "CREATE VIEW evil_file AS SELECT * FROM pragma_database_list;"
    )
    path = rpd_file(tmp_path / "a.rpd", evil)
    before = path.read_bytes()
    with pytest.raises(UsageError):
        query(open_run(path), sql)
    assert path.read_bytes() == before


@together(
    "name, said",
    [
        ("endless", "longer than 0.2 seconds"),
        ("long", "too big"),
        ("wide", "more than 3 MiB"),
        ("sorted", "longer than|memory"),
    ],
)
def test_bombs_in_stored_views_are_bounded(name: str, said: str, tmp_path: Path) -> None:
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    path = rpd_file(
        tmp_path / "a.rpd",
        f"CREATE VIEW endless AS {numbers} SELECT count(*) AS c FROM n;"
        f"CREATE VIEW long AS SELECT zeroblob(2000000000) AS c;"
        f"CREATE VIEW wide AS {numbers} SELECT hex(zeroblob(50000)) AS c FROM n;"
        f"CREATE VIEW sorted AS {numbers} SELECT i FROM n ORDER BY -i;",
    )
    limits = QueryLimits(mib=3, seconds=0.2 if name in ("endless", "sorted") else 60)
    for run in (open_run(path), open_run(path, rpd_file(tmp_path / "b.rpd"))):
        if name == "wide" and len(run.origins) == 2:
            continue  # of several files a view is copied first, for as long as the engine may work
        with pytest.raises(UsageError, match=said):
            query(run, f"SELECT * FROM {name}", limits=limits)


def test_engine_and_verb(tmp_path: Path) -> None:
    path = rpd_file(tmp_path / "a.rpd")
    shown = call("query", path, "SELECT * FROM top", "--json")
    answer = json.loads(shown.stdout)
    assert answer["engine"] == "sqlite"
    assert "stable_top" in answer["notes"][0]
    assert "note: `top`" in call("query", path, "SELECT * FROM top").stderr
    cut = call("query", path, "SELECT * FROM rocpd_op", "--time", "0:1ms")
    assert cut.status == 2 and "know nothing of a part of a run" in cut.stderr
    assert call("query", path, "SELECT * FROM top", "--time", "0:1ms").status == 0  # ours
    assert "ext_graph" in call("schema", path).stdout
    pytest.importorskip("duckdb")
    refused = call("query", path, "SELECT * FROM top", "--engine", "duckdb")
    assert refused.status == 2
    assert "leave out --engine duckdb" in refused.stderr
    assert "rocpd_op" in call("query", path, "SELECT * FROM rocpd_opp").stderr
    assert call("schema", path, "--view", "busy").stdout.startswith("busy: one row is as RPD stores it")
